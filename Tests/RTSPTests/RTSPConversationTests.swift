import MediaTypes
import Testing

@testable import RTSP

@Suite("A conversation by RTSP")
struct RTSPConversationTests {
    private var conversation = RTSPConversation(session: "abc123")

    private func request(_ line: String, _ headers: String...) throws -> RTSPRequest {
        let head = (["\(line) RTSP/1.0", "CSeq: 7"] + headers).joined(separator: "\r\n")
        return try RTSPRequest(parsing: Array(head.utf8)[...])
    }

    private func status(_ line: String, _ headers: String...) throws -> Int? {
        let head = (["\(line) RTSP/1.0", "CSeq: 7"] + headers).joined(separator: "\r\n")
        guard case .answer(let answer) = conversation.step(for: try RTSPRequest(parsing: Array(head.utf8)[...])) else {
            return nil
        }
        return answer.status.rawValue
    }

    private func text(_ answer: RTSPAnswer) -> String { String(decoding: answer.bytes(to: "7"), as: UTF8.self) }

    private struct Refused: Error {}

    /// What a SETUP comes to.
    private func wish(_ url: String, _ transport: String) throws -> (RTSPPlace, RTSPMedia, RTSPTransport) {
        let step = conversation.step(for: try request("SETUP \(url)", "Transport: \(transport)"))
        guard case .setUp(let place, let media, let transport) = step else { throw Refused() }
        return (place, media, transport)
    }

    /// The sound that a player is offered.
    private func sound(_ url: String, _ player: String? = nil) throws -> [RTSPMedia] {
        let step = conversation.step(for: try request("DESCRIBE \(url)", "User-Agent: \(player ?? "")"))
        guard case .describe(RTSPPlace(room: "live", track: nil), let sound) = step else {
            Issue.record("\(step)")
            return []
        }
        return sound
    }

