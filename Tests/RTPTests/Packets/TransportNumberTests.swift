import MediaTypes
import RTP
import TestSupport
import Testing

@Suite("Transport-wide sequence numbers in a stream's packets")
struct TransportNumberTests {
    /// A stream for a peer that takes the extension with the number `id`; 20 needs the two-byte form.
    private func stream(id: UInt8?, rtx: Bool) -> RTPStream {
        RTPStream(
            RTPStream.Configuration(
                ssrc: SSRC(0xAAAA), firstSequenceNumber: SequenceNumber(100), timestampOffset: 1000,
                extensions: HeaderExtensionFormat(
                    playoutDelayID: 1, captureTimeID: 2, midID: 3, mid: "0", transportNumberID: id),
                clock: NTPClock(unixOffset: .seconds(1_700_000_000)),
                retransmission: rtx
                    ? RTPStream.Retransmission(
                        ssrc: SSRC(0xBBBB), firstSequenceNumber: SequenceNumber(7),
                        payloadTypes: [PayloadType(96): PayloadType(97)]) : nil))
    }

    private let frame = H264Packetizer().packetize(
        AccessUnits.unit(
            [[0x67, 1], [0x68, 2], AccessUnits.nalUnit(0x65, count: 3000)], isIDR: true,
            captureTime: .zero + .seconds(5)), at: MediaTime(ticks: 90))

    private func number(in bytes: [UInt8], id: UInt8) throws -> UInt16? {
        try RTPPacket(parsing: bytes[...]).extensionData(id).map { data in
            #expect(data.count == 2)
            return data.reduce(0) { $0 << 8 | UInt16($1) }
        }
    }

    /// Sends the frame with the numbers from 65534 on.
    private func sendAll(
        on stream: inout RTPStream, history: inout TrackHistory
    ) -> [(packet: SentPacket, bytes: [UInt8])] {
        let unit = history.append(frame, at: .zero)
        let sent = RTPStream.Frame(frame, number: unit, payloadType: PayloadType(96))
        var buffer: [UInt8] = []
        return frame.packets.indices.compactMap { index in
            stream.write(
                packet: index, of: sent, extensions: [.playoutDelay, .captureTime, .mid],
                transportNumber: 65_534 &+ UInt16(index), into: &buffer
            ).map { ($0, buffer) }
        }
    }

    @Test("each packet has its own, next to the other extensions, in both forms", arguments: [4, 20] as [UInt8])
    func written(id: UInt8) throws {
        var stream = stream(id: id, rtx: false)
        var history = TrackHistory()
        let sent = sendAll(on: &stream, history: &history)
        #expect(sent.map(\.packet.transportNumber) == [65_534, 65_535, 0, 1])
        for (packet, bytes) in sent {
            #expect(try number(in: bytes, id: id) == packet.transportNumber)
            #expect(try RTPPacket(parsing: bytes[...]).extensionElements.map(\.id) == [1, 2, id, 3])
            #expect(packet.byteCount == bytes.count)
            #expect(bytes.count <= 1200 - 16 - 2)
        }
    }

