import TestSupport
import Testing

@testable import RTSP

@Suite("What an RTSP client sends")
struct RTSPReaderTests {
    private let options = "OPTIONS rtsp://h/live RTSP/1.0\r\nCSeq: 1\r\nUser-Agent:  x \r\n\r\n"

    private func items(_ bytes: [UInt8], step: Int) throws -> [RTSPReader.Item] {
        var reader = RTSPReader()
        var items: [RTSPReader.Item] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            reader.append(bytes[start..<min(start + step, bytes.count)])
            while let item = try reader.next() { items.append(item) }
        }
        return items
    }

    @Test("is the same however it is cut, with packets and bodies between the requests", arguments: [1, 2, 7, 1000])
    func cuts(step: Int) throws {
        let body = "SET_PARAMETER * RTSP/1.0\ncseq: 2\nContent-Length: 5\n\nab\r\nc\r\n"
        let bytes = Array(options.utf8) + [0x24, 1, 0, 3, 9, 8, 7] + Array(body.utf8) + Array(options.utf8)
        let found = try items(bytes, step: step)
        try #require(found.count == 4)
        guard case .request(let first) = found[0], case .packet(1, let packet) = found[1],
            case .request(let second) = found[2], case .request(let third) = found[3]
        else {
            Issue.record("\(found)")
            return
        }
        #expect(first.method == "OPTIONS" && first.url == "rtsp://h/live" && first.sequence == "1")
        #expect(first.header("user-agent") == "x" && first.session == nil)
        #expect(Array(packet) == [9, 8, 7])
        #expect(second.method == "SET_PARAMETER" && second.sequence == "2")
        #expect(second.body == Array("ab\r\nc".utf8))
        #expect(third == first)
    }

    @Test(
        "is refused if it is no request",
        arguments: [
            ("HELLO\r\n\r\n", 400), ("PLAY rtsp://h RTSP/2.0\r\nCSeq: 1\r\n\r\n", 505),
            ("PLAY rtsp://h HTTP/1.1\r\n\r\n", 400), ("PLAY rtsp://h RTSP/1.0\r\nCSeq 1\r\n\r\n", 400),
            ("PLAY rtsp://h RTSP/1.0\r\nContent-Length: x\r\n\r\n", 400),
            ("PLAY rtsp://h RTSP/1.0\r\nContent-Length: -1\r\n\r\n", 400),
            ("PLAY rtsp://h RTSP/1.0\r\nContent-Length: 99999999999\r\n\r\n", 413),
            ("PLAY rtsp://h RTSP/1.0\r\nContent-Length: 4097\r\n\r\n", 413),
            ("PLAY rtsp://h RTSP/1.0\r\n" + String(repeating: "a:\r\n", count: 100) + "\r\n", 413),
            (String(repeating: "x", count: 9000), 413),
        ])
    func faults(text: String, status: Int) {
        var reader = RTSPReader()
        reader.append(Array(text.utf8)[...])
        do {
            let item = try reader.next()
            Issue.record("\(String(describing: item))")
        } catch {
            #expect(error.answer.status.rawValue == status)
        }
    }

    @Test("costs no more if it comes byte by byte: a head is read once")
    func pieces() throws {
        let head = "PLAY rtsp://h RTSP/1.0\nCSeq: 3\n" + String(repeating: "a: b\n", count: 97)
        var reader = RTSPReader()
        reader.append(Array((head + "Content-Length: 4096\n\n").utf8)[...])
        let early = try reader.next()
        #expect(early == nil)
        for index in 1...4096 {
            reader.append([0x0A])
            let item = try reader.next()
            #expect((item != nil) == (index == 4096) && reader.keptCount == 0)
        }
    }

    @Test("may be anything, without a trap and without growing")
    func anything() {
        var random = SeededRandom(seed: 15)
        let words = ["\r\n", "\n\n", "$", " ", "RTSP/1.0", "PLAY", "Content-Length: ", "7", ":", "\0", "é", "CSeq: 1"]
        for _ in 0..<2000 {
            var reader = RTSPReader()
            do {
                for _ in 0..<20 {
                    var bytes = Array((0..<6).map { _ in words.randomElement(using: &random)! }.joined().utf8)
                    if Bool.random(using: &random) { bytes.append(UInt8.random(in: 0...255, using: &random)) }
                    reader.append(bytes[...])
                    while let item = try reader.next() {
                        guard case .request(let request) = item else { continue }
                        _ = RTSPConversation(session: "a").step(for: request)
                    }
                }
            } catch {
                #expect(error.answer.status.rawValue >= 400)
            }
        }
    }
}

