import MediaTypes
import RTP
import Testing

@Suite("Packets that a session remembers")
struct SentPacketTests {
    @Test("a sent packet is remembered in 24 bytes, with all that it was made of")
    func packetProperties() {
        #expect(MemoryLayout<SentPacket>.stride == 24)
        let contents: [SentPacket.Content] = [
            .media(frame: FrameNumber(0), packet: 0), .media(frame: FrameNumber(1 << 40 + 7), packet: 7000),
            .red(frame: FrameNumber(1 << 40 + 7)), .padding(1), .padding(255),
        ]
        for content in contents {
            for number in [UInt16.max, nil] {
                let marker = number != nil
                let packet = SentPacket(
                    sequenceNumber: SequenceNumber(65_535), timestamp: RTPTimestamp(.max),
                    payloadType: PayloadType(127), marker: marker,
                    extensions: number == nil ? .mid : [.mid, .transportNumber], transportNumber: number,
                    content: content, byteCount: 1200, playoutDelay: .withSound)
                #expect(packet.content == content)
                #expect(packet.marker == marker && packet.payloadType == PayloadType(127))
                #expect(packet.transportNumber == number && packet.byteCount == 1200)
                #expect(packet.playoutDelay == .withSound && packet.timestamp == RTPTimestamp(.max))
            }
        }
    }

    @Test("a packet of a frame with more packets than can be numbered is never taken for another one")
    func unnumberedPacket() {
        for index in [1 << 22 - 2, 1 << 22 - 1, 1 << 22, 1 << 40] {
            let packet = SentPacket(
                sequenceNumber: SequenceNumber(0), timestamp: RTPTimestamp(0), payloadType: PayloadType(96),
                marker: false, extensions: [], content: .media(frame: FrameNumber(5), packet: index), byteCount: 100)
            #expect(packet.content == .media(frame: FrameNumber(1 << 42 - 1), packet: 0))
        }
    }
}
