import LinkTransport
import MediaSessions
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Signalling

@Suite("Who gets in")
struct AdmissionTests {
    private let bearer = ["Authorization": "Bearer secret"]
    private let sdp = ["Content-Type": "application/sdp"]

    @Test("no token, a wrong token and a wrong room are refused with the same bytes, on every route")
    func alike() throws {
        let clock = TestClock()
        let server = try RunningServer { $0.attemptClock = { clock.now } }
        let attempts: [(room: String, headers: [String: String])] = [
            ("desk", [:]), ("desk", ["Authorization": "Bearer wrong"]), ("desk", ["Authorization": "Bearer "]),
            ("desk", ["Authorization": "Basic c2VjcmV0"]), ("desk", ["Authorization": "secret"]),
            ("attic", bearer), ("attic", [:]), ("desk%2Csecret", [:]),
        ]
        let routes: [(method: String, path: (String) -> String, body: String?)] = [
            ("POST", { "/whep/\($0)" }, "v=0\r\n"), ("GET", { "/whep/\($0)" }, nil),
            ("PATCH", { "/whep/\($0)/x" }, "a=candidate:1"), ("DELETE", { "/whep/\($0)/x" }, nil),
            ("GET", { "/snapshot.png?room=\($0)" }, nil), ("GET", { "/snapshot.jpg?room=\($0)" }, nil),
        ]
        for route in routes {
            var answers: [RawResponse] = []
            for attempt in attempts {
                // As slowly as an address may be wrong.
                clock.now += 1
                answers.append(
                    try server.request(
                        route.method, route.path(attempt.room), attempt.headers.merging(sdp) { mine, _ in mine },
                        body: route.body
                    ).timeless)
            }
            let first = try #require(answers.first)
            #expect(first.status == 401)
            #expect(first.text == "not allowed\n")
            #expect(first.headers["access-control-allow-origin"] == nil)
            #expect(answers.allSatisfy { $0 == first })
        }
        #expect(server.media.state.withLock { $0.offers.isEmpty })
    }

    @Test("the token opens the room, whatever the spelling of Bearer")
    func admitted() throws {
        let server = try RunningServer()
        for scheme in ["Bearer", "bearer", "BEARER"] {
            #expect(try server.request("GET", "/whep/desk", ["Authorization": "\(scheme) secret"]).status == 200)
        }
    }

    @Test("an open room needs no token")
    func openRoom() throws {
        let server = try RunningServer(token: nil)
        #expect(try server.request("GET", "/whep/desk").status == 200)
        #expect(try server.request("GET", "/whep/attic").status == 401)
    }

