import MediaTypes
import RTP
import TestSupport
import Testing

struct H264DepacketizerTests {
    /// The packets of `unit` as a receiver gets them.
    static func packets(
        _ unit: PacketizedFrame, first: SequenceNumber = SequenceNumber(0)
    ) -> [(header: RTPPacketHeader, payload: [UInt8])] {
        unit.packets.enumerated().map { index, payload in
            var bytes: [UInt8] = []
            payload.append(to: &bytes, from: unit.coded.bytes)
            let header = RTPPacketHeader(
                marker: index == unit.packets.count - 1, payloadType: PayloadType(96),
                sequenceNumber: first.advanced(by: index), timestamp: RTPTimestamp(unit.mediaTime, offset: 0),
                ssrc: SSRC(1))
            return (header, bytes)
        }
    }

    static func depacketize(_ unit: PacketizedFrame) -> [ReceivedFrame] {
        var reassembler = FrameReassembler(.h264)
        return packets(unit).flatMap { reassembler.receive($0.header, payload: $0.payload[...]) }
    }

    private func header(_ number: Int, at ticks: UInt32, marker: Bool = false) -> RTPPacketHeader {
        RTPPacketHeader(
            marker: marker, payloadType: PayloadType(96), sequenceNumber: SequenceNumber(0).advanced(by: number),
            timestamp: RTPTimestamp(ticks), ssrc: SSRC(1))
    }

    @Test(
        "every access unit of a stream comes out as the same NAL units",
        arguments: TestStreams.all)
    func streams(stream: TestStream) throws {
        let units = AccessUnits.split(stream: try stream.bytes())
        #expect(!units.isEmpty)
        var reassembler = FrameReassembler(.h264)
        var number = SequenceNumber(65500)
        for maximum in [1138, 200] {
            let packetizer = H264Packetizer(maxPayloadByteCount: maximum)
            for (index, unit) in units.enumerated() {
                let packetized = packetizer.packetize(unit, at: MediaTime(ticks: Int64(index) * 3000))
                var received: [ReceivedFrame] = []
                for packet in Self.packets(packetized, first: number) {
                    received += reassembler.receive(packet.header, payload: packet.payload[...])
                    number = number.next
                }
                let sent = AccessUnits.nalUnits(unit).filter { $0[0] & 0x1F != 9 && $0[0] & 0x1F != 12 }
                #expect(received.map(\.nalUnits) == [sent])
                #expect(received.map(\.isComplete) == [true])
            }
        }
    }

    @Test(
        "whichever one packet of a picture is lost, the picture is never called complete and never has a torn NAL unit")
    func oneLost() {
        let nalUnits = [
            [0x67, 1], [0x68, 2], AccessUnits.nalUnit(0x65, count: 3000), AccessUnits.nalUnit(0x65, count: 2000),
        ]
        let packetizer = H264Packetizer()
        let first = packetizer.packetize(AccessUnits.unit([[0x41, 0]]), at: MediaTime(ticks: 0))
        let second = packetizer.packetize(AccessUnits.unit(nalUnits), at: MediaTime(ticks: 1))
        let third = packetizer.packetize(AccessUnits.unit([[0x41, 1]]), at: MediaTime(ticks: 2))
        let fourth = packetizer.packetize(AccessUnits.unit([[0x41, 2]]), at: MediaTime(ticks: 3))
        for lost in second.packets.indices {
            var reassembler = FrameReassembler(.h264)
            var received: [ReceivedFrame] = []
            var all = Self.packets(first) + Self.packets(second, first: SequenceNumber(1))
            all += Self.packets(third, first: SequenceNumber(1).advanced(by: second.packets.count))
            all += Self.packets(fourth, first: SequenceNumber(2).advanced(by: second.packets.count))
            all.remove(at: 1 + lost)
            for packet in all { received += reassembler.receive(packet.header, payload: packet.payload[...]) }
            for unit in received where unit.timestamp == RTPTimestamp(1) {
                #expect(!unit.isComplete)
                #expect(unit.nalUnits.allSatisfy(nalUnits.contains))
            }
            #expect(received.last?.nalUnits == [[0x41, 2]])
            #expect(received.last?.isComplete == true)
        }
    }

    @Test("a packet that comes twice or late is dropped")
    func late() {
        var reassembler = FrameReassembler(.h264)
        #expect(reassembler.receive(header(5, at: 0, marker: true), payload: [0x41, 1]).count == 1)
        #expect(reassembler.receive(header(5, at: 0, marker: true), payload: [0x41, 1]).isEmpty)
        #expect(reassembler.receive(header(4, at: 0, marker: true), payload: [0x41, 1]).isEmpty)
    }

    @Test("a picture whose marker never comes ends where the next one begins")
    func lostMarker() {
        var reassembler = FrameReassembler(.h264)
        #expect(reassembler.receive(header(0, at: 0), payload: [0x41, 1]).isEmpty)
        let received = reassembler.receive(header(1, at: 9, marker: true), payload: [0x41, 2])
        #expect(received.map(\.nalUnits) == [[[0x41, 1]], [[0x41, 2]]])
        #expect(received.map(\.contents?.units) == [[[0, 0, 0, 1, 0x41, 1]], [[0, 0, 0, 1, 0x41, 2]]])
    }