@Suite("RTSP's headers")
struct RTSPHeaderTests {
    @Test(
        "how packets go is the first way that is possible",
        arguments: [
            ("RTP/AVP/UDP;unicast;client_port=6001-(6002)", nil),
            ("RTP/AVP/UDP;unicast;client_port=6001-6002", .udp(rtp: 6001, rtcp: 6002)),
            ("RTP/AVP;unicast;client_port=6000", .udp(rtp: 6000, rtcp: 6001)),
            ("RTP/AVP;multicast;client_port=6000-6001,RTP/AVP/TCP", .interleaved(rtp: 0, rtcp: 1)),
            ("rtp/avp/tcp; unicast ;interleaved=4-5;mode=\"PLAY\"", .interleaved(rtp: 4, rtcp: 5)),
            ("RTP/AVP/TCP;interleaved=255", nil), ("RTP/AVP/TCP;interleaved=3-3", nil),
            ("RTP/AVP;unicast;client_port=0-1", nil), ("RTP/AVP;unicast;client_port=1023-1024", nil),
            ("RTP/AVP;unicast;client_port=1024-53", nil), ("RTP/AVP;client_port=70000-70001", nil),
            ("RTP/AVP/TCP;unicast;mode=RECORD", nil), ("RTP/AVP", nil), ("", nil), (";;=", nil),
            ("RTP/SAVP;client_port=1-2", nil),
        ] as [(String, RTSPTransport?)])
    func transport(header: String, transport: RTSPTransport?) {
        #expect(RTSPTransport(choosingFrom: header) == transport)
    }

    @Test(
        "a URL names a room, a track, a stream and a sound",
        arguments: [
            ("rtsp://h:554/live.264", "live.264", nil, nil, nil),
            ("rtsp://u:p@h/my%20desk/cam/track1", "my desk", "cam", .pictures, nil),
            ("RTSP://h/a/?x=/y", "a", nil, nil, nil), ("rtsp://h", nil, nil, nil, nil),
            ("rtsp://h/track1", nil, nil, .pictures, nil), ("rtsp://h/a/trackID=3/", "a", nil, .opus, nil),
            ("rtsp://h?audio=Opus#x", nil, nil, nil, "opus"), ("rtsp://h/a/track2?audio=", "a", "track2", nil, ""),
            // Some players put the stream behind all that they were given.
            ("rtsp://h/a?audio=pcmu/trackID=2", "a", nil, .pcmu, "pcmu"),
            ("rtsp://h/a/b?x=1&audio=none&audio=opus/track1", "a", "b", .pictures, "none"),
        ] as [(String, String?, String?, RTSPMedia?, String?)])
    func parts(text: String, room: String?, track: String?, media: RTSPMedia?, audio: String?) throws {
        let url = try #require(RTSPURL(text))
        #expect(url.place == RTSPPlace(room: room, track: track))
        #expect(url.media == media && url.audio == audio)
    }

    @Test(
        "and nothing if it is none",
        arguments: [
            "*", "/a", "http://h/a", "rtsp://h/a/b/c", "rtsp://h/%zz", "rtsp://h/%+1", "rtsp://h/%ff", "rtsp://h/%4",
            "",
        ])
    func noPlace(url: String) {
        #expect(RTSPURL(url) == nil)
    }

    @Test("base64 is that of RFC 4648", arguments: ["", "f", "fo", "foo", "foob", "fooba", "foobar"])
    func base64(text: String) {
        let known = [
            "": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE=",
            "foobar": "Zm9vYmFy",
        ]
        #expect(Base64.encoded(Array(text.utf8)) == known[text])
        #expect(Base64.decoded(known[text] ?? "?") == Array(text.utf8))
        #expect(Base64.decoded("Zg=") == nil && Base64.decoded("Z*==") == nil && Base64.decoded("====") == nil)
    }

    @Test("a token is proven by Basic, or by Digest for the right method, nonce and realm")
    func credentials() throws {
        #expect(RTSPCredentials("Basic dmlld2VyOmE6Yg==") == .basic(user: "viewer", password: "a:b"))
        for bad in ["Basic ?", "Basic dmlld2Vy", "Bearer x", "", "Digest", "Digest username=\"a"] {
            #expect(RTSPCredentials(bad) == nil, "\(bad)")
        }
        // Instead of a digest, the text itself shows what is put together.
        let header =
            "Digest username=\"v\", realm=\"screenrelay\",nonce=\"n\", uri=\"rtsp://h/a\", response=\"((v:screenrelay:t):n:"
            + "(play:rtsp://h/a))\""
        guard case .digest(let digest)? = RTSPCredentials(header) else {
            Issue.record("not read")
            return
        }
        func proves(_ token: String, _ method: String, _ nonce: String) -> Bool {
            digest.proves(token, method: method, nonce: nonce) { "(\($0))" }
        }
        #expect(proves("t", "play", "n"))
        #expect(!proves("u", "play", "n") && !proves("t", "stop", "n") && !proves("t", "play", "m"))
    }
}
