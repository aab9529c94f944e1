import MediaTypes
import TestSupport
import Testing

@testable import SDP

@Suite("Sound in offer and answer")
struct SoundTests {
    /// Our description if we have sound, too.
    private static let local: LocalDescription = {
        var local = AnswerTests.local
        local.streams.append(LocalStream(kind: .audio, ssrc: 3333, rtxSSRC: 4444, trackID: "screen-sound"))
        local.takesCongestionFeedback = true
        return local
    }()
    private static let audioFirst = Offers.chromiumWithAudioAndData
    /// The audio section of `audioFirst`.
    private static let audio = "m=\(audioFirst.split(separator: "\r\nm=")[1])\r\n"
    private static let audioSecond =
        Offers.chromium.replacing("BUNDLE 0", with: "BUNDLE 0 1") + audio.replacing("a=mid:0", with: "a=mid:1")

    private func answer(
        to offer: String, local: LocalDescription = Self.local
    ) throws -> (answer: Answer, session: SessionDescription) {
        let answer = try Answer(to: SessionDescription(parsing: offer), local: local)
        return (answer, try SessionDescription(parsing: answer.text))
    }

    @Test("an audio section before the video is accepted in its place, and has the candidates of the bundle")
    func first() throws {
        let (answer, session) = try answer(to: Self.audioFirst)
        #expect(session.media.map(\.kind) == ["audio", "video", "application"])
        #expect(session.media.map(\.isRejected) == [false, false, true])
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["0", "1"])])
        #expect(session.media.map(\.candidates.count) == [2, 0, 0])
        #expect(answer.media.sections.map(\.kind) == [.audio, .video])
        #expect(answer.media.sections.map(\.mid) == ["0", "1"])
        #expect(answer.media.remoteUfrag == Offers.chromiumUfrag)

        let audio = session.media[0]
        #expect(audio.formats == ["111", "63"] && audio.direction == .sendonly && audio.hasRTCPMux)
        #expect(audio.iceUfrag == "host" && audio.fingerprints == [Self.local.fingerprint])
        #expect(answer.text.contains("a=rtpmap:111 opus/48000/2\r\n"))
        #expect(
            audio.codecs.map(\.parameters) == [
                ["minptime": "10", "useinbandfec": "1", "stereo": "1", "sprop-stereo": "1"], ["111/111": ""],
            ])
        #expect(audio.codecs.map(\.feedback) == [[], []])
        let sources = answer.text.split(separator: "\r\n").filter { $0.hasPrefix("a=ssrc") }
        #expect(
            sources.prefix(3) == [
                "a=ssrc:3333 cname:screenrelay", "a=ssrc:3333 msid:screen screen-sound", "a=ssrc-group:FID 1111 2222",
            ])
    }

    @Test("an audio section after the video is accepted too, and of several the first alone")
    func second() throws {
        let (answer, session) = try answer(to: Self.audioSecond)
        #expect(session.media.map(\.isRejected) == [false, false])
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["0", "1"])])
        #expect(session.media.map(\.candidates.count) == [2, 0])
        #expect(answer.media.sections.map(\.kind) == [.video, .audio])

        let twice =
            Self.audioSecond.replacing("BUNDLE 0 1", with: "BUNDLE 0 1 2")
            + Self.audio.replacing("a=mid:0", with: "a=mid:2")
        #expect(try self.answer(to: twice).session.media.map(\.isRejected) == [false, false, true])
    }

    @Test("the bundle's transport is that of the section that its group names first")
    func transport() throws {
        let turned = Self.audioFirst.replacing("BUNDLE 0 1 2", with: "BUNDLE 1 0 2")
        let (answer, session) = try answer(to: turned)
        #expect(answer.media.sections.map(\.kind) == [.video, .audio])
        #expect(session.groups.map(\.mids) == [["1", "0"]])
        #expect(session.media.map(\.candidates.count) == [0, 2, 0])
    }

    @Test(
        "sound that can't be sent is refused, and nothing else is different from an answer without sound",
        arguments: [
            ("BUNDLE 0 1 2", "BUNDLE 1 2"), ("m=audio 9", "m=audio 0"), ("opus/48000", "PCMU/8000"),
            ("a=mid:0\r\na=sendrecv", "a=mid:0\r\na=sendonly"), ("a=mid:0\r\na=sendrecv", "a=mid:0\r\na=inactive"),
            ("m=audio 9 UDP/TLS/RTP/SAVPF", "m=audio 9 RTP/AVP"),
        ])
    func refused(part: String, replacement: String) throws {
        let offer = Self.audioFirst.replacing(part, with: replacement)
        let (answer, session) = try answer(to: offer)
        #expect(session.media.map(\.isRejected) == [true, false, true])
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["1"])])
        #expect(answer.media.sections.map(\.kind) == [.video])
        var silent = Self.local
        silent.streams.removeAll { $0.kind == .audio }
        #expect(try self.answer(to: offer, local: silent).answer == answer)
    }

    @Test("an offer of audio alone is refused")
    func alone() throws {
        let offer = try SessionDescription(parsing: "v=0\r\na=group:BUNDLE 0\r\n" + Self.audio)
        #expect(throws: SDPError.noVideo) { try Answer(to: offer, local: Self.local) }
    }

    @Test("feedback and extensions of pictures aren't agreed on for sound, and the others as the peer lists them")
    func feedback() throws {
        let number = "a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n"
        let delay = "a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay\r\n"
        let opus = "a=rtpmap:111 opus/48000/2\r\n"
        let lines = ["nack", "nack pli", "ccm fir", "transport-cc", "goog-remb"].map { "a=rtcp-fb:111 \($0)\r\n" }
        let offer = Self.audioFirst.replacing(opus, with: opus + number + delay + lines.joined())
        let (answer, session) = try answer(to: offer)
        let audio = try #require(answer.media.sections.first)
        #expect(audio.kind == .audio && audio.feedback == [.nack, .transportWide])
        #expect(audio.extensions.transportNumber == 4 && audio.extensions.playoutDelay == nil)
        #expect(audio.rtxPayloadType == nil)
        #expect(session.media[0].codecs.map(\.feedback) == [["nack", "transport-cc"], []])

        let plain = try self.answer(to: offer.replacing("a=rtcp-fb:111 transport-cc\r\n", with: "")).answer
        #expect(plain.media.sections[0].feedback == [.nack])
        #expect(plain.media.sections[0].extensions.transportNumber == nil)

        let measuring = Self.audioFirst.replacing("t=0 0", with: "t=0 0\r\na=rtcp-xr:rcvr-rtt=all")
        #expect(try self.answer(to: measuring).session.media.map(\.hasReceiverRoundTrip) == [false, true, false])
    }

    @Test("of what Chromium lists for sound, Opus is accepted, and RED of Opus after it")
    func redundancy() throws {
        let listed = """
            m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
            c=IN IP4 0.0.0.0
            a=mid:1
            a=recvonly
            a=rtcp-mux
            a=rtcp-rsize
            a=rtpmap:111 opus/48000/2
            a=rtcp-fb:111 transport-cc
            a=fmtp:111 minptime=10;useinbandfec=1;stereo=1
            a=rtpmap:63 red/48000/2
            a=fmtp:63 111/111
            a=rtpmap:9 G722/8000
            a=rtpmap:0 PCMU/8000
            a=rtpmap:8 PCMA/8000
            a=rtpmap:13 CN/8000
            a=rtpmap:110 telephone-event/48000
            a=rtpmap:126 telephone-event/8000

            """
        let offer = Offers.chromium.replacing("BUNDLE 0", with: "BUNDLE 0 1") + listed
        let (answer, session) = try answer(to: offer)
        #expect(answer.media.sections.map(\.kind) == [.video, .audio])
        #expect(answer.media.sections[1].payloadType == 111 && answer.media.sections[1].redPayloadType == 63)
        #expect(answer.media.sections[0].redPayloadType == nil)
        #expect(session.media[1].formats == ["111", "63"])
        #expect(answer.text.contains("a=rtpmap:63 red/48000/2\r\na=fmtp:63 111/111\r\n"))
    }

    @Test(
        "RED of anything but the Opus that is sent is left out",
        arguments: [
            ("a=fmtp:63 111/111\r\n", ""), ("a=fmtp:63 111/111", "a=fmtp:63 0/0"),
            ("a=fmtp:63 111/111", "a=fmtp:63 111/0"), ("red/48000/2", "red/8000"), ("red/48000/2", "rad/48000/2"),
        ])
    func otherRedundancy(part: String, replacement: String) throws {
        let (answer, session) = try answer(to: Self.audioFirst.replacing(part, with: replacement))
        #expect(session.media[0].formats == ["111"])
        #expect(answer.media.sections.map(\.kind) == [.audio, .video])
        #expect(answer.media.sections[0].redPayloadType == nil)
    }

    @Test("every prefix and every random change of an offer with sound is answered or refused")
    func prefixesAndMutations() {
        func exercise(_ bytes: [UInt8]) {
            guard let offer = try? SessionDescription(parsing: bytes),
                let answer = try? Answer(to: offer, local: Self.local)
            else { return }
            #expect(throws: Never.self) { try SessionDescription(parsing: answer.text) }
            #expect((1...2).contains(answer.media.sections.count))
        }
        var random = SeededRandom(seed: 7587)
        for offer in [Self.audioFirst, Self.audioSecond] {
            let bytes = Array(offer.utf8)
            for count in stride(from: 0, to: bytes.count, by: 3) { exercise(Array(bytes.prefix(count))) }
            for _ in 0..<500 { exercise(random.mutation(of: bytes)) }
        }
    }

    // MARK: Our offer

    private static let audioAnswer = """
        m=audio 9 UDP/TLS/RTP/SAVPF 96
        c=IN IP4 0.0.0.0
        a=mid:1
        a=recvonly
        a=rtcp-mux
        a=rtpmap:96 opus/48000/2
        a=fmtp:96 minptime=10;useinbandfec=1
        a=rtcp-fb:96 nack

        """
    private static let bundled = Answers.chromium.replacing("BUNDLE 0", with: "BUNDLE 0 1")

    private func negotiated(with answer: String) throws -> NegotiatedMedia {
        try Offer(local: Self.local, including444: true).negotiated(with: SessionDescription(parsing: answer))
    }

    @Test("our offer has the video and then the sound in one bundle")
    func ownOffer() throws {
        let text = Offer(local: Self.local, including444: true).text
        let session = try SessionDescription(parsing: text)
        #expect(session.media.map(\.kind) == ["video", "audio"])
        #expect(session.media.map(\.mid) == ["0", "1"])
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["0", "1"])])
        #expect(session.media.map(\.candidates.count) == [2, 0])
        #expect(session.media.allSatisfy { $0.iceUfrag == "host" && $0.setup == .actpass && $0.hasRTCPMux })
        let audio = session.media[1]
        #expect(audio.formats == ["96", "97"] && audio.direction == .sendonly)
        #expect(text.contains("a=rtpmap:96 opus/48000/2\r\n"))
        #expect(text.contains("a=rtpmap:97 red/48000/2\r\na=fmtp:97 96/96\r\n"))
        #expect(audio.codecs.map(\.feedback) == [["nack", "transport-cc"], []])
        #expect(session.media[0].extensions.map(\.id) == [1, 2, 3, 4])
        #expect(audio.extensions.map(\.id) == [1, 2, 4])
        #expect(text.hasSuffix("a=ssrc:3333 cname:screenrelay\r\na=ssrc:3333 msid:screen screen-sound\r\n"))
        #expect(text.split(separator: "a=ssrc-group:").count == 2)
    }

    @Test("an answer takes both, or the video alone")
    func answers() throws {
        let both = try negotiated(with: Self.bundled + Self.audioAnswer)
        #expect(both.sections.map(\.kind) == [.video, .audio])
        #expect(both.sections.map(\.mid) == ["0", "1"])
        #expect(both.sections[1].payloadType == 96 && both.sections[1].feedback == [.nack])
        #expect(both.remoteUfrag == Answers.ufrag)
        #expect(both.sections[1].redPayloadType == nil)
        let red = Self.audioAnswer.replacing("SAVPF 96", with: "SAVPF 96 97")
        let withRED = try negotiated(with: Self.bundled + red + "a=rtpmap:97 red/48000/2\na=fmtp:97 96/96\n")
        #expect(withRED.sections[1].payloadType == 96 && withRED.sections[1].redPayloadType == 97)

        let video = try negotiated(with: Answers.chromium)
        #expect(video.sections == [both.sections[0]])
        #expect(try negotiated(with: Self.bundled + "m=audio 0 UDP/TLS/RTP/SAVPF 96\n") == video)
        for (part, replacement) in [("m=audio 9", "m=audio 0"), ("opus/48000", "PCMU/8000"), ("recvonly", "inactive")] {
            let answer = Self.bundled + Self.audioAnswer.replacing(part, with: replacement)
            #expect(try negotiated(with: answer) == video)
        }
        #expect(try negotiated(with: Answers.chromium + Self.audioAnswer) == video)
    }

    @Test("an answer to something else is an error")
    func misfits() {
        let misfits = [
            Self.bundled + Self.audioAnswer.replacing("a=mid:1", with: "a=mid:2"),
            Self.bundled + Self.audioAnswer + Self.audioAnswer.replacing("a=mid:1", with: "a=mid:2"),
            Self.bundled + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\n",
        ]
        for answer in misfits {
            #expect(throws: SDPError.answerDoesNotFitOffer) { try negotiated(with: answer) }
        }
        let refusing = Self.bundled.replacing("m=video 9", with: "m=video 0") + Self.audioAnswer
        #expect(throws: SDPError.videoRejected) { try negotiated(with: refusing) }
    }
}
