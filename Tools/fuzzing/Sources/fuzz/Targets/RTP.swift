import ByteCoding
import H264
import MediaTypes
import RTP

extension FuzzTarget {
    /// The packets of a stream, which are put in order and assembled into access units, which are packetized again.
    ///
    /// The input is a list of packets. The first byte of each says how much time has passed and whether the input has
    /// the header as well; if not, the next two bytes advance the sequence number and the time stamp. A length and the
    /// payload follow.
    static let rtp = FuzzTarget(name: "rtp", maxInput: 8192) { input in
        var buffer = JitterBuffer()
        var reassembler = FrameReassembler(.h264)
        var statistics = ReceptionStatistics(.video)
        var reader = ByteReader(input)
        var now = MonotonicTime.zero
        var header = RTPPacketHeader(
            marker: false, payloadType: PayloadType(96), sequenceNumber: SequenceNumber(65_530),
            timestamp: RTPTimestamp(.max), ssrc: SSRC(1))
        var last: SequenceNumber?
        var (packetsIn, packetsOut, bytesIn, bytesOut) = (0, 0, 0, 0)
        while let datagram = nextDatagram(&reader, &header, &now) {
            guard let packet = try? RTPPacket(parsing: datagram[...]) else { continue }
            check(packet.payload.count + packet.paddingCount <= datagram.count, "a payload is a part of its packet")
            packetsIn += 1
            bytesIn += packet.payload.count
            statistics.note(packet.header, now: now)
            buffer.insert(packet, now: now)
            check(
                buffer.requests(now: now).count <= JitterBuffer.maxRequestCount,
                "no more packets are asked for than the limit")
            for packet in buffer.take(now: now) {
                let number = packet.header.sequenceNumber
                if let last { check(last.distance(to: number) > 0, "packets come out in their order") }
                last = number
                packetsOut += 1
                for frame in reassembler.receive(packet.header, payload: packet.payload) {
                    guard let units = frame.contents?.units else { continue }
                    bytesOut += units.reduce(0) { $0 + $1.count - 4 }
                    checkRoundTrip(units, at: frame.timestamp)
                }
            }
        }
        check(packetsOut <= packetsIn, "no packet comes out twice")
        check(bytesOut <= bytesIn, "access units are no larger than their packets")
        _ = statistics.report(ssrc: SSRC(1), now: now)
    }
}

private func nextDatagram(
    _ reader: inout ByteReader, _ header: inout RTPPacketHeader, _ now: inout MonotonicTime
) -> [UInt8]? {
    guard let kind = reader.uint8() else { return nil }
    now = now + .milliseconds(Int64(kind >> 2) * 8)
    var datagram: [UInt8] = []
    if kind & 1 == 0 {
        guard let move = reader.uint8(), let ticks = reader.uint8() else { return nil }
        header.marker = kind & 2 != 0
        header.sequenceNumber = header.sequenceNumber.advanced(by: 1 + Int(Int8(bitPattern: move)))
        header.timestamp = header.timestamp.advanced(by: Int64(ticks) * 1500)
        header.write(into: &datagram)
    }
    guard let length = reader.uint8(), let bytes = reader.bytes(min(Int(length), reader.count)) else { return nil }
    datagram += bytes
    // Large gaps take so much time that only some packets may leave one.
    if kind & 1 != 0, datagram.count >= 4, datagram[3] != 0xFF {
        header.sequenceNumber = header.sequenceNumber.advanced(by: 1 + Int(Int8(bitPattern: datagram[3])))
        datagram[2] = UInt8(header.sequenceNumber.rawValue >> 8)
        datagram[3] = UInt8(header.sequenceNumber.rawValue & 0xFF)
    }
    return datagram
}

/// Checks that a complete access unit survives packetization unchanged, except for the NAL units that are never sent.
private func checkRoundTrip(_ received: [[UInt8]], at timestamp: RTPTimestamp) {
    let bytes = Array(received.joined())
    var ranges: [Range<Int>] = []
    for unit in received {
        let start = ranges.last?.upperBound ?? 0
        ranges.append(start + 4..<start + unit.count)
    }
    let unit = CodedFrame(h264: bytes, units: ranges, captureTime: nil)
    let sent = received.filter { ![9, 12].contains($0[4] & 0x1F) }
    let packetizer = H264Packetizer(maxPayloadByteCount: 48)
    let packets = packetizer.packetize(unit, at: MediaTime(ticks: 0)).packets
    var reassembler = FrameReassembler(.h264)
    var frames: [ReceivedFrame] = []
    for (index, packet) in packets.enumerated() {
        check(packet.byteCount <= packetizer.maxPayloadByteCount, "a payload keeps its limit")
        var payload: [UInt8] = []
        packet.append(to: &payload, from: bytes)
        check(payload.count == packet.byteCount, "a payload is as long as it says")
        let header = RTPPacketHeader(
            marker: index == packets.count - 1, payloadType: PayloadType(96),
            sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: index)), timestamp: timestamp,
            ssrc: SSRC(1))
        frames += reassembler.receive(header, payload: payload[...])
    }
    check(frames.flatMap { $0.contents?.units ?? [] } == sent, "an access unit comes out of packets as it went in")
    check(frames.allSatisfy { $0.contents != nil }, "an access unit that lost nothing is whole")
}
