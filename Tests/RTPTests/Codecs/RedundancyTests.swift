import MediaTypes
import RTP
import Testing

@Suite("Packets of sound with the frame before (RED)")
struct RedundancyTests {
    private static let red = REDFormat(payloadType: PayloadType(63), framePayloadType: PayloadType(111))

    private func stream(_ redundancy: REDFormat? = Self.red) -> RTPStream {
        RTPStream(
            RTPStream.Configuration(
                ssrc: SSRC(0xAAAA), firstSequenceNumber: SequenceNumber(100), timestampOffset: 1000,
                clock: NTPClock(unixOffset: .seconds(1_700_000_000)), redundancy: redundancy))
    }

    private func frame(at ticks: Int64, _ bytes: [UInt8]) -> PacketizedFrame {
        let format = TrackFormat(codec: .opus)
        let coded = CodedFrame(
            bytes: [0, 0, 0, 1] + bytes, units: [4..<4 + bytes.count], isRandomAccess: true, captureTime: nil,
            format: format)
        return TrackFormat.Codec.opus.packetizer.packetize(coded, at: MediaTime(ticks: ticks), format: format)
    }

    @Test("a packet has the headers of both frames, the frame before and its own, whose time and marker it has")
    func bytes() throws {
        var stream = stream()
        var buffer: [UInt8] = []
        let first = frame(at: 0, [0xF0, 1, 2])
        let second = frame(at: 960, [0xF0, 3])
        let plain = stream.write(
            packet: 0,
            of: RTPStream.Frame(first, number: FrameNumber(0), payloadType: PayloadType(111), endsSilence: true),
            into: &buffer)
        #expect(plain?.content == .media(frame: FrameNumber(0), packet: 0))
        let sent = try #require(
            stream.write(
                packet: 0,
                of: RTPStream.Frame(second, number: FrameNumber(1), payloadType: PayloadType(111), after: first),
                into: &buffer))
        let packet = try RTPPacket(parsing: buffer[...])
        #expect(
            packet.header
                == RTPPacketHeader(
                    marker: false, payloadType: PayloadType(63), sequenceNumber: SequenceNumber(101),
                    timestamp: RTPTimestamp(1960), ssrc: SSRC(0xAAAA)))
        // 1, 111 (7 bits); 960 (14 bits), 3 (10 bits); 0, 111 (7 bits).
        #expect(Array(packet.payload) == [0xEF, 0x0F, 0x00, 0x03, 0x6F, 0xF0, 1, 2, 0xF0, 3])
        #expect(sent.content == .red(frame: FrameNumber(1)) && sent.payloadType == PayloadType(63))
        #expect(sent.byteCount == buffer.count)
        #expect(stream.statistics.octetCount == 3 + 10)
    }

    @Test(
        "the frame before is left out if it is too long or too far away, or if both don't fit into a datagram",
        arguments: [
            (16_383, 3, 3, true), (16_384, 3, 3, false), (0, 3, 3, false), (-480, 3, 3, false),
            (960, 1023, 110, true), (960, 1023, 111, false), (960, 1024, 3, false), (960, 1139, 3, false),
        ] as [(Int64, Int, Int, Bool)])
    func limits(offset: Int64, previousCount: Int, count: Int, isRedundant: Bool) throws {
        var stream = stream()
        var buffer: [UInt8] = []
        let previous = frame(at: 20_000, [UInt8](repeating: 1, count: previousCount))
        let own = [UInt8](repeating: 2, count: count)
        let both = RTPStream.Frame(
            frame(at: 20_000 + offset, own), number: FrameNumber(8), payloadType: PayloadType(111), after: previous)
        let sent = try #require(stream.write(packet: 0, of: both, into: &buffer))
        let packet = try RTPPacket(parsing: buffer[...])
        #expect(packet.header.payloadType == PayloadType(isRedundant ? 63 : 111))
        #expect(packet.payload.count == (isRedundant ? 5 + previousCount + count : count))
        #expect(Array(packet.payload.suffix(count)) == own)
        #expect(sent.byteCount == buffer.count && buffer.count <= 1200 - 16 - 2)
    }

    @Test("frames are alone in their packets if the peer takes no RED, or takes it for another payload type")
    func unsupported() throws {
        for (redundancy, type) in [(nil, 111), (Self.red, 112)] as [(REDFormat?, UInt8)] {
            var stream = stream(redundancy)
            var buffer: [UInt8] = []
            let both = RTPStream.Frame(
                frame(at: 960, [0xF0, 3]), number: FrameNumber(1), payloadType: PayloadType(type),
                after: frame(at: 0, [0xF0, 1, 2]))
            _ = stream.write(packet: 0, of: both, into: &buffer)
            let packet = try RTPPacket(parsing: buffer[...])
            #expect(packet.header.payloadType == PayloadType(type) && Array(packet.payload) == [0xF0, 3])
        }
    }

    @Test("a packet sent again has the very same bytes, and isn't sent once the frame before is gone")
    func again() throws {
        var stream = stream()
        var history = TrackHistory()
        var short = TrackHistory(maxUnitCount: 2)
        var buffer: [UInt8] = []
        var sent: [(packet: SentPacket, bytes: [UInt8])] = []
        var previous: PacketizedFrame?
        for index in UInt8(0)..<3 {
            let frame = frame(at: Int64(index) * 960, [0xF0, index])
            _ = short.append(frame, at: .zero)
            let both = RTPStream.Frame(
                frame, number: history.append(frame, at: .zero), payloadType: PayloadType(111), after: previous)
            let packet = try #require(stream.write(packet: 0, of: both, into: &buffer))
            sent.append((packet, buffer))
            previous = frame
        }
        #expect(sent.map(\.packet.payloadType.rawValue) == [111, 63, 63])
        for (packet, bytes) in sent {
            let isWritten = stream.writeRetransmission(packet, from: history, into: &buffer)
            #expect(isWritten)
            #expect(buffer == bytes)
        }
        #expect(stream.statistics.octetCount == 2 * (2 + 9 + 9))
        var written: [Bool] = []
        for (packet, _) in sent { written.append(stream.writeRetransmission(packet, from: short, into: &buffer)) }
        #expect(written == [false, false, true])
    }
}
