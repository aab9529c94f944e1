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

    /// Missing packets one behind the other that came to be missing at once, and were asked for together.
    private struct Gap {
        var numbers: Range<Int64>
        let since: MonotonicTime
        var askedAt: MonotonicTime?
        var requests = 0

        /// When to ask again, or to give it up.
        var due: MonotonicTime {
            let end = since + ReceptionBuffer.patience
            guard requests < ReceptionBuffer.requestLimit else { return end }
            return min(end, askedAt.map { $0 + ReceptionBuffer.spacing } ?? since + ReceptionBuffer.reordering)
        }

        /// Takes what is before `number` away, and returns it.
        mutating func split(before number: Int64) -> Gap {
            var first = self
            first.numbers = numbers.lowerBound..<number
            numbers = number..<numbers.upperBound
            return first
        }
    }

    private var unwrapper = SequenceUnwrapper()
    /// The number to hand out next; nil before the first packet.
    private var next: Int64?
    /// The highest number so far.
    private var highest: Int64 = 0
    private var waiting: [Int64: RTPPacket] = [:]
    private var waitingBytes = 0
    /// By their numbers, in runs: a peer may leave out hundreds with each packet.
    private var gaps: [Gap] = []
    private var missingPackets = 0
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
            if number <= highest {
                fill(number)
            } else if highest + 1 < number {
                gaps.append(Gap(numbers: highest + 1..<number, since: now))
                missingPackets += Int(number - highest - 1)
                deadline = min(deadline, now + Self.reordering)
            }
        }
        highest = max(highest, number)
        waiting[number] = packet
        waitingBytes += packet.payload.count
        handOut()
        // Half of it at once, or each packet of a hostile stream would cost a look at all.
        if waiting.count > Self.maximumPacketCount || missingPackets > Self.maximumPacketCount {
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
            let expired = gaps.last { now >= $0.since + Self.patience }
            if let expired { giveUp(before: expired.numbers.upperBound) }
            schedule()
        }
        defer { ready = [] }
        return ready
    }

    /// The packets to ask for now, in their order; they count as asked for.
    public mutating func requests(now: MonotonicTime) -> [SequenceNumber] {
        guard now >= deadline else { return [] }
        var asked: [SequenceNumber] = []
        var index = 0
        while index < gaps.count, asked.count < Self.maximumRequestCount {
            defer { index += 1 }
            guard gaps[index].requests < Self.requestLimit, gaps[index].due <= now else { continue }
            let end = gaps[index].numbers.lowerBound + Int64(Self.maximumRequestCount - asked.count)
            if end < gaps[index].numbers.upperBound {
                gaps.insert(gaps[index].split(before: end), at: index)
            }
            gaps[index].askedAt = now
            gaps[index].requests += 1
            asked += gaps[index].numbers.map { ExtendedSequenceNumber($0).sequenceNumber }
        }
        schedule()
        return asked
    }

    /// Takes `number`, which has come, out of its gap.
    private mutating func fill(_ number: Int64) {
        guard let index = gaps.firstIndex(where: { number < $0.numbers.upperBound }),
            gaps[index].numbers.contains(number)
        else { return }
        missingPackets -= 1
        let before = gaps[index].split(before: number)
        _ = gaps[index].split(before: number + 1)
        if gaps[index].numbers.isEmpty {
            if before.numbers.isEmpty { gaps.remove(at: index) } else { gaps[index] = before }
        } else if !before.numbers.isEmpty {
            gaps.insert(before, at: index)
        }
    }

    /// Moves on to `number`: what waits before it is handed out, what is missing before it is lost.
    private mutating func giveUp(before number: Int64) {
        for waitingNumber in waiting.keys.filter({ $0 < number }).sorted() { release(waitingNumber) }
        let whole = gaps.prefix { $0.numbers.upperBound <= number }
        var lost = whole.reduce(0) { $0 + $1.numbers.count }
        gaps.removeFirst(whole.count)
        if let first = gaps.first, first.numbers.lowerBound < number {
            lost += gaps[0].split(before: number).numbers.count
        }
        lostPackets += lost
        missingPackets -= lost
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
        deadline = gaps.lazy.map(\.due).min() ?? .distantFuture
    }
}
