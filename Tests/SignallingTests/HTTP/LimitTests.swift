import MediaTypes
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
        let client = try TestSocket(port: server.port)
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
        let client = try TestSocket(port: server.port)
        let head = "POST /whep/desk HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\n"
        try client.send(head + "Content-Type: application/sdp\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = Array("4000\r\n".utf8) + [UInt8](repeating: 0x76, count: 0x4000) + Array("\r\n".utf8)
        var taken = 0
        while taken < 3000, try client.send(chunk) { taken += 1 }
        #expect(taken < 3000)
        #expect(try client.response().status == 413)
        #expect(server.media.state.withLock { $0.offers.isEmpty })
        let small = try TestSocket(port: server.port)
        try small.send(
            head + "Content-Type: application/sdp\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nv=0\r\n\r\n0\r\n\r\n")
        #expect(try small.response().status == 201)
    }

    @Test("a header without end is cut off")
    func endlessHeader() throws {
        let server = try RunningServer()
        let client = try TestSocket(port: server.port)
        try client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        #expect(try client.send([UInt8](repeating: 0x61, count: 20_000_000)) == false)
        #expect(try server.request("GET", "/healthz").status == 204)
    }

    @Test("garbage ends its connection and nobody else's")
    func garbage() throws {
        let server = try RunningServer { $0.limits.requestTime = .seconds(3) }
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
            let client = try TestSocket(port: server.port)
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
            let client = try TestSocket(port: server.port)
            try client.send(random.mutation(of: valid))
        }
        // On a busy machine a whole request may take too long as well.
        try eventually("an answer") { (try? server.request("GET", "/healthz"))?.status == 204 }
    }

    @Test("a request that doesn't come to its end is cut off in time, a byte now and then notwithstanding")
    func slowRequest() throws {
        let server = try RunningServer { $0.limits.requestTime = .milliseconds(300) }
        let silent = try TestSocket(port: server.port)
        let slow = try TestSocket(port: server.port)
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
            let client = try TestSocket(port: server.port)
            try client.send(text)
            return client
        }
        try eventually("room for another") { (try? server.request("GET", "/healthz"))?.status == 204 }
        let chunked = try TestSocket(port: server.port)
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
        try TestSocket(port: server.port).waitForEnd()
        clients.removeLast()
        try eventually("room for another") { (try? server.request("GET", "/healthz"))?.status == 204 }
        for client in clients { _ = try client.joinAsViewer("desk,secret") }
    }

    @Test("the oldest connection that hasn't joined makes room for a new one, whatever it does")
    func idleConnections() throws {
        let server = try RunningServer { $0.limits.connections = 4 }
        let member = try WebSocketClient(port: server.port)
        _ = try member.joinAsViewer("desk,secret")
        let silent = try TestSocket(port: server.port)
        let beginning = try TestSocket(port: server.port)
        try beginning.send("GET / HT")
        let idle = try WebSocketClient(port: server.port)
        let newcomer = try WebSocketClient(port: server.port)
        try silent.waitForEnd()
        _ = try newcomer.joinAsViewer("desk,secret")
        let others = try (0..<2).map { _ in try TestSocket(port: server.port) }
        try beginning.waitForEnd()
        try idle.raw.waitForEnd()
        // Members stay, and so does who came last.
        for client in [member, newcomer] { _ = try client.joinAsViewer("desk,secret") }
        for other in others { #expect(!other.isAtEnd) }
    }

    @Test("a connection that has had its answer makes room before an older one in the middle of a request")
    func answeredConnections() throws {
        let server = try RunningServer { $0.limits.connections = 2 }
        let busy = try TestSocket(port: server.port)
        try busy.send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        let answered = try TestSocket(port: server.port)
        _ = try answered.request("GET", "/healthz")
        #expect(try server.request("GET", "/healthz").status == 204)
        try answered.waitForEnd()
        try busy.send("\r\n")
        #expect(try busy.response(hasBody: false).status == 204)
    }

    @Test("a flood of connections doesn't keep out a viewer with the token")
    func connectionFlood() throws {
        let server = try RunningServer { $0.limits.connections = 16 }
        var flood: [TestSocket] = []
        for round in 0..<20 {
            for _ in 0..<40 { flood.append(try TestSocket(port: server.port)) }
            _ = try WebSocketClient(port: server.port).joinAsViewer("desk,secret")
            if round % 4 == 3 { flood = [] }
        }
    }
}
