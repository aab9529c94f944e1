import MediaTypes
import RTP

extension FuzzTarget {
    /// Compound RTCP packets.
    static let rtcp = FuzzTarget(name: "rtcp", maxInput: 1500) { input in
        guard let packets = try? RTCPPacket.parse(input[...]) else { return }
        check(packets.count <= input.count / 4, "each packet has a header of four bytes")
        for case .transportFeedback(let feedback) in packets {
            check(feedback.arrivals.count <= TransportFeedback.maxArrivalCount, "a list of packets keeps its limit")
        }
        let known = packets.filter(isWrittenWhole)
        guard !known.isEmpty else { return }
        var written: [UInt8] = []
        for packet in known { packet.write(into: &written) }
        guard let again = try? RTCPPacket.parse(written[...]) else { return check(false, "what we write can be read") }
        check(again.map(normalized) == known.map(normalized), "what we write reads the same")
    }
}

/// Whether everything that was read from a packet is written again.
private func isWrittenWhole(_ packet: RTCPPacket) -> Bool {
    switch packet {
    case .unknown: return false
    case .estimatedMaximumBitRate(let estimate): return estimate.bitRate.bitsPerSecond < .max
    case .extendedReport(let report): return report.delays.count <= 255
    default: return true
    }
}

/// Sorts a list of lost packets: it may name one twice and in any order, and is written in another order.
private func normalized(_ packet: RTCPPacket) -> RTCPPacket {
    guard case .genericNack(var nack) = packet else { return packet }
    nack.sequenceNumbers = Set(nack.sequenceNumbers).sorted { $0.rawValue < $1.rawValue }
    return .genericNack(nack)
}
