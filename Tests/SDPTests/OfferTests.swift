import MediaTypes
import SDP
import TestSupport
import Testing

struct OfferTests {
    private let offer = Offer(local: AnswerTests.local)

    /// A server's answer to our offer.
    private func answer(replacing part: String = "", with replacement: String = "") throws -> SessionDescription {
        let text = """
            v=0
            o=- 5 1 IN IP4 0.0.0.0
            s=-
            t=0 0
            a=group:BUNDLE 0
            a=setup:active
            m=video 9 UDP/TLS/RTP/SAVPF 106 107
            c=IN IP4 0.0.0.0
            a=mid:0
            a=recvonly
            a=rtcp-mux
            a=ice-ufrag:abcd
            a=ice-pwd:0123456789012345678901
            a=fingerprint:sha-256 \(Offers.fingerprint)
            a=rtpmap:106 H264/90000
            a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
            a=rtcp-fb:106 nack
            a=rtpmap:107 rtx/90000
            a=fmtp:107 apt=106
            a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
            """
        return try SessionDescription(parsing: part.isEmpty ? text : text.replacing(part, with: replacement))
    }

    @Test("our offer has one sendonly video that either side may begin DTLS for")
    func text() throws {
        let session = try SessionDescription(parsing: offer.text)
        let video = try #require(session.media.first)
        #expect(session.media.count == 1)
        #expect(session.groups.map(\.mids) == [["0"]])
        #expect(video.direction == .sendonly)
        #expect(video.setup == .actpass)
        #expect(video.codecs.map(\.name) == ["H264", "rtx"])
        #expect(video.codecs[0].feedback == ["nack", "nack pli", "ccm fir"])
        #expect(video.extensions.count == 3)
        #expect(video.candidates.count == 2)
    }

    @Test("the answer to our offer gives what was agreed on")
    func negotiated() throws {
        let media = try offer.negotiated(with: answer())
        let video = media.video
        #expect(video.payloadType == 106)
        #expect(video.rtxPayloadType == 107)
        #expect(media.dtlsRole == .server)
        #expect(video.feedback == [.nack])
        #expect(video.extensions.mid == 1)
        #expect(video.extensions.playoutDelay == nil)
        #expect(!video.hasReducedSizeRTCP)
        #expect(try offer.negotiated(with: answer(replacing: "active", with: "passive")).dtlsRole == .client)
    }

    @Test("a host answers our offer to receive with 4:2:0 and 4:4:4, and with audio if it has any")
    func receiving() throws {
        var local = AnswerTests.local
        local.streams = []
        local.isICELite = false
        let offer = Offer(receivingAs: local)
        let session = try SessionDescription(parsing: offer.text)
        #expect(session.media.map(\.direction) == [.recvonly, .recvonly])
        #expect(session.media.map { $0.codecs.map(\.name) } == [["H264", "rtx", "H264", "rtx"], ["opus"]])
        #expect(!offer.text.contains("a=ssrc") && !session.isICELite)
        #expect(session.media.allSatisfy { $0.extensions.map(\.id) == [1] })
        #expect(session.media[0].codecs[0].feedback == ["nack", "nack pli", "transport-cc"])

        for hasSound in [false, true] {
            var host = AnswerTests.local
            host.takesCongestionFeedback = true
            if hasSound {
                host.streams.append(LocalStream(kind: .audio, ssrc: 3, rtxSSRC: 4, trackID: "screen-sound"))
            }
            let answer = try Answer(to: session, local: host)
            let media = try offer.negotiated(with: SessionDescription(parsing: answer.text))
            let kinds: [TrackFormat.Kind] = hasSound ? [.video, .audio] : [.video]
            #expect(media.sections.map(\.kind) == kinds)
            #expect(media.sections[0].formats.map(\.payloadType) == [106, 108])
            #expect(media.sections[0].formats.map(\.rtxPayloadType) == [107, 109])
            #expect(media.sections[0].format.feedback == [.nack, .pli, .transportWide])
            #expect(media.sections.allSatisfy { $0.extensions.transportNumber == 1 })
            #expect(media.dtlsRole == .client, "the host waits for DTLS unless it knows where the offer is from")
        }
    }

    @Test("who receives may number the payload types anew")
    func renumbered() throws {
        let video = try offer.negotiated(with: answer(replacing: "106", with: "96")).video
        #expect(video.payloadType == 96)
        #expect(video.rtxPayloadType == 107)
    }

    @Test(
        "an answer that refuses, or answers something else, is an error",
        arguments: [
            ("m=video 9", "m=video 0", SDPError.videoRejected),
            ("recvonly", "inactive", .notReceiving(.inactive)),
            ("setup:active", "setup:actpass", .unsupportedSetup(.actpass)),
            ("H264", "VP8", .noCodec(offered: ["VP8"])),
            ("packetization-mode=1", "packetization-mode=0", .noPacketizationMode1),
            ("mid:0", "mid:1", .answerDoesNotFitOffer),
            ("m=video", "m=audio", .answerDoesNotFitOffer),
            ("t=0 0", "a=ice-lite", .bothICELite),
        ])
    func refusals(part: String, replacement: String, error: SDPError) throws {
        let answer = try answer(replacing: part, with: replacement)
        #expect(throws: error) { try offer.negotiated(with: answer) }
    }
}
