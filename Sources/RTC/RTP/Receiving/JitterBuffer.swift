public import MediaTypes

/// A jitter buffer: puts a stream's packets in order, waits briefly for missing ones, and says which of them to request
/// again (RFC 4585 section 6.2.1).
///
/// A peer can't make the buffer exceed its limits: beyond them, or after ``timeout``, a gap is given up and the
/// packets after it are handed out. A packet is handed out at most once, and never after a later one.
public struct JitterBuffer: Sendable {
    /// The maximum number of packets that wait behind a gap.
    public static let maxPacketCount = 1024
    /// The maximum payload bytes that wait behind a gap.
    public static let maxByteCount = 2 << 20
    /// How far a sequence number may be ahead of the next one to hand out. Everything before a packet further ahead is
    /// given up.
    public static let maxSpan: Int64 = 2048
    /// How long to wait for a missing packet of pictures, which can't go on without it.
    public static let timeout = Interval.milliseconds(300)
    /// The maximum number of packets requested at once.
    public static let maxRequestCount = 128

    /// How long to wait before requesting a missing packet, to allow for reordering on the path.
    private static let reordering = Interval.milliseconds(5)
    /// The interval between two requests for the same packet.
    private static let spacing = Interval.milliseconds(60)
    /// The maximum number of requests for one packet.
    private static let requestLimit = 4

    /// The number of packets given up as lost.
    public private(set) var lostPackets = 0
    /// The time at which ``requests(now:)`` or ``take(now:)`` may have something to return even if no packet arrives.
    public private(set) var deadline = MonotonicTime.distantFuture

    /// A run of consecutive missing packets that went missing together and were requested together.
    private struct Gap {
        var numbers: Range<Int64>
        let since: MonotonicTime
        /// When it is given up.
        let end: MonotonicTime
        var askedAt: MonotonicTime?
        var requests = 0

        /// The time to request the packets again or to give them up.
        var due: MonotonicTime {
            guard requests < JitterBuffer.requestLimit else { return end }
            return min(end, askedAt.map { $0 + JitterBuffer.spacing } ?? since + JitterBuffer.reordering)
        }

        /// Removes the part before `number` and returns it.
        mutating func split(before number: Int64) -> Gap {
            var first = self
            first.numbers = numbers.lowerBound..<number
            numbers = number..<numbers.upperBound
            return first
        }
    }

    private var unwrapper = SequenceUnwrapper()
    /// The sequence number to hand out next; nil before the first packet.
    private var next: Int64?
    /// The highest sequence number so far.
    private var highest: Int64 = 0
    private var waiting: [Int64: RTPPacket] = [:]
    private var waitingBytes = 0
    /// The missing packets in order, kept as runs because a peer may skip hundreds with each packet.
    private var gaps: [Gap] = []
    private var missingPackets = 0
    private var ready: [RTPPacket] = []

    private let timeout: Interval

    /// A buffer that has seen no packet yet, and waits so long for a missing one.
    public init(timeout: Interval = JitterBuffer.timeout) {
        self.timeout = timeout
    }

    /// Takes the next packet of the stream in order of arrival.
    public mutating func insert(_ packet: RTPPacket, now: MonotonicTime) {
        let number = unwrapper.unwrap(packet.header.sequenceNumber).rawValue
        guard let next else {
            self.next = number + 1
            highest = number
            ready.append(packet)
            return
        }
        // A packet may arrive twice, or too late to be handed out in order.
        guard number >= next, waiting[number] == nil else { return }
        if number == next, waiting.isEmpty, gaps.isEmpty {
            // The usual case: in order, with nothing missing.
            self.next = number + 1
            highest = max(highest, number)
            ready.append(packet)
            return
        }
        if number - next >= Self.maxSpan {
            giveUp(before: number)
        } else {
            if number <= highest {
                fill(number)
            } else if highest + 1 < number {
                gaps.append(Gap(numbers: highest + 1..<number, since: now, end: now + timeout))
                missingPackets += Int(number - highest - 1)
                deadline = min(deadline, now + Self.reordering)
            }
        }
        highest = max(highest, number)
        waiting[number] = packet
        waitingBytes += packet.payload.count
        handOut()
        // Gives up all but the newest half at once; otherwise each packet of a hostile stream would scan the whole
        // buffer.
        if waiting.count > Self.maxPacketCount || missingPackets > Self.maxPacketCount {
            giveUp(before: highest - Int64(Self.maxPacketCount / 2))
        }
        while waiting.count > Self.maxPacketCount || waitingBytes > Self.maxByteCount,
            let first = waiting.keys.min()
        {
            giveUp(before: first)
        }
    }

    /// Whether the packet with this number is missing and still waited for.
    public func isMissing(_ number: SequenceNumber) -> Bool {
        guard next != nil else { return false }
        let steps = ExtendedSequenceNumber(highest).sequenceNumber.distance(to: number)
        return gaps.contains { $0.numbers.contains(highest + Int64(steps)) }
    }

    /// The packets that can be handed out now, in order.
    public mutating func take(now: MonotonicTime) -> [RTPPacket] {
        if now >= deadline {
            let expired = gaps.last { now >= $0.end }
            if let expired { giveUp(before: expired.numbers.upperBound) }
            schedule()
        }
        defer { ready = [] }
        return ready
    }

    /// The packets to request now, in order; they are recorded as requested.
    public mutating func requests(now: MonotonicTime) -> [SequenceNumber] {
        guard now >= deadline else { return [] }
        var asked: [SequenceNumber] = []
        var index = 0
        while index < gaps.count, asked.count < Self.maxRequestCount {
            defer { index += 1 }
            guard gaps[index].requests < Self.requestLimit, gaps[index].due <= now else { continue }
            let end = gaps[index].numbers.lowerBound + Int64(Self.maxRequestCount - asked.count)
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

    /// Removes `number`, which has arrived, from its gap.
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

    /// Advances to `number`: hands out the packets that wait before it, and counts the missing ones before it as lost.
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
