import MediaTypes
import TestSupport
import Testing

@testable import SDP

@Suite("4:4:4 in offer and answer")
struct FullChromaAnswerTests {
    private func answer(to offer: String) throws -> (answer: Answer, video: MediaDescription) {
        let answer = try Answer(to: SessionDescription(parsing: offer), local: AnswerTests.local)
        let session = try SessionDescription(parsing: answer.text)
        return (answer, try #require(session.media.first { $0.kind == "video" }))
    }

    @Test("where the peer lists it, it has a payload type of its own, with retransmissions of its own")
    func both() throws {
        let (answer, video) = try answer(to: Offers.chromiumWith444)
        #expect(answer.video.payloadType == 106)
        #expect(answer.video.rtxPayloadType == 107)
        #expect(answer.video.format444?.payloadType == 41)
        #expect(answer.video.format444?.rtxPayloadType == 42)
        #expect(video.formats == ["106", "107", "41", "42"])
        #expect(video.codecs.map(\.name) == ["H264", "rtx", "H264", "rtx"])
        #expect(
            video.codecs.map { $0.parameters["profile-level-id"] ?? $0.parameters["apt"] } == [
                "42e01f", "106", "f4001f", "41",
            ])
        #expect(video.codecs[2].parameters["packetization-mode"] == "1")
        #expect(video.codecs[2].parameters["level-asymmetry-allowed"] == "1")
        #expect(video.codecs[2].feedback == ["nack", "nack pli", "ccm fir"])
        #expect(answer.text.split(separator: "a=ssrc-group:FID 1111 2222\r\n").count == 2, "one stream for both")
    }

    @Test("where the peer doesn't list it, it is not in the answer", arguments: [Offers.chromium, Offers.firefox])
    func without(offer: String) throws {
        let (answer, video) = try answer(to: offer)
        #expect(answer.video.format444 == nil)
        #expect(video.codecs.count == 2)
    }

    @Test("in packetization-mode 0 it isn't sent: where that comes first, the other is taken, where it is alone, none")
    func modeZero() throws {
        let end = ";profile-level-id=f4001f"
        let turned = Offers.chromiumWith444.replacing("mode=0\(end)", with: "mode=x\(end)")
            .replacing("mode=1\(end)", with: "mode=0\(end)").replacing("mode=x\(end)", with: "mode=1\(end)")
        #expect(try answer(to: turned).answer.video.format444?.payloadType == 43)
        let offer = Offers.chromiumWith444.replacing(
            "packetization-mode=1;profile-level-id=f4001f", with: "packetization-mode=0;profile-level-id=f4001f")
        #expect(try answer(to: offer).answer.video.format444 == nil)
    }

    @Test("a peer that lists nothing else gets 4:2:0 under the same payload type, since its decoder takes that")
    func alone() throws {
        let (answer, video) = try answer(to: Offers.player.replacing("42C01F", with: "f4001f"))
        #expect(answer.video.format.payloadType == answer.video.format444?.payloadType)
        #expect(answer.video.payloadType == 96)
        #expect(video.formats == ["96"])
    }

    @Test("a profile whose decoders take ours goes before it")
    func narrower() throws {
        let offer = Offers.chromiumWith444.replacing("42e01f", with: "f40028")
        #expect(try answer(to: offer).answer.video.payloadType == 102)
    }

    @Test("retransmissions for one of the two are agreed on alone")
    func oneRetransmission() throws {
        let (answer, video) = try answer(to: Offers.chromiumWith444.replacing("apt=106", with: "apt=111"))
        #expect(answer.video.rtxPayloadType == nil)
        #expect(video.formats == ["106", "41", "42"])
        #expect(answer.text.split(separator: "a=ssrc-group:").count == 2)
    }

    @Test("what an answer claims to 4:4:4 that we didn't offer is not sent")
    func ownOffer() throws {
        let offer = Offer(local: AnswerTests.local)
        let text = offer.text.replacing("a=sendonly", with: "a=recvonly").replacing("a=ice-lite\r\n", with: "")
            .replacing("a=setup:actpass", with: "a=setup:active").replacing(" 106 107", with: " 106 107 43")
        let more = "a=rtpmap:43 H264/90000\r\na=fmtp:43 packetization-mode=1;profile-level-id=f4001f\r\n"
        #expect(try offer.negotiated(with: SessionDescription(parsing: text + more)).video.format444 == nil)
    }
}

extension Answer {
    var video: NegotiatedSection { media.video }
}

extension PublisherAnswer {
    var video: NegotiatedSection { media.video }
}

extension NegotiatedMedia {
    /// The section of the video; an answer without one is an error.
    var video: NegotiatedSection { sections.first { $0.kind == .video } ?? sections[0] }
}

extension NegotiatedSection {
    var payloadType: UInt8 { format.payloadType }
    var rtxPayloadType: UInt8? { format.rtxPayloadType }
    var redPayloadType: UInt8? { format.redPayloadType }
    var feedback: Feedback { format.feedback }
    /// The format for 4:4:4, if the peer decodes that.
    var format444: Format? { formats.first { $0.track.chroma == .yuv444 } }
}
