import CaptureLink
import H264
import MediaTypes
import Testing

@Suite("Writing messages")
struct MessageEncoderTests {
    @Test("every control message has the bytes of its vector")
    func controlMessages() throws {
        for (name, message, epoch, time) in LinkVectors.controlMessages {
            let encoder = MessageEncoder(epoch: epoch)
            #expect(try encoder.encode(message, captureTime: time) == LinkVectors.bytes(name), "\(name)")
        }
    }

    @Test("an access unit goes out as headers and parts of its own bytes")
    func accessUnit() throws {
        let bytes = LinkVectors.sps + LinkVectors.pps + LinkVectors.idr
        let first = LinkVectors.sps.count
        let second = first + LinkVectors.pps.count
        let unit = CodedFrame(
            h264: bytes, units: [4..<first, first + 4..<second, second + 4..<bytes.count],
            captureTime: LinkVectors.time)
        var written: [UInt8] = []
        for outgoing in try MessageEncoder(epoch: LinkVectors.epoch).headers(for: unit) {
            written += outgoing.header + bytes[outgoing.payload]
        }
        #expect(try written == LinkVectors.bytes("access-unit"))
    }

    @Test("sound goes out as packets of stream 1, behind its format")
    func sound() throws {
        let encoder = MessageEncoder(epoch: LinkVectors.epoch, stream: MessageHeader.soundStream)
        let written =
            try encoder.encode(.format(.opus))
            + encoder.unitHeader(
                payloadCount: LinkVectors.packet.count, captureTime: LinkVectors.time, endsFrame: true)
            + LinkVectors.packet
        #expect(try written == LinkVectors.bytes("sound"))
    }

    @Test(
        "the legacy forms have no kind, flags, time or control messages", arguments: [HeaderFormat.legacy40, .legacy16])
    func legacy(form: HeaderFormat) throws {
        let encoder = MessageEncoder(form: form, epoch: 99, stream: 3)
        var written: [UInt8] = []
        for payload in [LinkVectors.sps, LinkVectors.pps, LinkVectors.idr, LinkVectors.slice1] {
            written +=
                try encoder.unitHeader(
                    payloadCount: payload.count, captureTime: LinkVectors.time, endsFrame: true) + payload
        }
        #expect(try written == LinkVectors.bytes(form == .legacy40 ? "legacy40" : "legacy16"))
        #expect(encoder.encode(.requestKeyFrame).isEmpty)
    }

    @Test("a NAL unit that no receiver would take is refused by name")
    func limits() {
        let encoder = MessageEncoder(epoch: 1)
        #expect(throws: LinkError.unitTooShort(length: 4, offset: 0)) {
            try encoder.unitHeader(payloadCount: 4, captureTime: nil, endsFrame: true)
        }
        #expect(throws: LinkError.unitTooLong(length: 8_388_609, limit: 8_388_608, offset: 0)) {
            try encoder.unitHeader(payloadCount: 8_388_609, captureTime: nil, endsFrame: true)
        }
    }

    @Test("a long name is cut between characters")
    func longName() throws {
        let name = String(repeating: "ä", count: 300) + "end"
        let hello = Hello(role: .capture, name: "x" + name, processID: 1, makesKeyFrames: true)
        let (messages, error) = decode(MessageEncoder(epoch: 1).encode(.hello(hello)))
        #expect(error == nil)
        guard case .hello(let read)? = messages.first?.body else {
            Issue.record("no hello came out")
            return
        }
        #expect(read.name == "x" + String(repeating: "ä", count: 127))
    }

    @Test("a time that looks like a start code is moved by a nanosecond")
    func unmistakableTime() throws {
        let encoder = MessageEncoder(epoch: 5)
        let time = MonotonicTime(nanoseconds: 0x67_0100_0000)
        let bytes =
            try encoder.unitHeader(payloadCount: LinkVectors.sps.count, captureTime: time, endsFrame: false)
            + LinkVectors.sps
        let (messages, _) = decode(bytes)
        #expect(messages.first?.form == .extended)
        #expect(messages.first?.header.captureTime == time + Interval(nanoseconds: 1))
    }
}
