import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("What one client may use")
struct LimitTests {
    private let sdp = ["Authorization": "Bearer secret", "Content-Type": "application/sdp"]

    @Test("a body that is announced too large is refused before it is sent")
    func announced() throws {
        let server = try RunningServer()
        let client = try RawClient(port: server.port)
        try client.send("POST /whep/desk HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50000000\r\n\r\n")
        #expect(try client.response().status == 413)
        // And who sends it all the same is cut off long before its end.
        #expect(try client.send([UInt8](repeating: 0, count: 50_000_000)) == false)
        #expect(
            try server.request("POST", "/whep/desk", sdp, body: "v=" + String(repeating: "0", count: 65534)).status
                == 201)
        #expect(
            try server.request("POST", "/whep/desk", sdp, body: "v=" + String(repeating: "0", count: 65535)).status
                == 413)
    }

    @Test("a body that comes in chunks is counted, and its sender cut off")
    func chunked() throws {
        let server = try RunningServer()
        let client = try RawClient(port: server.port)
        let head = "POST /whep/desk HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\n"
        try client.send(head + "Content-Type: application/sdp\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = Array("4000\r\n".utf8) + [UInt8](repeating: 0x76, count: 0x4000) + Array("\r\n".utf8)
        var taken = 0
        while taken < 3000, try client.send(chunk) { taken += 1 }
        #expect(taken < 3000)
        #expect(try client.response().status == 413)
        #expect(server.media.state.withLock { $0.offers.isEmpty })
        let small = try RawClient(port: server.port)
        try small.send(
            head + "Content-Type: application/sdp\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nv=0\r\n\r\n0\r\n\r\n")
        #expect(try small.response().status == 201)
    }

    @Test("a header without end is cut off")
    func endlessHeader() throws {
        let server = try RunningServer()
        let client = try RawClient(port: server.port)
        try client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        #expect(try client.send([UInt8](repeating: 0x61, count: 20_000_000)) == false)
        #expect(try server.request("GET", "/healthz").status == 204)
    }

    @Test("garbage ends its connection and nobody else's")
    func garbage() throws {
        let server = try RunningServer { $0.limits.requestTime = .milliseconds(300) }
        let witness = try WebSocketClient(port: server.port)
        let post = "POST /whep/desk HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        let requests = [
            "\r\n\r\n", "GET\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET / HTTP/9.9\r\nHost: a\r\n\r\n",
            "GET http://evil.example/ HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
            post + "Content-Length: -1\r\n\r\n", post + "Content-Length: 99999999999999999999999\r\n\r\n",
            post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        ]
        let clients = try requests.map { text in
            let client = try RawClient(port: server.port)
            try client.send(text)
            return client
        }
        for (client, text) in zip(clients, requests) {
            try eventually("an answer to \(text.debugDescription), or an end") {
                client.read()
                return client.isAtEnd || !client.received.isEmpty
            }
            let answer = String(decoding: client.received, as: UTF8.self)
            #expect(!answer.hasPrefix("HTTP/1.1 2") && !answer.hasPrefix("HTTP/1.0 2"))
        }
        _ = try witness.joinAsViewer("desk,secret")
    }

    @Test("mutated requests never end the server")
    func mutations() throws {
        let server = try RunningServer { $0.limits.requestTime = .milliseconds(300) }
        var random = SeededRandom(seed: 3)
        let valid = Array(
            "POST /whep/desk?room=a%20b HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://a:1\r\nAuthorization: Bearer secret\r\nContent-Type: application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n"
                .utf8)
        for _ in 0..<150 {
            let client = try RawClient(port: server.port)
            try client.send(random.mutation(of: valid))
        }
        // On a busy machine a whole request may take too long as well.
        try eventually("an answer") { (try? server.request("GET", "/healthz"))?.status == 204 }
    }

    @Test("a request that doesn't come to its end is cut off in time, a byte now and then notwithstanding")
    func slowRequest() throws {
        let server = try RunningServer { $0.limits.requestTime = .milliseconds(300) }
        let silent = try RawClient(port: server.port)
        let slow = try RawClient(port: server.port)
        try slow.send("GET / HTTP/1.1\r\n")
        try eventually("the slow one's end") {
            try slow.send("X: y\r\n")
            return slow.isAtEnd
        }
        try silent.waitForEnd()
    }

    @Test("connections that were cut off make room, even if their clients don't let go")
    func cutOffConnectionsAreGone() throws {
        let server = try RunningServer {
            $0.limits.requestTime = .milliseconds(300)
            $0.limits.connections = 4
        }
        let post = "POST /whep/desk HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        let beginnings = [
            "", "GET / HT", post + "Content-Length: 100\r\n\r\nabc", post + "Content-Length: 99999\r\n\r\nabc",
        ]
        let clients = try beginnings.map { text in
            let client = try RawClient(port: server.port)
            try client.send(text)
            return client
        }
        try eventually("room for another") { (try? server.request("GET", "/healthz"))?.status == 204 }
        let chunked = try RawClient(port: server.port)
        try chunked.send(post + "Transfer-Encoding: chunked\r\n\r\n")
        let chunk = Array("4000\r\n".utf8) + [UInt8](repeating: 0x76, count: 0x4000) + Array("\r\n".utf8)
        while try chunked.send(chunk) {}
        var others: [WebSocketClient] = []
        try eventually("room for four others") {
            if let other = try? WebSocketClient(port: server.port) { others.append(other) }
            return others.count == 4
        }
        withExtendedLifetime((clients, chunked, others)) {}
    }

    @Test(
        "connections past the limit are closed as they come where all are in rooms, and taken again when one has gone")
    func connections() throws {
        let server = try RunningServer { $0.limits.connections = 3 }
        var clients: [WebSocketClient] = []
        for _ in 0..<3 {
            let client = try WebSocketClient(port: server.port)
            _ = try client.joinAsViewer("desk,secret")
            clients.append(client)
        }
        try RawClient(port: server.port).waitForEnd()
        clients.removeLast()
        try eventually("room for another") { (try? server.request("GET", "/healthz"))?.status == 204 }
        for client in clients { _ = try client.joinAsViewer("desk,secret") }
    }

    @Test("the oldest connection that hasn't joined makes room for a new one, whatever it does")
    func idleConnections() throws {
        let server = try RunningServer { $0.limits.connections = 4 }
        let member = try WebSocketClient(port: server.port)
        _ = try member.joinAsViewer("desk,secret")
        let silent = try RawClient(port: server.port)
        let beginning = try RawClient(port: server.port)
        try beginning.send("GET / HT")
        let idle = try WebSocketClient(port: server.port)
        let newcomer = try WebSocketClient(port: server.port)
        try silent.waitForEnd()
        _ = try newcomer.joinAsViewer("desk,secret")
        let others = try (0..<2).map { _ in try RawClient(port: server.port) }
        try beginning.waitForEnd()
        try idle.raw.waitForEnd()
        // Members stay, and so does who came last.
        for client in [member, newcomer] { _ = try client.joinAsViewer("desk,secret") }
        for other in others { #expect(!other.isAtEnd) }
    }

    @Test("a connection that has had its answer makes room before an older one in the middle of a request")
    func answeredConnections() throws {
        let server = try RunningServer { $0.limits.connections = 2 }
        let busy = try RawClient(port: server.port)
        try busy.send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        let answered = try RawClient(port: server.port)
        _ = try answered.request("GET", "/healthz")
        #expect(try server.request("GET", "/healthz").status == 204)
        try answered.waitForEnd()
        try busy.send("\r\n")
        #expect(try busy.response(hasBody: false).status == 204)
    }

    @Test("a flood of connections doesn't keep out a viewer with the token")
    func connectionFlood() throws {
        let server = try RunningServer { $0.limits.connections = 16 }
        var flood: [RawClient] = []
        for round in 0..<20 {
            for _ in 0..<40 { flood.append(try RawClient(port: server.port)) }
            _ = try WebSocketClient(port: server.port).joinAsViewer("desk,secret")
            if round % 4 == 3 { flood = [] }
        }
    }

    @Test("before it joins a WebSocket may send four messages")
    func messagesBeforeJoining() throws {
        let server = try RunningServer()
        let quiet = try WebSocketClient(port: server.port)
        for _ in 0..<3 { try quiet.send("{}") }
        _ = try quiet.joinAsViewer("desk,secret")
        for _ in 0..<20 { try quiet.send("{}") }
        _ = try quiet.joinAsViewer("desk,secret")
        let talkative = try WebSocketClient(port: server.port)
        for _ in 0..<4 { try talkative.send("{}") }
        try talkative.send(event: "__join", "{\"room\":\"desk,secret\"}")
        #expect(try talkative.next() == .close(1008))
        // A ping is a message.
        let pinging = try WebSocketClient(port: server.port)
        for _ in 0..<5 { try pinging.raw.send(WebSocketClient.frame(9, [])) }
        for _ in 0..<4 { #expect(try pinging.next() == .pong([])) }
        #expect(try pinging.next() == .close(1008))
    }

    @Test("before it joins a WebSocket may send 4 KiB, in one message or in several")
    func bytesBeforeJoining() throws {
        let server = try RunningServer()
        let large = try WebSocketClient(port: server.port)
        try large.raw.send(WebSocketClient.frame(1, [UInt8](repeating: 0x20, count: 4097)))
        #expect(try large.next() == .close(1009))
        let several = try WebSocketClient(port: server.port)
        for _ in 0..<3 { try several.raw.send(WebSocketClient.frame(1, [UInt8](repeating: 0x20, count: 1500))) }
        #expect(try several.next() == .close(1009))
        let fitting = try WebSocketClient(port: server.port)
        try fitting.raw.send(WebSocketClient.frame(1, [UInt8](repeating: 0x20, count: 4000)))
        _ = try fitting.joinAsViewer("desk,secret")
    }

    @Test("an answer that is relayed to a member that doesn't read is left out like an offer")
    func relayedAnswers() throws {
        let server = try RunningServer {
            $0.limits.messagesPerSecond = 100_000
            // A slow machine, as under a sanitizer, must not take the reader for a dead one.
            $0.limits.pingTime = .seconds(600)
        }
        let reader = try WebSocketClient(port: server.port, takesLittle: true)
        try reader.send(event: "__join", "{\"room\":\"desk,secret\"}")
        let readerID = try #require(try reader.next(event: "_peers")["you"] as? String)
        let writer = try WebSocketClient(port: server.port)
        try writer.send(event: "__join", "{\"room\":\"desk,secret\"}")
        let writerID = try #require(try writer.next(event: "_peers")["you"] as? String)
        let sdp = String(repeating: "x", count: 60_000)
        for _ in 0..<200 {
            try reader.send(offer: "v=0", to: writerID)
            _ = try writer.next(event: "_offer")
            try writer.send(answer: sdp, to: readerID)
        }
        try writer.send(event: "__join", "{\"room\":\"desk,secret\"}")
        _ = try writer.next(event: "_peers")
        #expect(server.server.audience(of: "desk").members == 2)
        #expect(try reader.next(event: "_new_peer")["socketId"] as? String != nil)
        #expect(try reader.next(event: "_answer")["sdp"] != nil)
    }

    @Test("a WebSocket message may have 64 KiB, in one frame or in many")
    func messageSize() throws {
        let server = try RunningServer()
        func member() throws -> WebSocketClient {
            let client = try WebSocketClient(port: server.port)
            _ = try client.joinAsViewer("desk,secret")
            return client
        }
        func expectTooLarge(_ client: WebSocketClient) throws {
            try eventually("the end") { try client.next() == .close(1009) }
        }
        let large = try member()
        try large.raw.send(WebSocketClient.frame(1, [UInt8](repeating: 0x20, count: 65537)))
        try expectTooLarge(large)
        let huge = try member()
        try huge.raw.send([0x81, 0xFF] + [UInt8](repeating: 0xFF, count: 8))
        try expectTooLarge(huge)
        let pieces = try member()
        let piece = [UInt8](repeating: 0x20, count: 30_000)
        try pieces.raw.send(WebSocketClient.frame(1, piece, isFinal: false))
        try pieces.raw.send(WebSocketClient.frame(0, piece, isFinal: false))
        try pieces.raw.send(WebSocketClient.frame(0, piece, isFinal: true))
        try expectTooLarge(pieces)
        // What fits is taken: blanks, and then a message, with a ping in between.
        let fitting = try member()
        try fitting.raw.send(WebSocketClient.frame(1, piece, isFinal: false))
        try fitting.raw.send(WebSocketClient.frame(9, [1, 2, 3]))
        try eventually("the pong") { try fitting.next() == .pong([1, 2, 3]) }
        let join = Array("{\"eventName\":\"__join\",\"data\":{\"room\":\"desk,secret\"}}".utf8)
        try fitting.raw.send(WebSocketClient.frame(0, join, isFinal: true))
        _ = try fitting.next(event: "_peers")
    }

    @Test("no extension is agreed on, so nothing can be compressed past the limit")
    func noCompression() throws {
        let server = try RunningServer()
        let headers = WebSocketClient.upgradeHeaders.merging(["Sec-WebSocket-Extensions": "permessage-deflate"]) { $1 }
        let answer = try server.request("GET", "/ws", headers)
        #expect(answer.status == 101)
        #expect(answer.headers["sec-websocket-extensions"] == nil)
    }

    @Test(
        "frames against RFC 6455 end the connection",
        arguments: [
            WebSocketClient.frame(1, [], isMasked: false), WebSocketClient.frame(3, []), WebSocketClient.frame(0, []),
            [0xC1, 0x80, 0, 0, 0, 0], WebSocketClient.frame(9, [], isFinal: false),
            WebSocketClient.frame(9, [UInt8](repeating: 0, count: 126)), WebSocketClient.frame(8, [1]),
            WebSocketClient.frame(1, [], isFinal: false) + WebSocketClient.frame(1, []),
        ])
    func protocolErrors(bytes: [UInt8]) throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        try client.raw.send(bytes)
        #expect(try client.next() == .close(1002))
    }

    @Test("text that isn't UTF-8 ends the connection")
    func notText() throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        try client.raw.send(WebSocketClient.frame(1, [0xFF, 0xFE]))
        #expect(try client.next() == .close(1007))
    }

    @Test("more than a burst of messages ends the connection")
    func tooManyMessages() throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        for _ in 0..<150 { try client.send("{}") }
        #expect(try client.next() == .close(1008))
    }

    @Test("who doesn't join in time is closed")
    func noJoin() throws {
        let server = try RunningServer { $0.limits.joinTime = .milliseconds(100) }
        let client = try WebSocketClient(port: server.port)
        #expect(try client.next() == .close(4408))
    }

    @Test("who answers pings stays, and who doesn't is dropped")
    func pings() throws {
        let server = try RunningServer { $0.limits.pingTime = .milliseconds(400) }
        let silent = try WebSocketClient(port: server.port)
        let lively = try WebSocketClient(port: server.port)
        _ = try silent.joinAsViewer("desk,secret")
        _ = try lively.joinAsViewer("desk,secret")
        var pongs = 0
        try eventually("the silent one's end") {
            lively.raw.read()
            if !lively.raw.received.isEmpty {
                #expect(try lively.next() == .ping)
                try lively.raw.send(WebSocketClient.frame(10, []))
                pongs += 1
            }
            silent.raw.read()
            return silent.raw.isAtEnd
        }
        #expect(pongs >= 1)
        try eventually("the silent one to be counted out") { server.server.audience(of: "desk").members == 1 }
    }

    @Test("a client that doesn't read misses what others send it, and isn't thrown out by them")
    func slowReader() throws {
        let server = try RunningServer {
            $0.limits.messagesPerSecond = 100_000
            // A slow machine, as under a sanitizer, must not take the reader for a dead one.
            $0.limits.pingTime = .seconds(600)
        }
        let reader = try WebSocketClient(port: server.port, takesLittle: true)
        try reader.send(event: "__join", "{\"room\":\"desk,secret\"}")
        let readerID = try #require(try reader.next(event: "_peers")["you"] as? String)
        let writer = try WebSocketClient(port: server.port)
        try writer.send(event: "__join", "{\"room\":\"desk,secret\"}")
        _ = try writer.next(event: "_peers")
        let sdp = String(repeating: "x", count: 60_000)
        for _ in 0..<200 { try writer.send(offer: sdp, to: readerID) }
        // Joining again is answered behind all that was sent before.
        try writer.send(event: "__join", "{\"room\":\"desk,secret\"}")
        _ = try writer.next(event: "_peers")
        #expect(server.server.audience(of: "desk").members == 2)
        #expect(try reader.next(event: "_new_peer")["socketId"] as? String != nil)
        #expect(try reader.next(event: "_offer")["sdp"] != nil)
    }

    @Test("what costs a client nothing is paid for too: frames that nobody asked for don't stop the others")
    func pongs() throws {
        let server = try RunningServer()
        let flooding = try WebSocketClient(port: server.port)
        for _ in 0..<400 { try flooding.raw.send(WebSocketClient.frame(10, [])) }
        #expect(try flooding.next() == .close(1008))
        let fragments = try WebSocketClient(port: server.port)
        try fragments.raw.send(WebSocketClient.frame(1, [], isFinal: false))
        for _ in 0..<2000 { try fragments.raw.send(WebSocketClient.frame(0, [], isFinal: false)) }
        #expect(try fragments.next() == .close(1009))
    }
}

