public import MediaTypes

/// What the link, recordings and files must know of Opus. A frame is one packet, which is also its only unit, and
/// decoding can begin with each.
public struct OpusCoding: FrameCoding {
    public init() {}

    public func makeBuilder() -> any FrameBuilder { OpusBuilder() }
    public func makeReader() -> any FrameReader { OpusReader() }

    public func facts(of unit: ArraySlice<UInt8>) -> UnitFacts? {
        OpusPacket(unit) == nil ? nil : [.content, .randomAccess, .mayBeginFrame]
    }
}

/// Makes each packet a frame of its own.
struct OpusBuilder: FrameBuilder {
    var counters = FrameCounters()
    private var ready: [CodedFrame] = []

    var isEmpty: Bool { true }
    var hasContent: Bool { false }
    var captureTime: MonotonicTime? { nil }
    var headers: [[UInt8]] { [] }

    mutating func add(_ bytes: [UInt8], captureTime: MonotonicTime?) {
        counters.units &+= 1
        guard bytes.count > 4, let packet = OpusPacket(bytes[4...]) else {
            counters.invalidUnits &+= 1
            return
        }
        counters.frames &+= 1
        counters.randomAccessFrames &+= 1
        ready.append(
            CodedFrame(
                bytes: bytes, units: [4..<bytes.count], isRandomAccess: true, captureTime: captureTime,
                format: TrackFormat(codec: .opus), attachment: .lasts(packet.duration)))
    }

    mutating func addUnmarked(_ bytes: [UInt8]) -> Bool {
        add(bytes, captureTime: nil)
        return true
    }

    mutating func endFrame() {
        // A packet ends with its only unit.
    }

    mutating func endWithoutMark() {
        // Nothing is ever pending.
    }

    mutating func discardPending() {
        // Nothing is ever pending.
    }

    mutating func reset() {
        // Nothing is kept of a stream.
    }

    mutating func next() -> CodedFrame? {
        ready.isEmpty ? nil : ready.removeFirst()
    }
}

/// Reads what a file needs of packets.
struct OpusReader: FrameReader {
    private var count: Int64 = 0

    mutating func read(_ frame: CodedFrame) -> FrameFacts? {
        guard let unit = frame.units.first, OpusPacket(frame.bytes[unit]) != nil else { return nil }
        count += 1
        return FrameFacts(
            format: FrameFacts.FileFormat(codec: .opus, size: PictureSize(width: 0, height: 0), samples: []),
            headers: [], changesHeaders: false, place: FrameFacts.Place(run: 0, count: count))
    }
}
