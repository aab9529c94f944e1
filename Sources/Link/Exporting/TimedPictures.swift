import CaptureLink
import H264
public import MediaTypes
public import Recording

/// Access units with their times, put together from what a recording holds.
///
/// A picture has the time when it was taken, where its messages tell, else when it arrived; files without times are
/// paced evenly. Times count from the recording's beginning and always grow. No thread, no clock, no I/O.
public struct TimedPictures: Sendable {
    /// An access unit and when.
    public struct Picture: Sendable {
        public let accessUnit: AccessUnit
        /// When, since the recording began.
        public let time: Interval
        /// Where its first message begins in the file.
        public let offset: UInt64

        /// An access unit that was put together elsewhere.
        public init(accessUnit: AccessUnit, time: Interval, offset: UInt64) {
            self.accessUnit = accessUnit
            self.time = time
            self.offset = offset
        }
    }

    /// Times in a file differ by at least one tick of 90 kHz.
    static let leastStep = Interval(nanoseconds: 11_112)
    /// Further from when it arrived a capture time can't be: then it is of another clock.
    private static let longestDelay = Interval.seconds(10)

    /// Access units left out behind damage, up to the next IDR picture.
    public private(set) var skipped: UInt64 = 0

    private let framesPerSecond: Int
    private var assembler = AccessUnitAssembler()
    private var ready: [Picture] = []
    private var count: Int64 = 0
    private var lastTime: Interval?
    private var awaitsIDR = false
    /// Whether any has come.
    private var hasNALUnit = false
    private var lastSliceCount = 0
    private var start: Start?
    /// What is added to capture times, which are of a clock of their own for each start of capture.
    private var clock: (epoch: UInt64, shift: Interval)?

    /// Where and when the access unit that is being put together began.
    private struct Start: Sendable {
        var offset: UInt64
        var arrival: Interval?
    }

    /// Before the first item; files without times have so many pictures a second.
    public init(framesPerSecond: Int) {
        self.framesPerSecond = max(1, framesPerSecond)
    }

    /// Takes the next item of the file, which is best consumed: its bytes are copied where they are a message's.
    public mutating func add(_ item: consuming RecordedItem) {
        let own = Start(offset: item.offset, arrival: item.arrival)
        switch item.content {
        case .connection:
            // In front of the first NAL unit nothing was lost: what begins without an IDR picture is as good as in a stream alone.
            if hasNALUnit { damaged() }
            assembler = AccessUnitAssembler()
            clock = nil
        case .gap: damaged()
        case .message, .nalUnit, .otherBytes, .end: break
        }
        if let received = Self.received(consume item) { add(received, own) }
    }

    /// What an item is to a host; nil where nothing. Of a large message not two copies are left behind.
    private static func received(_ item: consuming RecordedItem) -> ReceivedMessage? {
        switch item.content {
        case .message(let message, .toHost): return try? message.received()
        case .nalUnit(let unit):
            let header = MessageHeader(kindCode: MessageKind.nalUnit.rawValue, length: UInt64(unit.payload.count))
            return ReceivedMessage(header: header, form: .legacy40, body: .nalUnit(unit.payload))
        case .message, .otherBytes, .connection, .gap, .end: return nil
        }
    }

    /// Here something is missing: the picture that it was in goes, and so does all that refers to it.
    public mutating func damaged() {
        assembler.finish()
        while let unit = assembler.next() {
            // Only legacy forms and Annex B give one here, since they don't say where it ends: with as many slices as
            // the last one had it is taken for whole.
            if !awaitsIDR || unit.accessUnit.isIDR, unit.accessUnit.sliceCount >= lastSliceCount {
                give(unit)
            } else {
                skipped &+= 1
            }
        }
        start = nil
        awaitsIDR = true
    }

    /// The file ends, whole.
    public mutating func finish() {
        assembler.finish()
        drain()
    }

    /// The next picture.
    public mutating func next() -> Picture? { ready.isEmpty ? nil : ready.removeFirst() }

    private mutating func add(_ received: ReceivedMessage, _ own: Start) {
        guard case .nalUnit = received.body else { return assembler.add(received, at: .zero) }
        hasNALUnit = true
        assembler.add(received, at: .zero)
        let isEnd = received.form == .extended && received.header.flags.contains(.endOfAccessUnit)
        if start == nil { start = own }
        if drain() { start = isEnd ? nil : own }
    }

    /// Whether an access unit was complete.
    @discardableResult
    private mutating func drain() -> Bool {
        var isComplete = false
        while let unit = assembler.next() {
            isComplete = true
            if awaitsIDR, !unit.accessUnit.isIDR {
                skipped &+= 1
                continue
            }
            give(unit)
        }
        return isComplete
    }

    private mutating func give(_ unit: AssembledAccessUnit) {
        awaitsIDR = false
        lastSliceCount = unit.accessUnit.sliceCount
        let start = start ?? Start(offset: 0)
        let time = time(of: unit, arrival: start.arrival)
        ready.append(Picture(accessUnit: unit.accessUnit, time: time, offset: start.offset))
        count += 1
    }

    private mutating func time(of unit: AssembledAccessUnit, arrival: Interval?) -> Interval {
        var time = arrival ?? Interval(nanoseconds: count * 1_000_000_000 / Int64(framesPerSecond))
        if let capture = unit.accessUnit.captureTime {
            let taken = capture - MonotonicTime.zero
            if clock?.epoch != unit.epoch {
                // A dump has no times of arrival: a new clock goes on where the last one stopped.
                clock = (unit.epoch, (arrival ?? lastTime ?? .zero) - taken)
            }
            let shifted = taken + (clock?.shift ?? .zero)
            if let arrival {
                let delay = arrival - shifted
                if delay.nanoseconds.magnitude < Self.longestDelay.nanoseconds.magnitude { time = shifted }
            } else {
                time = shifted
            }
        }
        if let lastTime { time = max(time, lastTime + Self.leastStep) }
        lastTime = time
        return time
    }
}

extension AccessUnit {
    fileprivate var sliceCount: Int {
        nalUnits.count { range in bytes[range].first.flatMap { NALUnitHeader($0)?.type.isSlice } ?? false }
    }
}