    @Test(
        "a Host that isn't a name of the server's is refused on every route, and the answer says which names there are")
    func wrongHost() throws {
        let server = try RunningServer()
        let hosts = [
            "evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", "localhost.evil.example", "[::2]",
            "", ":80",
            "127.0.0.1, evil.example", "localhost:port",
        ]
        for host in hosts {
            for path in ["/", "/healthz", "/whep/desk", "/snapshot.png", "/ws"] {
                let answer = try server.request("GET", path, host: host, bearer)
                // libsoup itself refuses what isn't a host at all.
                #expect(answer.status == 421 || answer.status == 400)
                if answer.status == 421 {
                    #expect(
                        answer.text.contains(
                            "It answers to 127.0.0.1, [::1], localhost.\nOpen the invite link with one of"))
                }
            }
        }
    }

    @Test(
        "names of loopback, of the address listened on and those allowed are taken, with any port",
        arguments: [
            "localhost", "LOCALHOST:1234", "127.0.0.1:80", "[::1]:8080", "relay.example", "relay.example.:443",
        ])
    func rightHost(host: String) throws {
        let server = try RunningServer { $0.hostNames = ["Relay.example"] }
        #expect(try server.request("GET", "/healthz", host: host).status == 204)
    }

    @Test("with the network let in, addresses and the machine's name are names too")
    func lanNames() {
        let names = HostNames(listening: [], lan: true, machineName: "Tower", more: [])
        for name in ["10.1.2.3", "10.1.2.3:8080", "[fd00::1]:8080", "tower", "TOWER.local:80", "localhost"] {
            #expect(names.accept(name))
        }
        for name in ["tower.example", "10.1.2.3.example", "1.2.3", "1.2.3.256", "", "[", "a b", "evil.example"] {
            #expect(!names.accept(name))
        }
        #expect(!names.accept(nil))
    }

    @Test("a page of another origin gets the stream with the token in its own hands only")
    func foreignOrigin() throws {
        let server = try RunningServer()
        let foreign = ["Origin": "https://other.example"]
        let refused = try server.request("POST", "/whep/desk", foreign.merging(sdp) { $1 }, body: "v=0\r\n")
        #expect(refused.status == 401)
        #expect(refused.headers["access-control-allow-origin"] == nil)
        let taken = try server.request(
            "POST", "/whep/desk", foreign.merging(sdp) { $1 }.merging(bearer) { $1 }, body: "v=0\r\n")
        #expect(taken.status == 201)
        #expect(taken.headers["access-control-allow-origin"] == "https://other.example")
        #expect(taken.headers["access-control-expose-headers"] == "Location, ETag, Link, Accept-Patch, X-Room-Password")
        #expect(taken.headers["vary"] == "Origin")
    }

    @Test("an open room is not open to pages of other origins, unless they are allowed by name")
    func foreignOriginOfOpenRoom() throws {
        let server = try RunningServer(token: nil) { $0.allowedOrigins = ["https://friend.example"] }
        for origin in ["https://other.example", "null", "garbage", "http://127.0.0.1:1", "https://friend.example:444"] {
            for path in ["/whep/desk", "/snapshot.png"] {
                let answer = try server.request("GET", path, ["Origin": origin])
                #expect(answer.status == 403)
                #expect(answer.headers["access-control-allow-origin"] == nil)
            }
        }
        let answer = try server.request("GET", "/whep/desk", ["Origin": "https://friend.example"])
        #expect(answer.status == 200)
        #expect(answer.headers["access-control-allow-origin"] == "https://friend.example")
        let own = try server.request(
            "GET", "/whep/desk", host: "127.0.0.1:\(server.port)", ["Origin": "http://127.0.0.1:\(server.port)"])
        #expect(own.status == 200)
    }

    @Test("a preflight needs no credentials, and learns the same of every room")
    func preflight() throws {
        let server = try RunningServer()
        let headers = [
            "Origin": "https://other.example", "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type",
        ]
        let answer = try server.request("OPTIONS", "/whep/desk", headers)
        #expect(answer.status == 200)
        #expect(answer.headers["access-control-allow-origin"] == "https://other.example")
        #expect(answer.headers["access-control-allow-methods"] == "OPTIONS, GET, HEAD, POST, PATCH, DELETE")
        #expect(
            answer.headers["access-control-allow-headers"]
                == "Authorization, Content-Type, If-Match, X-Ending, X-Room-Password, X-Visit")
        #expect(answer.headers["access-control-allow-credentials"] == nil)
        #expect(answer.headers["accept-post"] == "application/sdp")
        #expect(try server.request("OPTIONS", "/whep/attic", headers).timeless == answer.timeless)
        let session = try server.request("OPTIONS", "/whep/desk/x", headers)
        #expect(session.headers["accept-patch"] == "application/trickle-ice-sdpfrag")
        #expect(try server.request("OPTIONS", "/whep/desk", ["Origin": "a b"]).status == 403)
    }

    @Test("a WebSocket is for our own page, for pages allowed by name, and for programs without a page")
    func webSocketOrigin() throws {
        let server = try RunningServer { $0.allowedOrigins = ["https://friend.example"] }
        let upgrade = WebSocketClient.upgradeHeaders
        for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1.evil.example"] {
            for path in ["/", "/ws"] {
                let answer = try server.request("GET", path, upgrade.merging(["Origin": origin]) { $1 })
                #expect(answer.status == 403)
                #expect(answer.text == "not allowed\n")
            }
        }
        for origin in ["http://127.0.0.1", "https://friend.example"] {
            #expect(throws: Never.self) { try WebSocketClient(port: server.port, ["Origin": origin]) }
        }
        #expect(throws: Never.self) { try WebSocketClient(port: server.port, path: "/") }
    }

    @Test("a page learns why its WebSocket was refused, and the log names the option once for each origin")
    func refusedSocket() throws {
        let warnings = RunningServer.Log()
        let server = try RunningServer { $0.warn = { line in warnings.lines.withLock { $0.append(line) } } }
        #expect(try server.request("POST", "/ws").status == 426)
        let foreign = ["Origin": "https://screen.example"]
        for _ in 1...2 {
            #expect(try server.request("POST", "/ws", foreign).status == 403)
            let upgrade = WebSocketClient.upgradeHeaders.merging(foreign) { $1 }
            #expect(try server.request("GET", "/ws", upgrade).status == 403)
        }
        let lines = warnings.lines.withLock { $0 }
        #expect(lines.count == 1 && lines[0].hasSuffix("add --allow-origin https://screen.example"), "\(lines)")
        for index in 0..<50 {
            let upgrade = WebSocketClient.upgradeHeaders.merging(["Origin": "https://\(index).example"]) { $1 }
            #expect(try server.request("GET", "/ws", upgrade).status == 403)
        }
        #expect(warnings.lines.withLock { $0.count } == 16)
    }

    @Test("the page and health are there for all, with the page's own rules, and other paths aren't")
    func page() throws {
        let server = try RunningServer()
        let page = try server.request("GET", "/")
        #expect(page.status == 200)
        #expect(page.headers["content-type"]?.hasPrefix("text/html") == true)
        let policy = try #require(page.headers["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'self'; "))
        #expect(policy.contains("connect-src 'self' ws://127.0.0.1 wss://127.0.0.1"))
        #expect(page.headers["x-content-type-options"] == "nosniff")
        #expect(page.headers["referrer-policy"] == "no-referrer")
        #expect(page.headers["cache-control"] == "no-cache")
        #expect(page.headers["server"] == nil)
        let tag = try #require(page.headers["etag"])
        #expect(try server.request("GET", "/", ["If-None-Match": tag]).status == 304)
        #expect(page.headers["content-encoding"] == nil)
        for (accepted, coding) in [("br, GZIP", "gzip"), ("gzip;q=0.5", "gzip"), ("gzip; q=0", nil), ("br", nil)] {
            let answer = try server.request("GET", "/", ["Accept-Encoding": accepted])
            #expect(answer.headers["content-encoding"] == coding, "\(accepted)")
            #expect(answer.headers["etag"] == tag)
            #expect(answer.headers["vary"] == "Accept-Encoding")
        }
        let head = try server.request("HEAD", "/")
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(try server.request("POST", "/", body: "x").status == 405)
        #expect(try server.request("GET", "/healthz").status == 204)
        for path in ["/nothing", "/../etc/passwd", "/%2e%2e/etc/passwd", "/%", "/%00", "/%FF", "/healthz/x"] {
            let status = try server.request("GET", path).status
            #expect(status == 404 || status == 400)
        }
    }

    @Test("HEAD is answered like GET, without a body")
    func head() throws {
        let server = try RunningServer { $0.administration = Administration(token: "admin", allowsNetwork: false) }
        server.media.state.withLock { $0.picture = .success([1, 2, 3]) }
        let routes = [
            ("/", "secret"), ("/join/viewer.js", "secret"), ("/healthz", "secret"), ("/whep/desk", "secret"),
            ("/snapshot.png", "secret"), ("/snapshot.jpg?room=desk", "secret"), ("/api/rooms", "admin"),
            ("/api/rooms/desk", "admin"), ("/api/nothing", "admin"), ("/snapshot.png", "wrong"),
            ("/api/rooms", "wrong"),
        ]
        for (path, token) in routes {
            let headers = ["Authorization": "Bearer \(token)"]
            let get = try server.request("GET", path, headers)
            let client = try TestSocket(port: server.port)
            let head = try client.request("HEAD", path, headers.merging(["Connection": "close"]) { $1 })
            #expect(head.status == get.status, "\(path)")
            #expect(head.headers["content-type"] == get.headers["content-type"], "\(path)")
            let (length, whole) = (head.headers["content-length"], get.headers["content-length"])
            // What is told of the rooms has times in it, and may be longer a moment later.
            #expect(length == whole || path.hasPrefix("/api/rooms") && length != nil, "\(path)")
            try client.waitForEnd()
            #expect(client.received.isEmpty, "\(path)")
        }
    }

    @Test("lines that clients cause are cut at 200 characters, and each address may cause so many")
    func lineBudget() throws {
        let server = try RunningServer { $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 } }
        server.media.state.withLock { $0.refusal = .badOffer(String(repeating: "x", count: 5000)) }
        func post(from address: String) throws {
            let headers = ["Content-Type": "application/sdp", "X-Forwarded-For": address]
            _ = try server.request("POST", "/whep/desk", bearer.merging(headers) { $1 }, body: "v=0\r\n")
        }
        for _ in 0..<200 { try post(from: "203.0.113.9") }
        try post(from: "203.0.113.10")
        let lines = server.log.lines.withLock { $0 }
        #expect(lines.allSatisfy { $0.count <= 200 })
        #expect(lines.contains { $0.contains("from 203.0.113.9 was refused") })
        #expect(lines.count { $0.contains("203.0.113.10") } == 1)
        #expect(lines.count < 150)
        try eventually("word of the lines that were left out") {
            server.log.lines.withLock { $0 }.contains { $0.hasSuffix("more lines like those before were left out") }
        }
    }

    @Test("no log line has what stands after the comma")
    func logs() throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        _ = try client.joinAsViewer("desk,secret")
        let other = try WebSocketClient(port: server.port)
        try other.send(event: "__join", "{\"room\":\"desk,almost\"}")
        _ = try other.next(event: "_refused")
        _ = try server.request("GET", "/whep/desk,almost", bearer)
        let lines = server.log.lines.withLock { $0 }
        #expect(!lines.isEmpty)
        #expect(lines.allSatisfy { !$0.contains("secret") && !$0.contains("almost") })
    }
}
