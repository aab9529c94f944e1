import RTP

/// Packets in the order of their sequence numbers, however they came: a browser's packet buffer.
struct ArrivalOrder {
    private var unwrapper = SequenceUnwrapper()
    private var next: Int64?
    private var waiting: [Int64: RTPPacket] = [:]

    /// Takes `packet`, numbered `number` in its stream; gives those whose turn it is now.
    mutating func insert(_ packet: RTPPacket, number: SequenceNumber) -> [RTPPacket] {
        let position = unwrapper.unwrap(number).rawValue
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

    /// What later packets show to be missing.
    var missing: [SequenceNumber] {
        guard let next, let highest = unwrapper.highest, highest.rawValue >= next else { return [] }
        return (next...highest.rawValue).filter { waiting[$0] == nil }
            .map { ExtendedSequenceNumber($0).sequenceNumber }
    }

    /// The highest number so far, as a reception report has it.
    var highest: UInt32 { UInt32(truncatingIfNeeded: unwrapper.highest?.rawValue ?? 0) }
}