    @Test("a packet sent again without RTX keeps its first, bit for bit", arguments: [4, 20] as [UInt8])
    func bitForBit(id: UInt8) throws {
        var stream = stream(id: id, rtx: false)
        var history = TrackHistory()
        var buffer: [UInt8] = []
        var sent = sendAll(on: &stream, history: &history)
        let padding = stream.writePadding(3, transportNumber: 2, into: &buffer)
        sent.append((try #require(padding), buffer))
        for (packet, bytes) in sent {
            for transportNumber in [nil, 77, 78] as [UInt16?] {
                let again = try #require(stream.sent.packet(packet.sequenceNumber))
                let isWritten = stream.writeRetransmission(
                    again, from: history, transportNumber: transportNumber, into: &buffer)
                #expect(isWritten)
                #expect(buffer == bytes)
            }
        }
    }

    @Test("each retransmission by RTX has a new one, or none", arguments: [4, 20] as [UInt8])
    func retransmission(id: UInt8) throws {
        var stream = stream(id: id, rtx: true)
        var history = TrackHistory()
        var buffer: [UInt8] = []
        let sent = sendAll(on: &stream, history: &history)
        for transportNumber in [77, nil, 78] as [UInt16?] {
            let isWritten = stream.writeRetransmission(
                sent[1].packet, from: history, transportNumber: transportNumber, into: &buffer)
            #expect(isWritten)
            #expect(try number(in: buffer, id: id) == transportNumber)
            #expect(buffer.count <= 1200 - 16)
            let packet = try RTPPacket(parsing: buffer[...])
            #expect(packet.header.ssrc == SSRC(0xBBBB))
            #expect(Array(packet.payload.dropFirst(2)) == Array(try RTPPacket(parsing: sent[1].bytes[...]).payload))
        }
        #expect(stream.sent.packet(sent[1].packet.sequenceNumber)?.transportNumber == 65_535)
    }

    @Test("padding has one")
    func padding() throws {
        var stream = stream(id: 4, rtx: false)
        var history = TrackHistory()
        _ = sendAll(on: &stream, history: &history)
        var buffer: [UInt8] = []
        let padding = stream.writePadding(transportNumber: 5, into: &buffer)
        #expect(padding?.transportNumber == 5)
        #expect(try number(in: buffer, id: 4) == 5)
        #expect(padding?.byteCount == buffer.count)
        let plain = stream.writePadding(into: &buffer)
        #expect(plain != nil && plain?.transportNumber == nil)
        #expect(try number(in: buffer, id: 4) == nil)
    }

    @Test("a peer that doesn't take the extension gets the same bytes as without a number, and none is used up")
    func notNegotiated() throws {
        var numbered = stream(id: nil, rtx: true)
        var plain = stream(id: nil, rtx: true)
        var bytes: [UInt8] = []
        var buffer: [UInt8] = []
        var history = TrackHistory()
        let unit = RTPStream.Frame(frame, number: history.append(frame, at: .zero), payloadType: PayloadType(96))
        let written = numbered.write(
            packet: 0, of: unit, extensions: [.mid, .transportNumber], transportNumber: 9, into: &buffer)
        let sent = try #require(written)
        _ = plain.write(packet: 0, of: unit, extensions: [.mid], into: &bytes)
        #expect(sent.transportNumber == nil)
        #expect(sent.extensions == .mid)
        #expect(buffer == bytes)
        let padding = numbered.writePadding(transportNumber: 10, into: &buffer)
        #expect(padding?.transportNumber == nil)
        _ = plain.writePadding(into: &bytes)
        #expect(buffer == bytes)
        _ = numbered.writeRetransmission(sent, from: history, transportNumber: 11, into: &buffer)
        _ = plain.writeRetransmission(sent, from: history, into: &bytes)
        #expect(buffer == bytes)
    }

    @Test("no buffer is allocated once it has its capacity")
    func noAllocation() {
        var stream = stream(id: 20, rtx: true)
        var history = TrackHistory()
        let unit = RTPStream.Frame(frame, number: history.append(frame, at: .zero), payloadType: PayloadType(96))
        var buffer: [UInt8] = []
        buffer.reserveCapacity(1500)
        let address = buffer.withUnsafeBufferPointer { $0.baseAddress.map { Int(bitPattern: $0) } }
        for index in frame.packets.indices {
            let sent = stream.write(
                packet: index, of: unit, extensions: [.playoutDelay, .captureTime, .mid],
                transportNumber: UInt16(index), into: &buffer)
            #expect(buffer.withUnsafeBufferPointer { $0.baseAddress.map { Int(bitPattern: $0) } } == address)
            guard let sent else { continue }
            _ = stream.writeRetransmission(sent, from: history, transportNumber: 9, into: &buffer)
            #expect(buffer.withUnsafeBufferPointer { $0.baseAddress.map { Int(bitPattern: $0) } } == address)
        }
    }
}
