public import H264
public import MediaTypes

/// Assembles access units from the messages of one stream of a connection.
///
/// Our own sender marks the last NAL unit of each access unit. A legacy sender doesn't, so its access unit ends before
/// the first NAL unit of the next one, or after 40 ms without a byte. NAL units that can't be used are dropped and
/// counted; nothing that a peer sends stops the assembler.
///
/// It has no thread and no clock: its owner serialises the calls and passes the time.
public struct FrameAssembler: Sendable {
    /// How long a legacy access unit waits for its next byte.
    public static let legacyPatience = Interval.milliseconds(40)

    /// The epoch of the messages that are being received; 0 for a legacy sender and before the first picture.
    public private(set) var epoch: UInt64 = 0
    /// How many messages belonged to another stream.
    public private(set) var otherStreamMessages: UInt64 = 0
    /// How many access units were ended by 40 ms without a byte (legacy forms).
    public private(set) var timeouts: UInt64 = 0

    private let stream: UInt8
    private var builder = AccessUnitBuilder()
    /// The notice of the pending access unit.
    private var notice: PictureNotice?
    /// A notice that came before the first NAL unit of its access unit.
    private var nextNotice: PictureNotice?
    private var isLegacy = false
    private var lastByteTime: MonotonicTime?
    private var ready: [AssembledFrame] = []

    /// An assembler for `stream`.
    public init(stream: UInt8 = 0) {
        self.stream = stream
    }

    /// What was assembled and dropped so far.
    public var counters: AccessUnitCounters { builder.counters }
    /// How many NAL units and access units could not be used.
    public var faults: UInt64 { builder.counters.faults }

    /// Takes a message that arrived at `now`; messages without a part of a picture are ignored.
    public mutating func add(_ message: ReceivedMessage, at now: MonotonicTime) {
        switch message.body {
        case .picture(let notice):
            guard isOurs(message.header) else { return }
            endWithoutMark()
            nextNotice = notice
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

    /// Notes that bytes have arrived that are not a whole message yet: a legacy access unit waits for the rest of it.
    public mutating func bytesArrived(at now: MonotonicTime) { lastByteTime = now }

    /// Returns the next complete access unit, or nil if there is none.
    public mutating func next() -> AssembledFrame? {
        ready.isEmpty ? nil : ready.removeFirst()
    }

    /// When `timeout(_:)` is due if nothing arrives before; nil if nothing waits.
    public var nextDeadline: MonotonicTime? {
        guard isLegacy, builder.hasSlice, let lastByteTime else { return nil }
        return lastByteTime + Self.legacyPatience
    }

    /// Ends a legacy access unit that has waited long enough. Does nothing before its deadline.
    public mutating func timeout(_ now: MonotonicTime) {
        guard let deadline = nextDeadline, now >= deadline else { return }
        timeouts &+= 1
        builder.endAccessUnit()
        collect()
    }

    /// Ends the stream: a pending access unit of a legacy sender is complete, one of our own sender is not, and is dropped.
    public mutating func finish() {
        if isLegacy, builder.hasSlice {
            builder.endAccessUnit()
            collect()
        } else {
            builder.discardPending()
        }
    }

    /// Whether the message belongs to our stream. A message of a new epoch begins the stream anew.
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
        // A different time means a different picture: the end of the pending access unit has been lost.
        if let time = header.captureTime, let pending = builder.captureTime, time != pending { endWithoutMark() }
        let wasEmpty = builder.isEmpty
        builder.add(payload, captureTime: header.captureTime)
        if wasEmpty, !builder.isEmpty {
            notice = nextNotice
            nextNotice = nil
        }
        guard header.flags.contains(.endOfFrame) else { return }
        builder.endAccessUnit()
        collect()
    }

    private mutating func endWithoutMark() {
        guard builder.hasSlice else { return }
        builder.endWithoutMark()
        collect()
    }

    /// Collects the access units that are complete.
    private mutating func collect() {
        while var unit = builder.next() {
            unit.attachment = notice?.isPointerDrawn == false ? .pointerLeftOut : nil
            ready.append(AssembledFrame(frame: unit, epoch: epoch, notice: notice))
        }
        // A notice describes one access unit, even if all NAL units of that were dropped.
        (notice, nextNotice) = (nil, nil)
    }
}
