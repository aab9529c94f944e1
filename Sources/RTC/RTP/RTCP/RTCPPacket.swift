import ByteCoding

/// An RTCP packet (RFC 3550 section 6, RFC 4585, RFC 5104, RFC 3611) of one of the kinds that a video sender needs.
public enum RTCPPacket: Hashable, Sendable {
    case senderReport(SenderReport)
    case receiverReport(ReceiverReport)
    case genericNack(GenericNack)
    case transportFeedback(TransportFeedback)
    case pictureLossIndication(PictureLossIndication)
    case fullIntraRequest(FullIntraRequest)
    case estimatedMaximumBitRate(ReceiverEstimatedMaximumBitRate)
    case extendedReport(ExtendedReport)
    /// A packet of a kind that we don't use; it is skipped by its length.
    case unknown(packetType: UInt8, count: UInt8)

    /// The reception reports of a sender's or receiver's report; none in other packets.
    public var receptionReports: [ReceptionReport] {
        switch self {
        case .senderReport(let report): report.receptionReports
        case .receiverReport(let report): report.receptionReports
        default: []
        }
    }

    /// Splits a decrypted compound datagram into its packets. Reduced-size datagrams, which don't begin with a report
    /// (RFC 5506), are accepted too.
    ///
    ///      0                   1                   2                   3
    ///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
    ///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
    ///     |V=2|P|  count  |  packet type  |  32-bit words that follow     |
    ///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
    ///     |                  the packet type's own part                   |
    ///     +---------------------------------------------------------------+
    ///
    /// - Throws: ``RTPError`` if one of the packets has another version or a length that doesn't fit. None is returned
    ///   then.
    public static func parse(_ datagram: ArraySlice<UInt8>) throws(RTPError) -> [RTCPPacket] {
        var packets: [RTCPPacket] = []
        var arrivals = 0
        var reader = ByteReader(datagram)
        repeat {
            guard let first = reader.uint8(), let packetType = reader.uint8(), let words = reader.uint16() else {
                throw .truncated(part: "an RTCP header", needed: 4, available: reader.count)
            }
            guard first >> 6 == 2 else { throw .wrongVersion(first >> 6) }
            guard var body = reader.bytes(Int(words) * 4) else {
                throw .truncated(part: "an RTCP packet", needed: Int(words) * 4, available: reader.count)
            }
            if first & 0x20 != 0 {
                let padding = Int(body.last ?? 0)
                guard padding > 0, padding <= body.count else {
                    throw .invalidPadding(count: padding, available: body.count)
                }
                body = body.dropLast(padding)
            }
            let packet = try packet(packetType, count: first & 0x1F, body: body)
            // A few bytes can describe thousands of packets that didn't arrive.
            if case .transportFeedback(let feedback) = packet { arrivals += feedback.arrivals.count }
            guard arrivals <= TransportFeedback.maxArrivalCount else {
                throw .invalidLength(part: "transport-wide feedback's list of packets", length: arrivals)
            }
            packets.append(packet)
        } while !reader.isEmpty
        return packets
    }

    /// Appends the packet. A packet of an unknown kind appends nothing.
    public func write(into buffer: inout [UInt8]) {
        switch self {
        case .senderReport(let packet): packet.write(into: &buffer)
        case .receiverReport(let packet): packet.write(into: &buffer)
        case .genericNack(let packet): packet.write(into: &buffer)
        case .transportFeedback(let packet): packet.write(into: &buffer)
        case .pictureLossIndication(let packet): packet.write(into: &buffer)
        case .fullIntraRequest(let packet): packet.write(into: &buffer)
        case .estimatedMaximumBitRate(let packet): packet.write(into: &buffer)
        case .extendedReport(let packet): packet.write(into: &buffer)
        case .unknown: break
        }
    }

    private static func packet(
        _ packetType: UInt8, count: UInt8, body: ArraySlice<UInt8>
    ) throws(RTPError) -> RTCPPacket {
        var reader = ByteReader(body)
        switch (packetType, count) {
        case (SenderReport.packetType, _):
            return .senderReport(try SenderReport(reading: &reader, count: count))
        case (ReceiverReport.packetType, _):
            return .receiverReport(try ReceiverReport(reading: &reader, count: count))
        case (Feedback.transport, GenericNack.format):
            return .genericNack(try GenericNack(reading: &reader))
        case (Feedback.transport, TransportFeedback.format):
            guard let packet = try TransportFeedback(reading: &reader) else { break }
            return .transportFeedback(packet)
        case (Feedback.payload, PictureLossIndication.format):
            return .pictureLossIndication(try PictureLossIndication(reading: &reader))
        case (Feedback.payload, FullIntraRequest.format):
            return .fullIntraRequest(try FullIntraRequest(reading: &reader))
        case (Feedback.payload, ReceiverEstimatedMaximumBitRate.format):
            guard let packet = try ReceiverEstimatedMaximumBitRate(reading: &reader) else { break }
            return .estimatedMaximumBitRate(packet)
        case (ExtendedReport.packetType, _):
            return .extendedReport(try ExtendedReport(reading: &reader))
        default: break
        }
        return .unknown(packetType: packetType, count: count)
    }
}

extension [UInt8] {
    /// Appends an RTCP header, what `body` appends, and zeros up to a whole word, then sets the length field.
    mutating func appendRTCP(type: UInt8, count: Int, _ body: (inout [UInt8]) -> Void) {
        let start = self.count
        append(0x80 | UInt8(truncatingIfNeeded: count & 0x1F))
        append(type)
        appendUInt16(0)
        body(&self)
        while (self.count - start) % 4 != 0 { append(0) }
        let words = (self.count - start) / 4 - 1
        self[start + 2] = UInt8(truncatingIfNeeded: words >> 8)
        self[start + 3] = UInt8(truncatingIfNeeded: words)
    }
}
