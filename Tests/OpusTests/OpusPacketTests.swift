import CaptureLink
import MediaTypes
import Opus
import Testing

@Suite("An Opus packet")
struct OpusPacketTests {
    @Test(
        "says how long it is",
        arguments: [
            // config << 3 | stereo << 2 | code, as in RFC 6716 table 2.
            ([0x00], 10_000), ([0x18], 60_000), ([0x60], 10_000), ([0x68], 20_000), ([0x80], 2_500), ([0xF8], 20_000),
            ([0xF0], 10_000), ([0xF1], 20_000), ([0xF2], 20_000), ([0xF3, 0x06], 60_000), ([0xE3, 0xB0], 120_000),
        ] as [([UInt8], Int64)])
    func durations(bytes: [UInt8], microseconds: Int64) throws {
        let packet = try #require(OpusPacket((bytes + [1, 2, 3])[...]))
        #expect(packet.duration == .microseconds(microseconds))
        #expect(!packet.isStereo)
    }

    @Test("is none if it is empty, too long, or lasts more than 120 ms or no time at all")
    func refused() {
        #expect(OpusPacket([]) == nil)
        #expect(OpusPacket([0x03]) == nil)
        #expect(OpusPacket([0xFB, 0x00]) == nil)
        #expect(OpusPacket([0xFB, 0x07]) == nil)
        #expect(OpusPacket([0xFB, 0x06]) != nil)
        #expect(OpusPacket([UInt8](repeating: 0xF8, count: OpusPacket.byteLimit)[...]) != nil)
        #expect(OpusPacket([UInt8](repeating: 0xF8, count: OpusPacket.byteLimit + 1)[...]) == nil)
    }

    @Test("of silence is as long as it should be, up to 120 ms")
    func silence() throws {
        for count in 1...48 {
            let bytes = OpusPacket.silence(frameCount: count)
            let packet = try #require(OpusPacket(bytes[...]))
            #expect(packet.duration == OpusPacket.silentFrame * Int64(count))
            #expect(!packet.isStereo)
        }
        #expect(OpusPacket.silence(frameCount: 0) == [0xE3, 1, 0xFF, 0xFE])
        #expect(OpusPacket.silence(frameCount: .max) == OpusPacket.silence(frameCount: 48))
        #expect(OpusPacket.silence(frameCount: 48).count == 14)
    }

    @Test("becomes a frame of the link's stream 1, whose format can't become that of pictures")
    func onTheLink() throws {
        let encoder = MessageEncoder(epoch: 7, stream: 1)
        let payload: [UInt8] = [0, 0, 0, 1, 0xFC, 9, 9, 9]
        var bytes = encoder.encode(.format(.opus))
        bytes += encoder.encode(.format(.h264))
        bytes += try encoder.unitHeader(
            payloadCount: payload.count, captureTime: MonotonicTime(nanoseconds: 5), endsFrame: true)
        bytes += payload
        var decoder = MessageDecoder()
        var assembler = FrameAssembler(stream: 1)
        var pictures = FrameAssembler()
        decoder.push(bytes[...])
        while let message = try decoder.next() {
            assembler.add(message, at: .zero)
            pictures.add(message, at: .zero)
        }
        let first = assembler.next()
        let frame = try #require(first)
        #expect(frame.codec == .opus)
        #expect(frame.epoch == 7)
        #expect(frame.frame.bytes == payload)
        #expect(frame.frame.units == [4..<8])
        #expect(frame.frame.isRandomAccess)
        #expect(frame.frame.captureTime == MonotonicTime(nanoseconds: 5))
        #expect(frame.frame.format == TrackFormat(codec: .opus))
        let others = (assembler.next(), pictures.next())
        #expect(others.0 == nil && others.1 == nil)
        #expect(assembler.faults == 0)
    }
}