@Suite("Reading WebSocket frames")
struct WebSocketDecoderTests {
    private let stream =
        WebSocketClient.frame(1, Array("Hello".utf8)) + WebSocketClient.frame(2, [1, 2], isFinal: false)
        + WebSocketClient.frame(9, [7]) + WebSocketClient.frame(0, [], isFinal: false) + WebSocketClient.frame(0, [3])
        + WebSocketClient.frame(10, []) + WebSocketClient.frame(8, [3, 232])
    private let events: [WebSocketDecoder.Event] = [
        .message(Array("Hello".utf8)), .ping([7]), .message([1, 2, 3]), .pong, .close(1000),
    ]

    @Test("frames come out the same however their bytes come", arguments: [1, 2, 3, 7, 1000])
    func pieces(size: Int) throws {
        var decoder = WebSocketDecoder(limit: 64)
        var seen: [WebSocketDecoder.Event] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            decoder.append(stream[start..<min(start + size, stream.count)])
            while let event = try decoder.next() { seen.append(event) }
        }
        #expect(seen == events)
    }

    @Test("a beginning of the stream gives a beginning of the events")
    func prefixes() throws {
        for count in 0...stream.count {
            var decoder = WebSocketDecoder(limit: 64)
            decoder.append(stream.prefix(count))
            var seen: [WebSocketDecoder.Event] = []
            while let event = try decoder.next() { seen.append(event) }
            #expect(seen == Array(events.prefix(seen.count)))
        }
    }

    @Test("mutated frames never trap and never give more than the limit", arguments: 0..<20)
    func mutations(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            var decoder = WebSocketDecoder(limit: 64)
            decoder.append(random.mutation(of: stream))
            while let event = try? decoder.next() {
                if case .message(let bytes) = event { #expect(bytes.count <= 64) }
            }
        }
    }

    @Test("lengths are written as the RFC says", arguments: [0, 125, 126, 65535, 65536])
    func writing(count: Int) {
        let text = String(repeating: "a", count: count)
        #expect(WebSocketFrame.text(text) == WebSocketClient.frame(1, Array(text.utf8), isMasked: false))
    }
}
