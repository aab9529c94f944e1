import H264
import MediaTypes
import TestSupport
import Testing

@testable import SDP

@Suite("Our offer to a viewer, and its answer")
struct OwnOfferTests {
    private let offer = Offer(local: AnswerTests.local, including444: true)

    private func negotiated(with answer: String) throws -> NegotiatedMedia {
        try offer.negotiated(with: SessionDescription(parsing: answer))
    }

    @Test("the offer has a payload type for each profile, each with its retransmissions, in one stream")
    func text() throws {
        let session = try SessionDescription(parsing: offer.text)
        let video = try #require(session.media.first)
        #expect(session.isICELite)
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["0"])])
        #expect(session.media.count == 1)
        #expect(video.mid == "0" && video.direction == .sendonly && video.setup == .actpass)
        #expect(video.hasRTCPMux && video.hasReducedSizeRTCP && video.hasReceiverRoundTrip)
        #expect(video.formats == ["106", "107", "108", "109"])
        #expect(
            video.codecs.map { $0.parameters["profile-level-id"] ?? $0.parameters["apt"] } == [
                "42e01f", "106", "f4001f", "108",
            ])
        for codec in video.codecs where codec.name == "H264" {
            #expect(codec.parameters["packetization-mode"] == "1")
            #expect(codec.parameters["level-asymmetry-allowed"] == "1")
            #expect(codec.feedback == ["nack", "nack pli", "ccm fir"])
        }
        #expect(offer.text.contains("a=end-of-candidates\r\n"))
        #expect(offer.text.contains("a=ssrc-group:FID 1111 2222\r\n"))
        #expect(video.candidates.map(\.address) == ["192.0.2.1", "2001:db8::1"])
        #expect(video.extensions.map(\.id) == [1, 2, 3])
    }

    /// An IDR picture of that profile and level.
    private func start(_ level: UInt8, profile: UInt8 = 0x42) -> CodedFrame {
        let units: [[UInt8]] = [[0x67, profile, 0xC0, level, 0xDA], [0x68, 0xCE], [0x65, 0x88]]
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for unit in units {
            bytes += [0, 0, 0, 1]
            ranges.append(bytes.count..<bytes.count + unit.count)
            bytes += unit
        }
        return CodedFrame(h264: bytes, units: ranges, captureTime: nil)
    }

    @Test("the level of a stream above 3.1 is offered before that, each with a payload type of its own")
    func level() throws {
        func profiles(_ start: CodedFrame?) throws -> [String] {
            let offer = Offer(local: AnswerTests.local, beginningWith: start)
            let video = try #require(SessionDescription(parsing: offer.text).media.first)
            #expect(Set(video.formats).count == video.formats.count)
            return video.codecs.compactMap { $0.parameters["profile-level-id"] }
        }
        #expect(try profiles(start(0x28)) == ["42e028", "42e01f"])
        #expect(try profiles(start(0x34, profile: 0x64)) == ["42e034", "42e01f"])
        // What fits into 3.1, what the standard doesn't know, and what isn't known yet.
        for start in [start(0x1f), start(0x1e), start(0x0b), start(0xff), nil] {
            #expect(try profiles(start) == ["42e01f"])
        }
    }

    @Test(
        "a server may take the stream's level, the usual one or both",
        arguments: [
            ("106 42e028", 106 as UInt8), ("108 42e01f", 108), ("106 42e028, 108 42e01f", 106),
            ("108 42e01f, 106 42e028", 108), ("106 42e01f", 106),
        ])
    func levels(taken: String, payloadType: UInt8) throws {
        let forms = taken.split(separator: ", ").map { $0.split(separator: " ") }
        let lines = Answers.aiortc.split(separator: "\r\n").filter { !$0.contains(":106") && !$0.contains(":107") }
        var text = lines.joined(separator: "\r\n") + "\r\n"
        text = text.replacing(" 106 107", with: forms.map { " \($0[0])" }.joined())
        for form in forms {
            text += "a=rtpmap:\(form[0]) H264/90000\r\n"
            text += "a=fmtp:\(form[0]) level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\(form[1])\r\n"
        }
        let offer = Offer(local: AnswerTests.local, beginningWith: start(0x28))
        let media = try offer.negotiated(with: SessionDescription(parsing: text))
        #expect(media.video.formats.map { $0.payloadType } == [payloadType])
    }

    @Test("an offer of the controlling agent isn't ICE-lite, and an ICE-lite server may answer it")
    func controlling() throws {
        var local = AnswerTests.local
        local.isICELite = false
        let offer = Offer(local: local, including444: true)
        #expect(try !SessionDescription(parsing: offer.text).isICELite)
        let lite = Answers.aiortc.replacing("t=0 0", with: "a=ice-lite")
        let media = try offer.negotiated(with: SessionDescription(parsing: lite))
        #expect(media.remoteCandidates.map(\.address) == ["192.0.2.2", "2001:db8::2"])
        #expect(throws: SDPError.bothICELite) { try negotiated(with: lite) }
    }

    @Test("sound alone is offered in one section, and negotiated or refused in words")
    func soundAlone() throws {
        var local = AnswerTests.local
        local.streams = [LocalStream(kind: .audio, ssrc: 3333, rtxSSRC: 4444, trackID: "sound")]
        let offer = Offer(local: local)
        let session = try SessionDescription(parsing: offer.text)
        #expect(session.media.map(\.kind) == ["audio"] && session.media.map(\.mid) == ["1"])
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["1"])])
        #expect(session.media.first?.candidates.isEmpty == false)
        let answer = Answers.aiortc.replacing("m=video", with: "m=audio").replacing("a=mid:0", with: "a=mid:1")
            .replacing("BUNDLE 0", with: "BUNDLE 1").replacing("H264/90000", with: "opus/48000/2")
        let media = try offer.negotiated(with: SessionDescription(parsing: answer))
        #expect(media.sections.map(\.kind) == [.audio])
        let refused = answer.replacing("m=audio 35869", with: "m=audio 0")
        #expect(throws: SDPError.soundRejected) { try offer.negotiated(with: SessionDescription(parsing: refused)) }
        #expect(throws: SDPError.answerDoesNotFitOffer) {
            try offer.negotiated(with: SessionDescription(parsing: Answers.aiortc))
        }
    }

    @Test("the addresses that STUN servers see come behind the host's own, with a lower priority")
    func reflexive() throws {
        var local = AnswerTests.local
        local.reflexive = [
            ReflexiveAddress(
                address: HostAddress(address: "203.0.113.5", port: 40123),
                base: HostAddress(address: "192.0.2.1", port: 8189))
        ]
        let text = Offer(local: local, including444: true).text
        let video = try #require(try SessionDescription(parsing: text).media.first)
        #expect(video.candidates.map(\.address) == ["192.0.2.1", "2001:db8::1", "203.0.113.5"])
        #expect(video.candidates.map(\.type) == ["host", "host", "srflx"])
        #expect(video.candidates.map(\.foundation) == ["1", "2", "3"])
        let priorities = video.candidates.map(\.priority)
        #expect(priorities == priorities.sorted(by: >) && Set(priorities).count == 3)
        #expect(text.contains(" 203.0.113.5 40123 typ srflx raddr 192.0.2.1 rport 8189\r\na=end-of-candidates\r\n"))
    }

    @Test("Chromium takes both profiles with all that belongs to them")
    func chromium() throws {
        let media = try negotiated(with: Answers.chromium)
        let video = media.video
        #expect(media.sections.count == 1)
        #expect(video.payloadType == 106 && video.rtxPayloadType == 107)
        #expect(video.format444?.payloadType == 108 && video.format444?.rtxPayloadType == 109)
        #expect(video.mid == "0")
        #expect(video.extensions.mid == 1)
        #expect(video.extensions.absoluteCaptureTime == 2)
        #expect(video.extensions.playoutDelay == 3)
        #expect(video.feedback == [.nack, .pli, .fir])
        #expect(media.dtlsRole == .server)
        #expect(media.remoteUfrag == Answers.ufrag)
        #expect(video.hasReducedSizeRTCP)
    }

    @Test("aiortc and Firefox take 4:2:0 alone", arguments: [Answers.aiortc, Answers.firefox])
    func others(answer: String) throws {
        let media = try negotiated(with: answer)
        let video = media.video
        #expect(video.payloadType == 106 && video.rtxPayloadType == 107)
        #expect(video.format444 == nil)
        #expect(video.extensions.mid == 1)
        #expect(video.extensions.absoluteCaptureTime == nil)
        #expect(media.dtlsRole == .server)
        #expect(media.remoteFingerprint.algorithm == "sha-256")
        #expect(media.remoteUfrag == Answers.ufrag)
    }

    @Test("who takes 4:4:4 alone gets all under its payload type, and who waits for DTLS gets us as its client")
    func turned() throws {
        let alone = Answers.aiortc.replacing("42e01f", with: "f4001f").replacing("106", with: "108")
            .replacing("107", with: "109").replacing("setup:active", with: "setup:passive")
        let media = try negotiated(with: alone)
        let video = media.video
        #expect(video.format444?.payloadType == 108)
        #expect(video.payloadType == 108 && video.rtxPayloadType == 109)
        #expect(media.dtlsRole == .client)
    }

    @Test(
        "what can't be used is named",
        arguments: [
            ("m=video 9", "m=video 0", SDPError.videoRejected),
            ("H264/90000", "VP8/90000", .noCodec(offered: ["VP8"])),
            ("a=recvonly", "a=inactive", .notReceiving(.inactive)),
            ("a=setup:active", "a=setup:actpass", .unsupportedSetup(.actpass)),
            ("a=setup:active", "a=setup:holdconn", .unsupportedSetup(.holdconn)),
            ("a=rtcp-mux\r\n", "", .noRTCPMux),
            ("a=ice-ufrag:Qm3+\r\n", "", .noICECredentials),
            ("a=fingerprint", "a=x", .noFingerprint),
            ("m=video", "m=audio 9 RTP/AVP 0\r\nm=video", .answerDoesNotFitOffer),
            ("t=0 0", "a=ice-lite", .bothICELite),
        ])
    func refusals(part: String, replacement: String, error: SDPError) {
        #expect(throws: error) { try negotiated(with: Answers.chromium.replacing(part, with: replacement)) }
    }

    @Test("every prefix and every random change of an answer is agreed on or refused in words")
    func prefixesAndMutations() {
        func exercise(_ bytes: [UInt8]) {
            do {
                let media = try offer.negotiated(with: SessionDescription(parsing: bytes))
                #expect(media.remoteUfrag.utf8.count >= 4)
            } catch {
                #expect(!"\(error)".isEmpty)
            }
        }
        var random = SeededRandom(seed: 3264)
        for answer in [Answers.chromium, Answers.aiortc, Answers.firefox] {
            let bytes = Array(answer.utf8)
            for count in 0...bytes.count { exercise(Array(bytes.prefix(count))) }
            for _ in 0..<500 { exercise(random.mutation(of: bytes)) }
        }
    }
}
