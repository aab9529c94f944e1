public import MediaTypes

/// Puts the packets of a stream in order, waits a little for those that are missing, and says which to ask for again
/// (RFC 4585 section 6.2.1).
///
/// What a peer sends never takes more than the limits: past them, or past ``patience``, a gap is given up and what is behind it
/// is handed out. A packet comes out at most once and never after a later one.
public struct ReceptionBuffer: Sendable {
    /// The most packets that wait behind a gap.
    public static let maximumPacketCount = 1024
    /// The most bytes of payload that wait behind a gap.
    public static let maximumByteCount = 2 << 20
    /// How far a number may be ahead of the next one to hand out; what is further begins the stream anew.
    public static let maximumSpan: Int64 = 2048
    /// How long a missing packet is waited for.
    public static let patience = Interval.milliseconds(300)
    /// The most packets that are asked for at once.
    public static let maximumRequestCount = 128

    /// Packets may overtake each other on their way by that much without being asked for.
    private static let reordering = Interval.milliseconds(5)
    /// The time between two requests for the same packet.
    private static let spacing = Interval.milliseconds(60)
    /// How often one packet is asked for.
    private static let requestLimit = 4

    /// Packets that came twice, or too late to be handed out in their place.
    public private(set) var surplusPackets = 0
    /// Packets that were given up.
    public private(set) var lostPackets = 0
    /// When ``requests(now:)`` or ``take(now:)`` may have something though no packet came.
    public private(set) var deadline = MonotonicTime.distantFuture

    private struct Gap {
        let since: MonotonicTime
        var askedAt: MonotonicTime?
        var requests = 0

        /// When to ask again, or to give it up.
        var due: MonotonicTime {
            let end = since + ReceptionBuffer.patience
            guard requests < ReceptionBuffer.requestLimit else { return end }
            return min(end, askedAt.map { $0 + ReceptionBuffer.spacing } ?? since + ReceptionBuffer.reordering)
        }
    }

    private var unwrapper = SequenceUnwrapper()
    /// The number to hand out next; nil before the first packet.
    private var next: Int64?
    /// The highest number so far.
    private var highest: Int64 = 0
    private var waiting: [Int64: RTPPacket] = [:]
    private var waitingBytes = 0
    private var gaps: [Int64: Gap] = [:]
    private var ready: [RTPPacket] = []

    /// A buffer that has seen nothing.
    public init() {}

    /// Takes the next packet of the stream as it came.
    public mutating func insert(_ packet: RTPPacket, now: MonotonicTime) {
        let number = unwrapper.unwrap(packet.header.sequenceNumber).rawValue
        guard let next else {
            self.next = number + 1
            highest = number
            ready.append(packet)
            return
        }
        guard number >= next, waiting[number] == nil else {
            surplusPackets += 1
            return
        }
        if number == next, waiting.isEmpty, gaps.isEmpty {
            // As nearly all are: in order, with nothing missing.
            self.next = number + 1
            highest = max(highest, number)
            ready.append(packet)
            return
        }
        if number - next >= Self.maximumSpan {
            giveUp(before: number)
        } else {
            gaps[number] = nil
            var missing = highest + 1
            while missing < number {
                gaps[missing] = Gap(since: now)
                deadline = min(deadline, now + Self.reordering)
                missing += 1
            }
        }
        highest = max(highest, number)
        waiting[number] = packet
        waitingBytes += packet.payload.count
        handOut()
        // Half of it at once, or each packet of a hostile stream would cost a look at all.
        if waiting.count > Self.maximumPacketCount || gaps.count > Self.maximumPacketCount {
            giveUp(before: highest - Int64(Self.maximumPacketCount / 2))
        }
        while waiting.count > Self.maximumPacketCount || waitingBytes > Self.maximumByteCount,
            let first = waiting.keys.min()
        {
            giveUp(before: first)
        }
    }

    /// The packets whose turn it is, in their order.
    public mutating func take(now: MonotonicTime) -> [RTPPacket] {
        if now >= deadline {
            let expired = gaps.filter { now >= $0.value.since + Self.patience }.keys.max()
            if let expired { giveUp(before: expired + 1) }
            schedule()
        }
        defer { ready = [] }
        return ready
    }

    /// The packets to ask for now, in their order; they count as asked for.
    public mutating func requests(now: MonotonicTime) -> [SequenceNumber] {
        guard now >= deadline else { return [] }
        let due = gaps.filter { $0.value.requests < Self.requestLimit && $0.value.due <= now }.keys.sorted()
            .prefix(Self.maximumRequestCount)
        for number in due {
            gaps[number]?.askedAt = now
            gaps[number]?.requests += 1
        }
        schedule()
        return due.map { ExtendedSequenceNumber($0).sequenceNumber }
    }

    /// Moves on to `number`: what waits before it is handed out, what is missing before it is lost.
    private mutating func giveUp(before number: Int64) {
        for waitingNumber in waiting.keys.filter({ $0 < number }).sorted() { release(waitingNumber) }
        lostPackets += gaps.keys.count { $0 < number }
        gaps = gaps.filter { $0.key >= number }
        next = max(next ?? number, number)
        handOut()
    }

    private mutating func handOut() {
        while let number = next, waiting[number] != nil {
            release(number)
            next = number + 1
        }
    }

    private mutating func release(_ number: Int64) {
        guard let packet = waiting.removeValue(forKey: number) else { return }
        waitingBytes -= packet.payload.count
        ready.append(packet)
    }

    private mutating func schedule() {
        deadline = gaps.values.map(\.due).min() ?? .distantFuture
    }
}
