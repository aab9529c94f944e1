import MediaTypes
import Testing

@testable import RTP

@Suite("Opus in RTP")
struct OpusPacketizationTests {
    private func header(_ number: UInt16, _ timestamp: UInt32) -> RTPPacketHeader {
        RTPPacketHeader(
            marker: false, payloadType: PayloadType(111), sequenceNumber: SequenceNumber(number),
            timestamp: RTPTimestamp(timestamp), ssrc: SSRC(1))
    }

    @Test("each packet is a frame at once, without a marker, and the one after a loss is whole")
    func reassembly() {
        var reassembler = FrameReassembler(.opus)
        for (number, timestamp) in [(5, 0), (6, 480), (9, 1920)] as [(UInt16, UInt32)] {
            let packet: [UInt8] = [0xF8, UInt8(number), 1, 2]
            let frames = reassembler.receive(header(number, timestamp), payload: packet[...])
            #expect(frames.map(\.timestamp) == [RTPTimestamp(timestamp)])
            #expect(frames.map(\.contents?.units) == [[[0, 0, 0, 1] + packet]])
            #expect(frames.allSatisfy { $0.contents?.isRandomAccess == true })
        }
    }

    @Test("a frame goes into one packet, byte for byte, and one that fits no datagram into none")
    func packets() {
        for (count, isSent) in [
            (3, true), (RTPPayload.maxByteCount, true), (RTPPayload.maxByteCount + 1, false),
        ] {
            let packet = [0xF8] + [UInt8](repeating: 7, count: count - 1)
            let frame = CodedFrame(
                bytes: [0, 0, 0, 1] + packet, units: [4..<4 + count], isRandomAccess: true, captureTime: nil,
                format: TrackFormat(codec: .opus))
            let packetized = TrackFormat.Codec.opus.packetizer.packetize(
                frame, at: MediaTime(ticks: 0), format: TrackFormat(codec: .opus))
            let payloads = packetized.packets.map { payload in
                var bytes: [UInt8] = []
                payload.append(to: &bytes, from: frame.bytes)
                return bytes
            }
            #expect(payloads == (isSent ? [packet] : []))
        }
    }
}
