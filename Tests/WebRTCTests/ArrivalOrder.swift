import RTP

/// Packets in the order of their sequence numbers, however they came: a browser's packet buffer.
struct ArrivalOrder {
    private var unwrapper = SequenceUnwrapper()
    private var next: Int64?
    private var waiting: [Int64: RTPPacket] = [:]
    private var highestOnTime: Int64?

    /// Takes `packet`, numbered `number` in its stream; gives those whose turn it is now.
    mutating func insert(_ packet: RTPPacket, number: SequenceNumber, isRetransmission: Bool) -> [RTPPacket] {
        let position = unwrapper.unwrap(number).rawValue
        if !isRetransmission { highestOnTime = max(position, highestOnTime ?? position) }
        var turn = next ?? position
        guard position >= turn else { return [] }
        waiting[position] = packet
        var ready: [RTPPacket] = []
        while let packet = waiting.removeValue(forKey: turn) {
            ready.append(packet)
            turn += 1
        }
        next = turn
        return ready
    }

    /// What later packets show to be missing; as in browsers, those that came by retransmission show nothing.
    var missing: [SequenceNumber] {
        guard let next, let highestOnTime, highestOnTime >= next else { return [] }
        return (next...highestOnTime).filter { waiting[$0] == nil }
            .map { ExtendedSequenceNumber($0).sequenceNumber }
    }

    /// The highest number so far, as a reception report has it.
    var highest: UInt32 { UInt32(truncatingIfNeeded: unwrapper.highest?.rawValue ?? 0) }
}
