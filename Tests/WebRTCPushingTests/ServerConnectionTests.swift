import MediaTypes
import OutputLife
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Signalling
@testable import WebRTCPushing

@Suite("A session that a server is asked to take")
struct ServerConnectionTests {
    private final class Client: Sendable {
        private let failures = Mutex<[OutputError]>([])
        private let connection = Mutex<ServerConnection?>(nil)

        init(_ url: String) throws {
            let server = try WebRTCServer(url)
            let made = ServerConnection(server, offer: "v=0\r\n") { [weak self] event in
                if case .failed(let failure) = event { self?.failures.withLock { $0.append(failure) } }
            }
            try #require(made != nil)
            connection.withLock { $0 = made }
        }

        /// Waits until it has failed, and for the end of its thread.
        func failure() throws -> OutputError {
            let failure = try eventually("a failure") { failures.withLock { $0.first } }
            connection.withLock { $0 }?.join(until: now() + .seconds(10))
            return failure
        }
    }

    @Test("Janus' server ends it with a message of more than 256 KiB, whole or in fragments", arguments: [1, 5])
    func longMessages(fragments: Int) throws {
        let server = try RawServer()
        let client = try Client("janus:ws://127.0.0.1:\(server.port)#1234")
        let head = try server.acceptWebSocket(proof: ClientHandshake.accepting, subprotocol: "janus-protocol")
        #expect(head.hasPrefix("GET / HTTP/1.1\r\n"))
        let size = ((256 << 10) + fragments) / fragments
        for index in 0..<fragments {
            let first: UInt8 = (index == 0 ? 1 : 0) | (index == fragments - 1 ? 0x80 : 0)
            let length = (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) }
            try server.send([first, 127] + length + [UInt8](repeating: 0x20, count: size))
        }
        let failure = try client.failure()
        #expect(failure == OutputError("the server sent a message of more than 262144 bytes"))
    }

    @Test(
        "Janus' server without such a WebSocket is told in words, and one that refuses isn't asked again",
        arguments: [
            (401, "the server refuses this client (401)"), (403, "the server refuses this client (403)"),
            (302, "there is no WebSocket of that kind at this address (302)"),
            (404, "there is no WebSocket of that kind at this address (404)"),
        ])
    func otherAnswers(status: Int, words: String) throws {
        let server = try RawServer()
        let client = try Client("janus:ws://127.0.0.1:\(server.port)/ws?a=b#1234")
        let head = try server.acceptRequest()
        #expect(head.hasPrefix("GET /ws?a=b HTTP/1.1\r\n"))
        let place = "http://127.0.0.1:\(server.port)/other"
        try server.send(Array("HTTP/1.1 \(status) No\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n".utf8))
        let failure = try client.failure()
        #expect(failure == OutputError(words, isFinal: status < 404 && status > 400) && !server.hasNext)
    }

    @Test("Janus' server without its subprotocol, or that goes, is told in words")
    func otherServers() throws {
        let server = try RawServer()
        let other = try Client("janus:ws://127.0.0.1:\(server.port)#1234")
        _ = try server.acceptWebSocket(proof: ClientHandshake.accepting)
        let absent = try other.failure()
        #expect(absent == OutputError("there is no WebSocket of that kind at this address"))

        let left = try Client("janus:ws://127.0.0.1:\(server.port)#1234")
        _ = try server.acceptWebSocket(proof: ClientHandshake.accepting, subprotocol: "janus-protocol")
        server.endConnection()
        let gone = try left.failure()
        #expect(gone == OutputError("the server has ended the connection"))
    }

    @Test("a WHIP server's answer of more than 256 KiB isn't used, and its session is ended")
    func longAnswer() throws {
        let server = try RawServer()
        let client = try Client("whip:http://Sesam@127.0.0.1:\(server.port)/whip")
        let offer = try server.acceptRequest()
        #expect(offer.hasPrefix("POST /whip HTTP/1.1\r\n"))
        let head = "HTTP/1.1 201 Created\r\nContent-Type: application/sdp\r\nLocation: /s/1\r\nContent-Length: 300000"
        try server.send(Array((head + "\r\n\r\n").utf8) + [UInt8](repeating: 0x20, count: 300_000))
        let end = try server.acceptRequest()
        #expect(end.hasPrefix("DELETE /s/1 HTTP/1.1\r\n") && end.contains("\r\nAuthorization: Bearer Sesam\r\n"))
        try server.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
        let failure = try client.failure()
        #expect(failure == OutputError("its answer is too long"))
    }

    private func answer(_ server: RawServer, _ status: String, location: String, body: String = "") throws {
        let head = "HTTP/1.1 \(status)\r\nLocation: \(location)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        try server.send(Array((head + body).utf8))
    }

    @Test("a WHIP server that closes the connection without an answer is told in words, which say what that may mean")
    func noAnswer() throws {
        let server = try RawServer()
        let client = try Client("whip:http://Sesam@127.0.0.1:\(server.port)/whip")
        _ = try server.acceptRequest()
        server.endConnection()
        let failure = try client.failure()
        #expect(failure.nameMayBeInUse && !failure.isFinal && !failure.foundNobody)
        #expect(failure.description.hasPrefix("the server has closed the connection without an answer; "))
        // What is cut is no refusal.
        let cut = try Client("whip:http://127.0.0.1:\(server.port)/whip")
        _ = try server.acceptRequest()
        try server.send(Array("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nv=0".utf8))
        server.endConnection()
        #expect(try !cut.failure().nameMayBeInUse)
    }

    @Test("a WHIP server's 403 is read for whether the name is in use")
    func forbidden() throws {
        let server = try RawServer()
        for (words, isInUse, isFinal) in [
            ("ID already in use", true, false), ("", true, true), ("No token", false, true),
        ] {
            let client = try Client("whip:http://Sesam@127.0.0.1:\(server.port)/whip")
            _ = try server.acceptRequest()
            try answer(server, "403 Forbidden", location: "/", body: words)
            let failure = try client.failure()
            #expect(failure.nameMayBeInUse == isInUse && failure.isFinal == isFinal)
        }
    }

    @Test("a WHIP server can't have another one asked to end a session")
    func foreignSession() throws {
        let (server, other) = (try RawServer(), try RawServer())
        let client = try Client("whip:http://Sesam@127.0.0.1:\(server.port)/whip")
        _ = try server.acceptRequest()
        // An answer without text fails the session, which would then be ended.
        try answer(server, "201 Created", location: "http://127.0.0.1:\(other.port)/s/1")
        #expect(try client.failure() == OutputError("the server's answer is empty or no text"))
        #expect(!other.hasNext && !server.hasNext)
    }

    @Test("the token for a WHIP server goes to no other one, where it is told why that refuses")
    func foreignToken() throws {
        let (server, other) = (try RawServer(), try RawServer())
        let client = try Client("whip:http://Sesam@127.0.0.1:\(server.port)/whip")
        #expect(try server.acceptRequest().contains("Authorization: Bearer Sesam"))
        try answer(server, "307 Elsewhere", location: "http://127.0.0.1:\(other.port)/whip")
        let head = try other.acceptRequest()
        #expect(head.hasPrefix("POST /whip HTTP/1.1\r\n") && !head.contains("Sesam"))
        try answer(other, "401 No", location: "/")
        let failure = try client.failure()
        #expect(failure.isFinal && failure.description.contains("to another one, which wants a token (401)"))
    }

    @Test("no request goes to an address that is nearer than the first one's")
    func nearAddress() throws {
        let server = try RawServer()
        let context = CancellableContext()
        // Without that limit, the server, which doesn't answer, would be waited for.
        context.beginFarewell(within: .seconds(10))
        var failure: OutputError?
        context.main.use {
            do throws(OutputError) {
                let client = try WebClient(context)
                client.nearest = .privateNetwork
                _ = try client.request("POST", "http://127.0.0.1:\(server.port)/", token: nil, body: "v=0")
            } catch {
                failure = error
            }
        }
        #expect(failure?.description == "the server redirects to an address of this machine or its network")
        #expect(try server.acceptToEnd().isEmpty)
    }

    @Test("a document is not followed from HTTP to a place that can't be used, and is read up to its limit")
    func documents() throws {
        let server = try RawServer()
        let reading = Mutex<[Result<[UInt8], OutputError>]>([])
        func read() -> NamedThread? {
            let url = "http://127.0.0.1:\(server.port)/a.json"
            return NamedThread("reader") {
                let result = Result { () throws(OutputError) in
                    try WebDocument.read(url, limit: 10, within: .seconds(90)).bytes
                }
                reading.withLock { $0.append(result) }
            }
        }
        func result(_ thread: NamedThread?) -> Result<[UInt8], OutputError>? {
            thread?.join(until: now() + .seconds(20))
            return reading.withLock { $0.popLast() }
        }
        let moved = read()
        _ = try server.acceptRequest()
        try answer(server, "302 Moved", location: "/b.json")
        #expect(try server.acceptRequest().hasPrefix("GET /b.json HTTP/1.1\r\n"))
        try answer(server, "200 OK", location: "", body: "1234567890")
        #expect(result(moved) == .success(Array("1234567890".utf8)))

        let long = read()
        _ = try server.acceptRequest()
        try answer(server, "200 OK", location: "", body: "12345678901")
        #expect(result(long) == .failure(OutputError("its answer is too long")))

        let lost = read()
        _ = try server.acceptRequest()
        try answer(server, "302 Moved", location: "file:///etc/passwd")
        guard case .failure(let failure) = result(lost) else { throw DeadlineMissed(what: "a failure") }
        #expect(failure.description.contains("can't be used, or without TLS") && !server.hasNext)
    }

    @Test(
        "addresses of this machine and of private networks are known as such",
        arguments: [
            ("127.0.0.1", .thisMachine), ("127.9.9.9", .thisMachine), ("0.0.0.0", .thisMachine), ("::1", .thisMachine),
            ("::", .thisMachine), ("::ffff:127.0.0.1", .thisMachine), ("localhost", .thisMachine), ("", .thisMachine),
            ("169.254.169.254", .linkLocal), ("fe80::1%eth0", .linkLocal), ("10.1.2.3", .privateNetwork),
            ("172.31.255.255", .privateNetwork), ("::ffff:192.168.0.1", .privateNetwork), ("fd00::1", .privateNetwork),
            ("100.64.0.1", .privateNetwork), ("172.32.0.1", .global), ("192.0.2.1", .global), ("2001:db8::1", .global),
        ] as [(String, Nearness)])
    func nearness(address: String, nearness: Nearness) {
        #expect(Nearness(address) == nearness)
    }
}
