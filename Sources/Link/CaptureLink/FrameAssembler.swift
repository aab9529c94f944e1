import CodecTable
public import MediaTypes

/// Assembles frames from the messages of one stream of a connection. Stream 0 carries pictures, in H.264 until a
/// message says otherwise; the others carry sound, in Opus.
///
/// Our own sender marks the last unit of each frame. A legacy sender doesn't, so its frame ends before the first unit
/// of the next one, or after 40 ms without a byte. Units that can't be used are dropped and counted; nothing that a
/// peer sends stops the assembler.
///
/// It has no thread and no clock: its owner serialises the calls and passes the time.
public struct FrameAssembler: Sendable {
    /// How long a legacy frame waits for its next byte.
    public static let legacyTimeout = Interval.milliseconds(40)

    /// The epoch of the messages that are being received; 0 for a legacy sender and before the first picture.
    public private(set) var epoch: UInt64 = 0
    /// How many messages belonged to another stream.
    public private(set) var otherStreamMessages: UInt64 = 0
    /// How many frames were ended by 40 ms without a byte (legacy forms).
    public private(set) var timeouts: UInt64 = 0

    private let stream: UInt8
    private var codec: TrackFormat.Codec
    private var builder: any FrameBuilder
    /// The notice of the pending frame.
    private var notice: PictureNotice?
    /// The size of what the sender shows, as it says. A host may learn it only after the first picture.
    private var contentSize: PictureSize?
    /// The size of the pictures since the last random access frame.
    private var pictureSize: PictureSize?
    /// A notice that came before the first unit of its frame.
    private var nextNotice: PictureNotice?
    private var isLegacy = false
    private var lastByteTime: MonotonicTime?
    private var ready: [AssembledFrame] = []

    /// An assembler for `stream`.
    public init(stream: UInt8 = 0) {
        self.stream = stream
        codec = stream == 0 ? .h264 : .opus
        builder = codec.coding.makeBuilder()
    }

    /// What was assembled and dropped so far.
    public var counters: FrameCounters { builder.counters }
    /// How many units and frames could not be used.
    public var faults: UInt64 { builder.counters.faults }

    /// Takes a message that arrived at `now`; messages other than units, formats, sizes and picture notices are
    /// ignored.
    public mutating func add(_ message: ReceivedMessage, at now: MonotonicTime) {
        switch message.body {
        case .picture(let notice):
            guard isOurs(message.header) else { return }
            endWithoutMark()
            nextNotice = notice
        case .size(let size):
            if message.header.stream == stream { contentSize = size }
        case .format(let newCodec):
            guard isOurs(message.header), newCodec != codec, newCodec.kind == codec.kind else { return }
            endWithoutMark()
            builder.discardPending()
            let counters = builder.counters
            builder = newCodec.coding.makeBuilder()
            builder.counters = counters
            codec = newCodec
        case .unit(let payload):
            guard isOurs(message.header) else { return }
            isLegacy = message.form != .extended
            lastByteTime = now
            if isLegacy {
                builder.addUnmarked(payload)
                collect()
            } else {
                addMarked(payload, message.header)
            }
        default:
            break
        }
    }

    /// Notes that bytes have arrived that are not a whole message yet: a legacy frame waits for the rest of it.
    public mutating func bytesArrived(at now: MonotonicTime) { lastByteTime = now }

    /// Returns the next complete frame, or nil if there is none.
    public mutating func next() -> AssembledFrame? {
        ready.isEmpty ? nil : ready.removeFirst()
    }

    /// When `timeout(_:)` is due if nothing arrives before; nil if nothing waits.
    public var nextDeadline: MonotonicTime? {
        guard isLegacy, builder.hasContent, let lastByteTime else { return nil }
        return lastByteTime + Self.legacyTimeout
    }

    /// Ends a legacy frame that has waited long enough. Does nothing before its deadline.
    public mutating func timeout(_ now: MonotonicTime) {
        guard let deadline = nextDeadline, now >= deadline else { return }
        timeouts &+= 1
        builder.endFrame()
        collect()
    }

    /// Ends the stream: a pending frame of a legacy sender is complete, one of our own sender is not, and is dropped.
    public mutating func finish() {
        if isLegacy, builder.hasContent {
            builder.endFrame()
            collect()
        } else {
            builder.discardPending()
        }
    }

    /// Whether the message belongs to our stream. A message of a new epoch restarts the stream.
    private mutating func isOurs(_ header: MessageHeader) -> Bool {
        guard header.stream == stream else {
            otherStreamMessages &+= 1
            return false
        }
        if header.epoch != epoch {
            builder.reset()
            (notice, nextNotice) = (nil, nil)
            epoch = header.epoch
        }
        return true
    }

    private mutating func addMarked(_ payload: [UInt8], _ header: MessageHeader) {
        // A different time means a different picture: the end of the pending frame has been lost.
        if let time = header.captureTime, let pending = builder.captureTime, time != pending { endWithoutMark() }
        let wasEmpty = builder.isEmpty
        builder.add(payload, captureTime: header.captureTime)
        if wasEmpty, !builder.isEmpty {
            notice = nextNotice
            nextNotice = nil
        }
        guard header.flags.contains(.endOfFrame) else { return }
        builder.endFrame()
        collect()
    }

    private mutating func endWithoutMark() {
        guard builder.hasContent else { return }
        builder.endWithoutMark()
        collect()
    }

    /// Collects the frames that are complete.
    private mutating func collect() {
        while var frame = builder.next() {
            if notice?.isPointerDrawn == false { frame.attachment = .pointerLeftOut }
            frame.isToBeRefined = notice?.isToBeRefined ?? false
            frame.isStale = notice?.isStale ?? false
            frame.isUnchanged = notice?.saysUnchanged ?? false
            if let format = frame.format { pictureSize = format.size }
            if let contentSize, pictureSize?.isEvenFrom(contentSize) == true { frame.contentSize = contentSize }
            ready.append(AssembledFrame(frame: frame, codec: codec, epoch: epoch, notice: notice))
        }
        // A notice describes one frame only, even if all units of that frame were dropped.
        (notice, nextNotice) = (nil, nil)
    }
}

extension PictureSize {
    /// Whether this is `other` with odd dimensions rounded up, and not `other` itself.
    fileprivate func isEvenFrom(_ other: PictureSize) -> Bool {
        self != other && (other.width...other.width &+ other.width & 1).contains(width)
            && (other.height...other.height &+ other.height & 1).contains(height)
    }
}
