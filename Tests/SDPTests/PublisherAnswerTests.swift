import H264
import MediaTypes
import TestSupport
import Testing

@testable import SDP

struct PublisherAnswerTests {
    private func answer(to offer: String) throws -> (answer: PublisherAnswer, session: SessionDescription) {
        let answer = try PublisherAnswer(to: SessionDescription(parsing: offer), local: AnswerTests.local)
        #expect(
            answer.text.utf8.count { $0 == UInt8(ascii: "\n") } == answer.text.utf8.count { $0 == UInt8(ascii: "\r") })
        return (answer, try SessionDescription(parsing: answer.text))
    }

    private func error(of offer: String) -> SDPError? {
        do {
            _ = try answer(to: offer)
            return nil
        } catch {
            return error as? SDPError
        }
    }

    @Test("OBS gets its video and its sound taken, over one transport whose candidates its first section has")
    func obs() throws {
        let (answer, session) = try answer(to: PublisherOffers.obs)
        #expect(answer.video.payloadType == 96)
        #expect(answer.video.rtxPayloadType == nil)
        #expect(answer.video.feedback == [.nack, .pli])
        #expect(answer.media.dtlsRole == .server)
        #expect(answer.media.remoteUfrag == "riAt")
        #expect(session.isICELite)
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["0", "1"])])
        #expect(session.media.map(\.kind) == ["audio", "video"])
        #expect(session.media.map(\.formats) == [["111"], ["96"]])
        #expect(session.media.allSatisfy { $0.direction == .recvonly && $0.hasRTCPMux && $0.setup == .passive })
        #expect(session.media.allSatisfy { $0.iceUfrag == "host" && $0.fingerprints.count == 1 && $0.port == 8189 })
        #expect(session.media.map(\.candidates.count) == [2, 0])
        #expect(session.media[0].candidates.first?.address == "192.0.2.1")
        #expect(answer.text.contains("a=rtpmap:111 opus/48000/2\r\n"))
        #expect(answer.media.sections.map(\.kind) == [.video, .audio])
        #expect(answer.media.sections[1].format.payloadType == 111)
        #expect(answer.media.sections[1].format.track == TrackFormat(codec: .opus))
        #expect(session.media[1].codecs.map(\.feedback) == [["nack", "nack pli"]])
        #expect(
            session.media[1].codecs[0].parameters == [
                "level-asymmetry-allowed": "1", "packetization-mode": "1", "profile-level-id": "42e01f",
            ])
    }

    @Test("FFmpeg, which waits for DTLS, is called, and is not promised what it doesn't do")
    func ffmpeg() throws {
        let (answer, session) = try answer(to: PublisherOffers.ffmpeg)
        #expect(answer.video.payloadType == 106)
        #expect(answer.video.feedback == [])
        #expect(answer.media.dtlsRole == .client)
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["1"])])
        #expect(session.media.map(\.setup) == [.active])
        #expect(session.media[0].candidates.count == 2)
        #expect(session.media[0].codecs[0].parameters["profile-level-id"] == "422001f")
    }

    @Test("GStreamer's H.264 without parameters is taken, and its encoder is held to none")
    func gstreamer() throws {
        let (answer, session) = try answer(to: PublisherOffers.gstreamer)
        #expect(answer.video.payloadType == 96)
        #expect(answer.video.feedback == [.nack, .pli, .fir])
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["video0", "audio1"])])
        #expect(session.media[0].codecs.map(\.parameters) == [[:], ["apt": "96"]])
        #expect(!answer.text.contains("a=fmtp:96"))
        #expect(answer.text.contains("a=rtpmap:98 opus/48000/2\r\n"))
        #expect(session.media.map(\.isRejected) == [false, false])
    }

    @Test("of aiortc's codecs the one is taken that every viewer decodes")
    func aiortc() throws {
        let (answer, session) = try answer(to: PublisherOffers.aiortc)
        #expect(answer.video.payloadType == 101)
        #expect(answer.video.rtxPayloadType == 102)
        #expect(session.media.map(\.formats) == [["101", "102"]])
        #expect(session.media[0].codecs.map(\.name) == ["H264", "rtx"])
        #expect(session.media[0].codecs[1].parameters == ["apt": "101"])
        #expect(session.media[0].extensions.isEmpty)
        let chromium = Offers.chromium.replacing("a=recvonly", with: "a=sendrecv")
        #expect(try self.answer(to: chromium).answer.video.payloadType == 106)
        #expect(
            try self.answer(to: Offers.chromiumWith444.replacing("a=recvonly", with: "a=sendonly"))
                .answer.video.payloadType == 106)
    }

    @Test("packetization-mode 1 goes before 0, whatever the profiles are, and interleaved packets are not taken")
    func modes() throws {
        let both = PublisherOffers.obs.replacing(" 96\r\n", with: " 95 96\r\n").replacing(
            "a=rtpmap:96", with: "a=rtpmap:95 H264/90000\r\na=fmtp:95 profile-level-id=42e01f\r\na=rtpmap:96"
        ).replacing(
            "profile-level-id=42e01f;packetization-mode=1", with: "profile-level-id=64001f;packetization-mode=1")
        #expect(try answer(to: both).answer.video.payloadType == 96)
        let plain = PublisherOffers.obs.replacing("packetization-mode=1", with: "packetization-mode=0")
        #expect(try answer(to: plain).answer.text.contains("packetization-mode=0"))
        #expect(
            error(of: PublisherOffers.obs.replacing("packetization-mode=1", with: "packetization-mode=2"))
                == .noPacketizationMode)
    }

    @Test("who may be either side of DTLS is waited for, and who is active too", arguments: ["actpass", "active"])
    func roles(setup: String) throws {
        let (answer, session) = try answer(to: PublisherOffers.obs.replacing("actpass", with: setup))
        #expect(answer.media.dtlsRole == .server)
        #expect(session.media.map(\.setup) == [.passive, .passive])
    }

    @Test("an offer is refused as a whole, with its reason")
    func refusals() {
        let obs = PublisherOffers.obs
        #expect(error(of: obs.replacing("a=sendonly", with: "a=recvonly")) == .notSending(.recvonly))
        #expect(error(of: obs.replacing("a=group:BUNDLE 0 1", with: "a=group:BUNDLE 1")) == .notBundled)
        #expect(error(of: obs.replacing("opus/48000/2", with: "PCMU/8000")) == .noOpus(offered: ["PCMU"]))
        #expect(error(of: obs.replacing("H264/90000", with: "VP8/90000")) == .noCodec(offered: ["VP8"]))
        #expect(error(of: obs.replacing("a=setup:actpass", with: "a=setup:holdconn")) == .unsupportedSetup(.holdconn))
        #expect(error(of: obs.replacing("s=-\r\n", with: "s=-\r\na=ice-lite\r\n")) == .bothICELite)
        #expect(error(of: obs.replacing("m=video 9", with: "m=video 0")) == .noVideo)
        let video =
            "m=video" + (PublisherOffers.obs.split(separator: "m=video").last ?? "").replacing("mid:1", with: "mid:2")
        #expect(error(of: obs + video) == .severalSections(kind: "video"))
        let data = "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:2\r\na=sctp-port:5000\r\n"
        #expect(error(of: obs + data) == .unwantedSection(kind: "application"))
        for case let error? in [SDPError.notBundled, .noOpus(offered: ["PCMU"]), .notSending(.inactive)] as [SDPError?]
        {
            #expect(!error.description.isEmpty)
        }
    }

    @Test("a section that the publisher has turned off stays in its place, turned off")
    func rejectedSection() throws {
        let (_, session) = try answer(to: PublisherOffers.obs.replacing("m=audio 9", with: "m=audio 0"))
        #expect(session.media.map(\.isRejected) == [true, false])
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["1"])])
        #expect(session.media[1].candidates.count == 2)
    }

    @Test("every prefix of every offer, and 4000 changes of them, are answered or refused")
    func robustness() {
        var random = SeededRandom(seed: 11)
        for offer in [PublisherOffers.obs, PublisherOffers.ffmpeg, PublisherOffers.gstreamer, PublisherOffers.aiortc] {
            let bytes = Array(offer.utf8)
            for count in stride(from: 0, to: bytes.count, by: 3) { tryAnswer(Array(bytes.prefix(count))) }
            for _ in 0..<1000 { tryAnswer(random.mutation(of: bytes)) }
        }
    }

    private func tryAnswer(_ offer: [UInt8]) {
        guard let session = try? SessionDescription(parsing: offer) else { return }
        guard let answer = try? PublisherAnswer(to: session, local: AnswerTests.local) else { return }
        #expect(throws: Never.self) { try SessionDescription(parsing: answer.text) }
    }
}
