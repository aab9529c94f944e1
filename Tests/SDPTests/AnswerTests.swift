import H264
import MediaTypes
import TestSupport
import Testing

@testable import SDP

struct AnswerTests {
    static let local = LocalDescription(
        sessionID: .max, iceUfrag: "host", icePassword: "abcdefghijklmnopqrstuv",
        fingerprint: FingerprintAttribute(algorithm: "sha-256", bytes: Array(0..<32)),
        addresses: [HostAddress(address: "192.0.2.1", port: 8189), HostAddress(address: "2001:db8::1", port: 8189)],
        streams: [LocalStream(kind: .video, ssrc: 1111, rtxSSRC: 2222, trackID: "screen-video")], cname: "screenrelay")

    private func answer(
        to offer: String
    ) throws -> (answer: Answer, session: SessionDescription, video: MediaDescription) {
        let answer = try Answer(to: SessionDescription(parsing: offer), local: Self.local)
        let session = try SessionDescription(parsing: answer.text)
        return (answer, session, try #require(session.media.first { $0.kind == "video" }))
    }

    @Test("samples of pictures are for a viewer that asks for them without RFC 6904's encryption, and for no server")
    func samples() throws {
        let uri = "http://www.webrtc.org/experiments/rtp-hdrext/corruption-detection"
        func offer(_ line: String) -> String {
            Offers.chromium.replacing("a=recvonly", with: "a=extmap:\(line)\r\na=recvonly")
        }
        let asked = try answer(to: offer("14 \(uri)"))
        #expect(asked.answer.video.extensions.corruptionDetection == 14)
        #expect(asked.video.extensions.contains { $0.id == 14 && $0.uri == uri })
        for text in [Offers.chromium, offer("14 urn:ietf:params:rtp-hdrext:encrypt \(uri)"), offer("20 \(uri)")] {
            let unasked = try answer(to: text)
            #expect(unasked.answer.video.extensions.corruptionDetection == nil)
            #expect(!unasked.answer.text.contains(uri))
        }
        #expect(!Offer(local: Self.local, including444: true).text.contains(uri))
    }

    @Test("Chromium gets constrained baseline in mode 1 with RTX, feedback and extensions")
    func chromium() throws {
        let (answer, session, video) = try answer(to: Offers.chromium)
        #expect(answer.video.payloadType == 106)
        #expect(answer.video.rtxPayloadType == 107)
        #expect(answer.video.format.parameters.hasSuffix("profile-level-id=42e01f"))
        #expect(answer.video.mid == "0")
        #expect(answer.video.extensions.mid == 9)
        #expect(answer.video.extensions.absoluteCaptureTime == 12)
        #expect(answer.video.extensions.playoutDelay == 5)
        #expect(answer.video.feedback == [.nack, .pli, .fir])
        #expect(answer.video.hasReducedSizeRTCP)
        #expect(answer.media.remoteUfrag == "Qm3+")
        #expect(answer.media.remotePassword == "s8/LZ2Qk0TBzq1yMdP8N6bCr")
        #expect(answer.media.remoteFingerprint.algorithm == "sha-256")
        #expect(answer.media.remoteFingerprint.bytes.first == 0x5d)
        #expect(answer.media.dtlsRole == .server)

        #expect(session.isICELite)
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["0"])])
        #expect(session.media.count == 1)
        #expect(video.port == 8189)
        #expect(video.formats == ["106", "107"])
        #expect(video.direction == .sendonly)
        #expect(video.setup == .passive)
        #expect(video.hasRTCPMux && video.hasReducedSizeRTCP)
        #expect(video.iceUfrag == "host" && video.icePassword == "abcdefghijklmnopqrstuv")
        #expect(video.fingerprints == [Self.local.fingerprint])
        #expect(video.codecs.map(\.name) == ["H264", "rtx"])
        #expect(
            video.codecs[0].parameters == [
                "level-asymmetry-allowed": "1", "packetization-mode": "1", "profile-level-id": "42e01f",
            ])
        #expect(video.codecs[0].feedback == ["nack", "nack pli", "ccm fir"])
        #expect(video.codecs[1].parameters == ["apt": "106"])
        #expect(video.extensions.map(\.id) == [9, 12, 5])
        #expect(video.candidates.map(\.address) == ["192.0.2.1", "2001:db8::1"])
        #expect(video.candidates.map(\.priority) == [2_130_706_431, 2_130_706_175])
        #expect(video.candidates.map(\.foundation) == ["1", "2"])
        let lines = answer.text.split(separator: "\r\n")
        #expect(lines.contains("a=end-of-candidates"))
        #expect(
            lines.suffix(5) == [
                "a=ssrc-group:FID 1111 2222", "a=ssrc:1111 cname:screenrelay", "a=ssrc:1111 msid:screen screen-video",
                "a=ssrc:2222 cname:screenrelay", "a=ssrc:2222 msid:screen screen-video",
            ])
        #expect(
            answer.text.utf8.count { $0 == UInt8(ascii: "\n") } == answer.text.utf8.count { $0 == UInt8(ascii: "\r") })
    }

    @Test(
        "the profile is the stream's own where the peer lists it, else one whose decoders take it",
        arguments: [
            ("42e01f", 106), ("42c028", 106), ("42001f", 102), ("4d001f", 127), ("64001f", 112), ("640c1f", 112),
        ])
    func profiles(wanted: String, payloadType: UInt8) throws {
        let negotiation = H264Negotiation(profile: try #require(ProfileLevelID(hexText: wanted)))
        let video = try #require(SessionDescription(parsing: Offers.chromium).media.first)
        let chosen = try negotiation.sent(to: video.codecs.filter { $0.isNamed("H264") })
        #expect(chosen.map(\.0.payloadType) == [payloadType])
        #expect(
            MediaNegotiation.retransmission(of: chosen[0].0, in: video)
                == (payloadType == 127 ? 125 : payloadType + 1))
    }

    @Test(
        "a viewer who asks to measure the round trip is told that it may",
        arguments: [
            ("a=rtcp-xr:rcvr-rtt=all", true), ("a=rtcp-xr:stat-summary=loss rcvr-rtt=sender:100", true),
            ("a=rtcp-xr:stat-summary=loss", false), ("a=rtcp-xr:", false), ("a=rtcp-xr:= =", false),
        ])
    func receiverRoundTrip(line: String, isAccepted: Bool) throws {
        #expect(try !answer(to: Offers.chromium).video.hasReceiverRoundTrip)
        let inSection = Offers.chromium.replacing("a=rtcp-rsize", with: "a=rtcp-rsize\n\(line)")
        #expect(try answer(to: inSection).video.hasReceiverRoundTrip == isAccepted)
        let inSession = Offers.chromium.replacing("t=0 0", with: "t=0 0\n\(line)")
        #expect(try answer(to: inSession).video.hasReceiverRoundTrip == isAccepted)
    }

    @Test("without a compatible profile, H.264 in mode 1 is taken as it comes")
    func foreignProfile() throws {
        let offer = Offers.player.replacing("42C01F", with: "7a001f")
        let video = try answer(to: offer).answer.video
        #expect(video.payloadType == 96)
        #expect(video.format.parameters.hasSuffix("profile-level-id=7a001f"))
        let silent = Offers.player.replacing("; profile-level-id=42C01F", with: "")
        #expect(try answer(to: silent).answer.video.format.parameters.hasSuffix("profile-level-id=42000a"))
    }

    @Test("audio and data channel are refused in their places, and the bundle is the video alone")
    func audioAndData() throws {
        let (answer, session, video) = try answer(to: Offers.chromiumWithAudioAndData)
        #expect(session.media.map(\.kind) == ["audio", "video", "application"])
        #expect(session.media.map(\.isRejected) == [true, false, true])
        #expect(session.media.map(\.mid) == ["0", "1", "2"])
        #expect(session.media.map(\.transport) == ["UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVPF", "UDP/DTLS/SCTP"])
        #expect(session.media[2].formats == ["webrtc-datachannel"])
        #expect(session.groups == [.init(semantics: "BUNDLE", mids: ["1"])])
        #expect(answer.video.mid == "1")
        #expect(video.port == 8189)
    }

    @Test("a bundled section without transport of its own uses that of the group's first")
    func bundledTransport() throws {
        var lines: [String] = []
        var inVideo = false
        for line in Offers.chromiumWithAudioAndData.split(separator: "\r\n") {
            if line.hasPrefix("m=") { inVideo = line.hasPrefix("m=video") }
            let isTransport = ["a=ice-", "a=fingerprint", "a=setup", "a=rtcp-mux"].contains { line.hasPrefix($0) }
            if !inVideo || !isTransport { lines.append(String(line)) }
        }
        let media = try answer(to: lines.joined(separator: "\n")).answer.media
        #expect(media.remoteUfrag == "Qm3+")
        #expect(media.dtlsRole == .server)
    }

    @Test("Firefox's fingerprint at session level counts, and an extension's direction is turned round")
    func firefox() throws {
        let (answer, _, video) = try answer(to: Offers.firefox)
        #expect(answer.video.payloadType == 126)
        #expect(answer.video.rtxPayloadType == 127)
        #expect(answer.video.extensions.absoluteCaptureTime == nil)
        #expect(video.extensions.first { $0.id == 7 }?.direction == .sendonly)
        #expect(video.extensions.first { $0.id == 3 }?.direction == nil)
    }

    @Test("a small player without mid, group and RTX is served, and we begin DTLS where it waits")
    func player() throws {
        let (answer, session, video) = try answer(to: Offers.player)
        #expect(answer.video.payloadType == 96)
        #expect(answer.video.rtxPayloadType == nil)
        #expect(answer.video.mid == nil)
        #expect(answer.video.feedback == [.pli])
        #expect(answer.media.dtlsRole == .client)
        #expect(answer.media.remoteFingerprint.algorithm == "sha-256")
        #expect(session.groups.isEmpty)
        #expect(video.mid == nil)
        #expect(video.setup == .active)
        #expect(!answer.text.contains("a=ssrc-group:"))
        #expect(video.codecs[0].parameters["profile-level-id"] == "42c01f")
        #expect(video.codecs[0].parameters["level-asymmetry-allowed"] == nil)
    }

    @Test("who begins DTLS itself finds us waiting, and who may be either side what we prefer")
    func setups() throws {
        for setup in ["actpass", "active"] {
            let offer = Offers.player.replacing("setup:passive", with: "setup:\(setup)")
            #expect(try answer(to: offer).answer.media.dtlsRole == .server)
            let answer = try Answer(to: SessionDescription(parsing: offer), local: Self.local, role: .client)
            #expect(answer.media.dtlsRole == (setup == "actpass" ? .client : .server))
            #expect(answer.text.contains("a=setup:active") == (setup == "actpass"))
        }
        #expect(try answer(to: Offers.player.replacing("a=setup:passive", with: "")).answer.media.dtlsRole == .server)
    }

    @Test("extensions that are inactive, only sent by the peer, or of a number that needs two bytes are not used")
    func unusableExtensions() throws {
        let uri = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
        for line in ["7/inactive", "7/sendonly", "15", "16", "4096"] {
            let offer = Offers.firefox.replacing("7/recvonly \(uri)", with: "\(line) \(uri)")
            #expect(try answer(to: offer).answer.video.extensions.playoutDelay == nil)
        }
        let twice = Offers.firefox.replacing("7/recvonly \(uri)", with: "3 \(uri)")
        #expect(try answer(to: twice).answer.video.extensions.playoutDelay == nil)
    }

    @Test("of two video sections the first that fits is sent on, the other refused")
    func twoVideos() throws {
        let second = Offers.chromiumVideo(mid: "1")
        let session = Offers.chromium.replacing("BUNDLE 0", with: "BUNDLE 0 1")
        let both = try answer(to: session + second)
        #expect(both.session.media.map(\.isRejected) == [false, true])
        let (answer, parsed, _) = try answer(to: session.replacing("a=recvonly", with: "a=inactive") + second)
        #expect(parsed.media.map(\.isRejected) == [true, false])
        #expect(answer.video.mid == "1")
    }

    @Test("sha-256 is preferred among several fingerprints, and sha-384 and sha-512 are taken")
    func fingerprints() throws {
        let long = Array(repeating: "AB", count: 64).joined(separator: ":")
        let both = Offers.player.replacing("a=fingerprint:", with: "a=fingerprint:sha-512 \(long)\na=fingerprint:")
        #expect(try answer(to: both).answer.media.remoteFingerprint.algorithm == "sha-256")
        let alone = Offers.player.replacing(
            "a=fingerprint:SHA-256 \(Offers.fingerprint.lowercased())", with: "a=fingerprint:sha-512 \(long)")
        #expect(try answer(to: alone).answer.media.remoteFingerprint.bytes.count == 64)
    }

    @Test(
        "what is missing is named",
        arguments: [
            ("a=recvonly", "a=sendonly", SDPError.notReceiving(.sendonly)),
            ("a=recvonly", "a=inactive", .notReceiving(.inactive)),
            ("h264/90000", "VP8/90000", .noCodec(offered: ["VP8"])),
            ("a=rtpmap:96 h264/90000", "", .noCodec(offered: [])),
            ("packetization-mode=1", "packetization-mode=0", .noPacketizationMode1),
            ("packetization-mode=1; ", "", .noPacketizationMode1),
            ("a=rtcp-mux", "", .noRTCPMux),
            ("a=ice-ufrag:abcd", "", .noICECredentials),
            ("a=ice-pwd:0123456789012345678901", "", .noICECredentials),
            ("ice-ufrag:abcd", "ice-ufrag:abc", .badICECredentials),
            ("a=fingerprint:SHA-256", "a=x:", .noFingerprint),
            ("SHA-256", "md5", .unsupportedFingerprint(["md5"])),
            ("SHA-256", "sha-512", .unsupportedFingerprint(["sha-512"])),
            ("setup:passive", "setup:holdconn", .unsupportedSetup(.holdconn)),
            ("UDP/TLS/RTP/SAVPF", "RTP/AVP", .unsupportedTransport("RTP/AVP")),
            ("m=video", "m=audio", .noVideo),
            ("m=video 9", "m=video 0", .noVideo),
            ("t=0 0", "a=ice-lite", .bothICELite),
        ])
    func refusals(part: String, replacement: String, error: SDPError) throws {
        let offer = try SessionDescription(parsing: Offers.player.replacing(part, with: replacement))
        #expect(throws: error) { try Answer(to: offer, local: Self.local) }
        #expect(!error.description.isEmpty)
    }
}
