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

    private mutating func setUp() throws {
        let place = try #require(RTSPPlace("rtsp://h/live/track1"))
        let answer = conversation.setUp(
            place, .udp(rtp: 6001, rtcp: 6002), at: "rtsp://h/live/track1", ports: (4000, 4001), source: "10.0.0.1",
            ssrc: 0xABC)
        #expect(
            text(answer) == "RTSP/1.0 200 OK\r\nCSeq: 7\r\nTransport: RTP/AVP;unicast;client_port=6001-6002;"
                + "server_port=4000-4001;source=10.0.0.1;ssrc=00000ABC\r\nSession: abc123;timeout=60\r\n\r\n")
    }

    @Test("has a session, that need not be named, from SETUP to TEARDOWN")
    mutating func session() throws {
        guard
            case .setUp(let place, .udp(6001, 6002)) = conversation.step(
                for: try request("SETUP rtsp://h/live/track1", "Transport: RTP/AVP/UDP;unicast;client_port=6001-6002"))
        else {
            Issue.record("not set up")
            return
        }
        #expect(place.room == "live")
        #expect(try status("PLAY rtsp://h/live") == 455)
        #expect(try status("PAUSE rtsp://h/live") == 455)
        #expect(try status("TEARDOWN rtsp://h/live") == 454)
        try setUp()
        #expect(try status("PLAY rtsp://h/live") == nil)
        #expect(try status("PLAY rtsp://h/live", "Session: abc123;timeout=60") == nil)
        #expect(try status("PLAY rtsp://h/live", "Session: other") == 454)
        #expect(
            text(conversation.playing(sequenceNumber: 9, timestamp: 77))
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

    @Test("answers what it can't do with RFC 2326's numbers")
    mutating func refusals() throws {
        #expect(try status("OPTIONS *") == 200)
        #expect(try status("GET_PARAMETER rtsp://h/live") == 200)
        #expect(try status("RECORD rtsp://h/live") == 405)
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

    @Test("a description has the parameter sets and the profile of a frame")
    func description() throws {
        let bytes: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x0B, 0xDA, 0, 0, 0, 1, 0x68, 0xCE, 0, 0, 0, 1, 0x65, 1]
        let frame = CodedFrame(
            bytes: bytes, units: [4..<9, 13..<15, 19..<21], isRandomAccess: true, captureTime: nil, format: nil)
        let text = try #require(RTSPDescription.text(of: frame, name: "a\nb", address: "::1", identifier: 5))
        #expect(text.hasPrefix("v=0\r\no=- 5 1 IN IP6 ::1\r\ns=a b\r\nc=IN IP6 ::\r\n"))
        #expect(
            text.hasSuffix(
                "a=control:*\r\na=range:npt=0-\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
                    + "a=fmtp:96 packetization-mode=1;profile-level-id=42C00B;sprop-parameter-sets=Z0LAC9o=,aM4=\r\n"
                    + "a=control:track1\r\n"))
        let bare = CodedFrame(
            bytes: bytes, units: [19..<21], isRandomAccess: true, captureTime: nil, format: nil)
        #expect(RTSPDescription.text(of: bare, name: "a", address: "1.2.3.4", identifier: 5) == nil)
        #expect(RTSPConversation.described("x", at: "rtsp://h/a?b").headers.last?.value == "rtsp://h/a/")
    }
}