    private mutating func setUp() throws {
        let answer = conversation.setUp(
            RTSPPlace(room: "live", track: nil), .pictures, .udp(rtp: 6001, rtcp: 6002), at: "rtsp://h/live/track1",
            ports: (4000, 4001), source: "10.0.0.1", ssrc: 0xABC)
        #expect(
            text(answer) == "RTSP/1.0 200 OK\r\nCSeq: 7\r\nTransport: RTP/AVP;unicast;client_port=6001-6002;"
                + "server_port=4000-4001;source=10.0.0.1;ssrc=00000ABC\r\nSession: abc123;timeout=60\r\n\r\n")
    }

    @Test("has a session, that need not be named, from SETUP to TEARDOWN")
    mutating func session() throws {
        let (place, media, transport) = try wish(
            "rtsp://h/live/track1", "RTP/AVP/UDP;unicast;client_port=6001-6002")
        #expect(place.room == "live" && media == .pictures && transport == .udp(rtp: 6001, rtcp: 6002))
        #expect(try status("PLAY rtsp://h/live") == 455)
        #expect(try status("PAUSE rtsp://h/live") == 455)
        #expect(try status("TEARDOWN rtsp://h/live") == 454)
        try setUp()
        #expect(try status("PLAY rtsp://h/live") == nil)
        #expect(try status("PLAY rtsp://h/live", "Session: abc123;timeout=60") == nil)
        #expect(try status("PLAY rtsp://h/live", "Session: other") == 454)
        let playing = conversation.playing { _ in (sequenceNumber: 9, timestamp: 77) }
        #expect(
            text(playing)
                == "RTSP/1.0 200 OK\r\nCSeq: 7\r\nSession: abc123\r\nRange: npt=0.000-\r\n"
                + "RTP-Info: url=rtsp://h/live/track1;seq=9;rtptime=77\r\n\r\n")
        #expect(conversation.state == .playing)
        #expect(try status("SETUP rtsp://h/live/track1", "Transport: RTP/AVP/TCP") == 455)
        _ = conversation.paused()
        #expect(conversation.state == .ready)
        _ = conversation.tornDown()
        #expect(conversation.state == .idle && conversation.place == nil)
        #expect(try status("PLAY rtsp://h/live", "Session: abc123") == 454)
    }

    @Test("has all streams of its track that are set up, each on channels of its own")
    mutating func streams() throws {
        let (place, _, pictures) = try wish("rtsp://h/live/track1", "RTP/AVP/TCP;unicast")
        #expect(pictures == .interleaved(rtp: 0, rtcp: 1))
        _ = conversation.setUp(
            place, .pictures, pictures, at: "rtsp://h/live/track1", ports: (0, 0), source: "", ssrc: 1)
        // The same stream may keep its channels.
        #expect(try wish("rtsp://h/live/track1", "RTP/AVP/TCP;unicast").2 == .interleaved(rtp: 0, rtcp: 1))
        #expect(try wish("rtsp://h/live/trackID=2", "RTP/AVP/TCP;interleaved=4-5").2 == .interleaved(rtp: 4, rtcp: 5))
        #expect(try wish("rtsp://h/live/trackID=2", "RTP/AVP/TCP;interleaved=1-2").2 == .interleaved(rtp: 2, rtcp: 3))
        let (_, media, sound) = try wish("rtsp://h/live/trackID=3", "RTP/AVP/TCP;unicast")
        #expect(media == .opus && sound == .interleaved(rtp: 2, rtcp: 3))
        let answer = conversation.setUp(
            place, media, sound, at: "rtsp://h/live/trackID=3", ports: (0, 0), source: "", ssrc: 2)
        #expect(text(answer).contains("interleaved=2-3;ssrc=00000002\r\n"))
        #expect(conversation.streams.map(\.media) == [.pictures, .opus])
        let first: [RTSPMedia: (sequenceNumber: UInt16, timestamp: UInt32)] = [
            .pictures: (sequenceNumber: 1, timestamp: 2), .opus: (sequenceNumber: 3, timestamp: 4),
        ]
        let playing = conversation.playing { first[$0] }
        #expect(
            text(playing).contains(
                "RTP-Info: url=rtsp://h/live/track1;seq=1;rtptime=2,url=rtsp://h/live/trackID=3;seq=3;rtptime=4\r\n"))
        _ = conversation.tornDown()
        #expect(conversation.streams.isEmpty)
    }

    @Test("offers the sound that the URL asks for, or Opus, and PCMU beside it to a player that may not decode Opus")
    func soundChoice() throws {
        #expect(try sound("rtsp://h/live") == [.opus, .pcmu])
        #expect(try sound("rtsp://h/live", "a camera's recorder") == [.opus, .pcmu])
        let players = [
            "Lavf59.27.100", "libmpv", "GStreamer/1.22.0", "LibVLC/3.0.18 (LIVE555 Streaming Media v2016.11.28)",
        ]
        for player in players {
            #expect(try sound("rtsp://h/live", player) == [.opus], "\(player)")
            #expect(try sound("rtsp://h/live?audio=pcmu", player) == [.pcmu])
            #expect(try sound("rtsp://h/live?audio=none", player) == [])
            #expect(try sound("rtsp://h/live?audio=else", player) == [.opus])
        }
        #expect(try sound("rtsp://h/live?a=b&audio=OPUS") == [.opus])
    }

    @Test("answers what it can't do with RFC 2326's numbers")
    mutating func refusals() throws {
        #expect(try status("OPTIONS *") == 200)
        #expect(try status("GET_PARAMETER rtsp://h/live") == 200)
        #expect(try status("SET_PARAMETER rtsp://h/live") == 200)
        // Whatever its body is.
        #expect(try status("SET_PARAMETER rtsp://h/live", "Content-Type: text/parameters", "Content-Length: 9") == 200)
        #expect(try status("RECORD rtsp://h/live") == 455)
        #expect(try status("REDIRECT rtsp://h/live") == 405)
        #expect(try status("FLY rtsp://h/live") == 501)
        #expect(try status("DESCRIBE *") == 404)
        #expect(try status("PLAY rtsp://h", "Require: x") == 551)
        #expect(try status("SETUP rtsp://h/live") == 461)
        #expect(try status("SETUP rtsp://h/live", "Transport: RTP/AVP;multicast") == 461)
        try setUp()
        #expect(try status("SETUP rtsp://h/other", "Transport: RTP/AVP/TCP") == 459)
        let unnumbered = try RTSPRequest(parsing: Array("OPTIONS * RTSP/1.0".utf8)[...])
        guard case .answer(let answer) = conversation.step(for: unnumbered) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == .badRequest)
    }

    @Test("publishes from ANNOUNCE to TEARDOWN, over channels and ports that its streams don't share")
    mutating func publishing() throws {
        let text =
            "v=0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n"
            + "m=audio 0 RTP/AVP 0\r\na=control:track2\r\n"
        func wanted(_ url: String, _ transport: String) throws -> (Int, RTSPTransport) {
            let step = conversation.step(for: try request("SETUP \(url)", "Transport: \(transport)"))
            guard case .receive(let index, let transport) = step else { throw Refused() }
            return (index, transport)
        }
        guard
            case .announce(RTSPPlace(room: "live", track: "a")) = conversation.step(
                for: try request("ANNOUNCE rtsp://h/live/a"))
        else { throw Refused() }
        let place = RTSPPlace(room: "live", track: "a")
        _ = conversation.announced(try RTSPAnnouncement(parsing: Array(text.utf8)), at: place)
        for method in ["RECORD", "PLAY", "DESCRIBE", "ANNOUNCE", "PAUSE"] {
            #expect(try status("\(method) rtsp://h/live/a") == 455, "\(method)")
        }
        #expect(try status("SETUP rtsp://h/live/a/track3", "Transport: RTP/AVP/TCP") == 404)
        #expect(try status("SETUP rtsp://h/live/a/track1", "Transport: RTP/AVP/TCP;mode=PLAY") == 461)
        let udp = "RTP/AVP/UDP;unicast;client_port=6001-6002;mode=record"
        let first = try wanted("rtsp://h/live/a/track1", udp)
        #expect(first.0 == 0 && first.1 == .udp(rtp: 6001, rtcp: 6002))
        let answer = conversation.receiving(0, .udp(rtp: 6001, rtcp: 6002), ports: (4000, 4001), source: "10.0.0.1")
        #expect(
            self.text(answer).contains(
                "client_port=6001-6002;server_port=4000-4001;source=10.0.0.1;mode=record\r\n"
                    + "Session: abc123;timeout=60"))
        #expect(try status("SETUP rtsp://h/live/a/track2", "Transport: RTP/AVP;unicast;client_port=6002-6003") == 461)
        _ = conversation.receiving(0, .interleaved(rtp: 0, rtcp: 1), ports: (0, 0), source: "")
        let second = try wanted("rtsp://h/live/a/track2", "RTP/AVP/TCP;unicast;mode=\"RECORD\"")
        #expect(second.0 == 1 && second.1 == .interleaved(rtp: 2, rtcp: 3))
        _ = conversation.receiving(1, second.1, ports: (0, 0), source: "")
        #expect(try status("PLAY rtsp://h/live/a") == 455)
        // Without the session's name.
        guard case .record = conversation.step(for: try request("RECORD rtsp://h/live/a")) else { throw Refused() }
        let recording = conversation.recording()
        #expect(self.text(recording).contains("Session: abc123\r\n"))
        #expect(conversation.state == .recording)
        #expect(try status("SETUP rtsp://h/live/a/track1", "Transport: RTP/AVP/TCP") == 455)
        guard case .pause = conversation.step(for: try request("PAUSE rtsp://h/live/a")) else { throw Refused() }
        _ = conversation.tornDown()
        #expect(try status("RECORD rtsp://h/live/a") == 455)
    }

    @Test("a description has the parameter sets and the profile of a frame")
    func description() throws {
        let bytes: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x0B, 0xDA, 0, 0, 0, 1, 0x68, 0xCE, 0, 0, 0, 1, 0x65, 1]
        let frame = CodedFrame(
            bytes: bytes, units: [4..<9, 13..<15, 19..<21], isRandomAccess: true, captureTime: nil, format: nil)
        let pictures = try #require(RTSPDescription.pictures(of: frame))
        let text = RTSPDescription.text(pictures, name: "a\nb", address: "::1", identifier: 5)
        #expect(text.hasPrefix("v=0\r\no=- 5 1 IN IP6 ::1\r\ns=a b\r\nc=IN IP6 ::\r\n"))
        #expect(
            text.hasSuffix(
                "a=control:*\r\na=range:npt=0-\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
                    + "a=fmtp:96 packetization-mode=1;profile-level-id=42C00B;sprop-parameter-sets=Z0LAC9o=,aM4=\r\n"
                    + "a=control:track1\r\n"))
        let bare = CodedFrame(
            bytes: bytes, units: [19..<21], isRandomAccess: true, captureTime: nil, format: nil)
        #expect(RTSPDescription.pictures(of: bare) == nil)
        let both = RTSPDescription.text(
            pictures + RTSPDescription.sound(.opus), name: "a", address: "1.2.3.4", identifier: 5)
        #expect(
            both.hasSuffix(
                "a=control:track1\r\nm=audio 0 RTP/AVP 97\r\na=rtpmap:97 opus/48000/2\r\n"
                    + "a=fmtp:97 sprop-stereo=1\r\na=control:trackID=3\r\n"))
        #expect(
            RTSPDescription.sound(.pcmu) == ["m=audio 0 RTP/AVP 0", "a=rtpmap:0 PCMU/8000", "a=control:trackID=2"])
        #expect(RTSPConversation.described("x", at: "rtsp://h/a?b").headers.last?.value == "rtsp://h/a/")
    }
}