    @Test("packets of padding fill their place in the sequence and make no picture")
    func padding() {
        var reassembler = FrameReassembler(.h264)
        #expect(reassembler.receive(header(0, at: 0, marker: true), payload: [0x41, 1]).count == 1)
        #expect(reassembler.receive(header(1, at: 0), payload: []).isEmpty)
        let next = reassembler.receive(header(2, at: 9, marker: true), payload: [0x41, 2])
        #expect(next.map(\.isComplete) == [true])
    }

    @Test(
        "payloads that are broken leave the picture incomplete",
        arguments: [
            [0x78], [0x78, 0], [0x78, 0, 9, 0x41], [0x78, 0, 0], [0x78, 0, 1, 0x1E], [0x7C], [0x7C, 0x80],
            [0x7C, 0x81], [0x7C, 0x41, 1], [0x7C, 0x9C, 1], [0x79, 0, 0, 0, 1, 0x41], [0x7D, 0x81, 0, 0, 1], [0x00],
        ] as [[UInt8]])
    func broken(payload: [UInt8]) {
        var reassembler = FrameReassembler(.h264)
        let received = reassembler.receive(header(0, at: 0, marker: true), payload: payload[...])
        #expect(received.map(\.isComplete) == [false])
    }

    @Test("a sender that never ends its picture takes no more than the limit")
    func bounded() {
        var reassembler = FrameReassembler(.h264)
        let body = [UInt8](repeating: 7, count: 60_000)
        for number in 0..<200 {
            let start: UInt8 = number == 0 ? 0x85 : 0x05
            #expect(reassembler.receive(header(number, at: 0), payload: [0x7C, start] + body).isEmpty)
        }
        let received = reassembler.receive(header(200, at: 0, marker: true), payload: [0x41, 1])
        #expect(received.map(\.isComplete) == [false])
    }

    @Test("a picture of 8 MiB is taken, and one of a byte more is not", arguments: [0, 1])
    func largestPicture(surplus: Int) {
        var reassembler = FrameReassembler(.h264)
        var received: [ReceivedFrame] = []
        let size = 64 << 10
        let last = (8 << 20) / size - 1
        for number in 0...last {
            let mark: UInt8 = number == 0 ? 0x80 : number == last ? 0x40 : 0
            let count = size - 2 + (number == last ? surplus : 0)
            let payload: [UInt8] = [0x7C, mark | 5] + [UInt8](repeating: 7, count: count)
            received += reassembler.receive(header(number, at: 0, marker: number == last), payload: payload[...])
        }
        #expect(received.map(\.isComplete) == [surplus == 0])
    }

    @Test("every prefix of every kind of payload is taken or counted as broken")
    func prefixes() {
        let unit = H264Packetizer(maxPayloadByteCount: 40).packetize(
            AccessUnits.unit([
                [0x67, 1], [0x68, 2], AccessUnits.nalUnit(0x65, count: 90), AccessUnits.nalUnit(0x41, count: 39),
            ]),
            at: MediaTime(ticks: 0))
        let packets = Self.packets(unit)
        for (cut, packet) in packets.enumerated() {
            for count in 1..<packet.payload.count {
                var reassembler = FrameReassembler(.h264)
                var received: [ReceivedFrame] = []
                for (index, other) in packets.enumerated() {
                    let payload = index == cut ? other.payload.prefix(count) : other.payload[...]
                    received += reassembler.receive(other.header, payload: payload)
                }
                #expect(received.count == 1)
                #expect(received.first?.nalUnits != AccessUnits.nalUnits(unit.coded))
            }
        }
    }

    @Test("20000 mutated packets in one stream are never trapped on")
    func mutations() {
        var random = SeededRandom(seed: 3)
        let unit = H264Packetizer(maxPayloadByteCount: 60).packetize(
            AccessUnits.unit([[0x67, 1], [0x68, 2], AccessUnits.nalUnit(0x65, count: 300)]), at: MediaTime(ticks: 0))
        let packets = Self.packets(unit)
        var reassembler = FrameReassembler(.h264)
        var number = SequenceNumber(0)
        var broken = 0
        for round in 0..<20_000 {
            var (header, payload) = packets[round % packets.count]
            header.sequenceNumber = number
            header.timestamp = RTPTimestamp(UInt32.random(in: 0..<2, using: &random))
            header.marker = Int.random(in: 0..<5, using: &random) == 0
            payload = random.mutation(of: payload)
            number = number.advanced(by: Int.random(in: 0..<20, using: &random) == 0 ? 5 : 1)
            for received in reassembler.receive(header, payload: payload[...]) {
                #expect(received.nalUnits.allSatisfy { !$0.isEmpty })
                broken += received.isComplete ? 0 : 1
            }
        }
        #expect(broken > 0)
    }
}
