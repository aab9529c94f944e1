import MediaTypes
import RTP
import TestSupport
import Testing

/// Sender and receiver over a link that loses datagrams both ways, by a seed.
struct LossyLinkTests {
    /// A receiver that keeps what comes by sequence number, takes retransmissions apart and asks for gaps.
    private struct Receiver {
        var packets: [Int64: (header: RTPPacketHeader, payload: [UInt8])] = [:]
        var unwrapper = SequenceUnwrapper()
        var first: Int64?
        var repairs = 0

        mutating func receive(_ datagram: [UInt8]) throws {
            let packet = try RTPPacket(parsing: datagram[...])
            var header = packet.header
            var payload = packet.payload
            var number = unwrapper.highest?.rawValue ?? 0
            if header.ssrc == SSRC(2) {
                guard let high = payload.popFirst(), let low = payload.popFirst() else { return }
                header.sequenceNumber = SequenceNumber(UInt16(high) << 8 | UInt16(low))
                // A repair doesn't move the highest number: that is what hides a lost end.
                let highest = ExtendedSequenceNumber(number).sequenceNumber
                number += Int64(highest.distance(to: header.sequenceNumber))
                repairs += 1
            } else {
                number = unwrapper.unwrap(header.sequenceNumber).rawValue
            }
            if let known = packets[number] { #expect(known.payload == Array(payload)) }
            packets[number] = (header, Array(payload))
            first = min(first ?? number, number)
        }

        var missing: [SequenceNumber] {
            guard let first, let highest = unwrapper.highest?.rawValue, first <= highest else { return [] }
            return (first...highest).filter { packets[$0] == nil }
                .map { ExtendedSequenceNumber($0).sequenceNumber }
        }
    }

    @Test(
        "every picture arrives whole over a link that loses 15 % both ways, the end before a pause too",
        arguments: [true, false], [UInt64](1...6))
    func recovery(rtx: Bool, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var stream = RTPStream(
            RTPStream.Configuration(
                ssrc: SSRC(1), firstSequenceNumber: .first(random: 0x7FF0), timestampOffset: 12345,
                clock: NTPClock(unixOffset: .seconds(1_700_000_000)),
                retransmission: rtx
                    ? RTPStream.Retransmission(
                        ssrc: SSRC(2), firstSequenceNumber: SequenceNumber(0),
                        payloadTypes: [PayloadType(96): PayloadType(97)]) : nil))
        var history = TrackHistory()
        var responder = NackResponder()
        var probe = TailLossProbe(hasRetransmission: rtx)
        var receiver = Receiver()
        var toReceiver: [(due: Int64, bytes: [UInt8])] = []
        var toSender: [(due: Int64, bytes: [UInt8])] = []
        var buffer: [UInt8] = []
        var sent: [[[UInt8]]] = []
        var resent = 0
        let pictures = Set(stride(from: Int64(0), to: 700, by: 33)).union([1100, 1500, 1533, 2200, 2500])
        var originals: [SequenceNumber: [UInt8]] = [:]

        for millisecond in Int64(0)..<3500 {
            let now = MonotonicTime.zero + .milliseconds(millisecond)
            func transmit(_ bytes: [UInt8]) {
                // The first picture's first packet arrives: a receiver can't miss what came before all it knows.
                if sent.count <= 1 && originals.count <= 1 || Int.random(in: 0..<100, using: &random) >= 15 {
                    toReceiver.append((millisecond + 10, bytes))
                }
            }
            func transmitAgain(_ packet: SentPacket) {
                guard stream.writeRetransmission(packet, from: history, into: &buffer) else { return }
                if !rtx { #expect(buffer == originals[packet.sequenceNumber]) }
                transmit(buffer)
            }

            if pictures.contains(millisecond) {
                let nalUnits = [
                    AccessUnits.nalUnit(0x41, count: Int.random(in: 50...9000, using: &random), seed: random.next())
                ]
                sent.append(nalUnits)
                let unit = H264Packetizer().packetize(
                    AccessUnits.unit(nalUnits, captureTime: now), at: MediaTime(ticks: millisecond * 90))
                let frame = RTPStream.Frame(
                    unit, number: history.append(unit, at: now), payloadType: PayloadType(96))
                var last = SequenceNumber(0)
                for index in unit.packets.indices {
                    let packet = try #require(stream.write(packet: index, of: frame, into: &buffer))
                    last = packet.sequenceNumber
                    originals[last] = buffer
                    responder.noteMediaSent(byteCount: packet.byteCount, at: now)
                    transmit(buffer)
                }
                probe.pictureSent(
                    lastSequenceNumber: last, packetCount: unit.packets.count, roundTripTime: .milliseconds(20),
                    at: now)
            }
            switch probe.poll(at: now) {
            case .retransmitPicture:
                for number in probe.pictureSequenceNumbers { stream.sent.packet(number).map(transmitAgain) }
            case .retransmitLastPacket:
                probe.pictureSequenceNumbers.last.flatMap { stream.sent.packet($0) }.map(transmitAgain)
            case .padding:
                if stream.writePadding(into: &buffer) != nil { transmit(buffer) }
            case nil: break
            }

            while let datagram = toReceiver.first, datagram.due == millisecond {
                try receiver.receive(datagram.bytes)
                toReceiver.removeFirst()
            }
            let missing = millisecond % 20 == 0 ? receiver.missing : []
            if !missing.isEmpty, Int.random(in: 0..<100, using: &random) >= 15 {
                var nack: [UInt8] = []
                GenericNack(sender: SSRC(9), media: SSRC(1), sequenceNumbers: missing).write(into: &nack)
                toSender.append((millisecond + 10, nack))
            }
            while let datagram = toSender.first, datagram.due == millisecond {
                toSender.removeFirst()
                for case .genericNack(let nack) in try RTCPPacket.parse(datagram.bytes[...]) {
                    let packets = stream.answer(
                        nack, by: &responder, roundTripTime: .milliseconds(20), at: now)
                    packets.forEach(transmitAgain)
                    resent += packets.count
                }
            }
        }

        var reassembler = FrameReassembler(.h264)
        var received: [ReceivedFrame] = []
        for number in receiver.packets.keys.sorted() {
            guard let packet = receiver.packets[number] else { continue }
            received += reassembler.receive(packet.header, payload: packet.payload[...])
        }
        #expect(received.map(\.nalUnits) == sent)
        #expect(received.map(\.isComplete) == sent.map { _ in true })
        #expect(resent > 0)
        #expect(rtx == (receiver.repairs > 0))
    }
}
