import Foundation
import TestSupport
import Testing

@testable import Signalling

@Suite("STUN and TURN servers")
struct ICEServerTests {
    @Test(
        "a URL is read as RFC 7064 and RFC 7065 have it, with credentials in front of the host",
        arguments: [
            ("stun:stun.example.org", "stun:stun.example.org:3478", "stun.example.org:3478", nil, nil),
            ("STUN:192.0.2.7:19302", "stun:192.0.2.7:19302", "192.0.2.7:19302", nil, nil),
            ("turn:[2001:db8::7]", "turn:[2001:db8::7]:3478", "[2001:db8::7]:3478", nil, nil),
            ("turn:ann:s3cret@turn.example", "turn:turn.example:3478", "turn.example:3478", "ann", "s3cret"),
            ("turn:a:b:c@t:80?transport=tcp", "turn:t:80?transport=tcp", nil, "a", "b:c"),
            ("turn:a:b@t?transport=UDP", "turn:t:3478?transport=udp", "t:3478", "a", "b"),
            ("turns:a%3A1:%40%20%25@t", "turns:t:5349", nil, "a:1", "@ %"),
        ] as [(String, String, String?, String?, String?)])
    func urls(text: String, url: String, stun: String?, user: String?, password: String?) throws {
        let server = try #require(ICEServer(text))
        #expect(server.url == url)
        #expect(server.stunAddress == stun)
        let client = ClientICEServer(server, now: 0)
        #expect(client.urls == [url])
        #expect(client.username == user)
        #expect(client.credential == password)
        #expect(server.isComplete == (user != nil || text.lowercased().hasPrefix("stun")))
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "stun", "stun:", "turn.example.org", "http://turn.example.org", "stuns:a", "stun:a:0", "stun:a:65536",
            "stun:a:x", "stun:a:b@host", "stun:a?transport=udp", "stun:::1", "stun:[::1", "stun:[192.0.2.7]",
            "stun:a b",
            "stun:é", "turn:user@host", "turn:user:@host", "turn::a:b@host", "turn:a:b@", "turn:a:b@host?x=udp",
            "turn:a:b@host?transport=sctp", "turn:a:b@host?transport", "turn:a:%0A@host", "turn:a:%C3%A9@host",
            "turn:a:%@host", "turn://a:b@host", "turn:host/path",
        ])
    func refused(text: String) {
        #expect(ICEServer(text) == nil)
    }

    // Made by Python: base64.b64encode(hmac.new(secret, user, hashlib.sha1).digest()).
    @Test(
        "an expiring password is what coturn computes from the shared secret",
        arguments: [
            ("1700000000:screenrelay", "north", "2JaIivv42w8hbKUzdeYGqvJO/yk="),
            ("1735689600:ann", "sésame ouvre-toi", "1n/dgj+pO/u0m6kqcq9AifjrYUs="),
        ])
    func password(user: String, secret: String, password: String) {
        #expect(ClientICEServer.password(of: user, secret: secret) == password)
    }

    @Test("a client's credentials expire a day after it has come, and don't show the secret")
    func expiry() throws {
        var server = try #require(ICEServer("turn:turn.example.org"))
        server.credentials = .secret("north")
        let client = ClientICEServer(server, now: 1_700_000_000 - 86_400)
        #expect(client.username == "1700000000:screenrelay")
        #expect(client.credential == "2JaIivv42w8hbKUzdeYGqvJO/yk=")
    }

    @Test("a link has its parts in the order and the quotes that clients read")
    func link() throws {
        let plain = try #require(ICEServer("stun:stun.example.org"))
        #expect(ClientICEServer(plain, now: 0).link == "<stun:stun.example.org:3478>; rel=\"ice-server\"")
        let quoted = try #require(ICEServer("turn:a%22b:c%5Cd@t?transport=tcp"))
        #expect(
            ClientICEServer(quoted, now: 0).link
                == "<turn:t:3478?transport=tcp>; rel=\"ice-server\"; username=\"a\\\"b\"; credential=\"c\\\\d\"; "
                + "credential-type=\"password\"")
    }
}

@Suite("Telling clients of STUN and TURN servers")
struct ICEServerClientTests {
    private static let plainLink = "<stun:stun.example.org:3478>; rel=\"ice-server\""

    /// A server with a STUN server, a TURN server that shares a secret, and one that nobody can use.
    private func server(token: String? = "secret", media: CallingMedia? = nil) throws -> RunningServer {
        let texts = ["stun:stun.example.org", "turn:turn.example.org", "turn:useless.example.org"]
        var servers = try texts.map { try #require(ICEServer($0)) }
        servers[1].credentials = .secret("north")
        return try RunningServer(token: token, media: media) {
            $0.iceServers = servers
            $0.attemptClock = { 1000 }
            $0.rooms[0].access.presenting = "stage"
        }
    }

    private func check(_ told: [[String: Any]]) throws {
        #expect(
            told.map { $0["urls"] as? [String] } == [["stun:stun.example.org:3478"], ["turn:turn.example.org:3478"]])
        let user = try #require(told.last?["username"] as? String)
        let end = try #require(user.split(separator: ":").first.flatMap { Double($0) })
        #expect(abs(end - Date().timeIntervalSince1970 - 86_400) < 60)
        #expect(told.last?["credential"] as? String == ClientICEServer.password(of: user, secret: "north"))
        #expect(told.first?["username"] == nil)
    }

    @Test("who joins over a WebSocket finds them in _peers, as a page and as a plain client")
    func peers() throws {
        let server = try server()
        for role in ["viewer", "peer"] {
            let client = try WebSocketClient(port: server.port)
            try client.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"\(role)\"}")
            try check(try #require(try client.next(event: "_peers")["iceServers"] as? [[String: Any]]))
        }
    }

    @Test("who has a wrong token learns nothing of them, and without servers there is no such key")
    func withheld() throws {
        let server = try server()
        let stranger = try WebSocketClient(port: server.port)
        try stranger.send(event: "__join", "{\"room\":\"desk,wrong\"}")
        #expect(try stranger.next(event: "_refused").isEmpty)
        let bare = try RunningServer()
        let client = try WebSocketClient(port: bare.port)
        try client.send(event: "__join", "{\"room\":\"desk,secret\"}")
        #expect(try client.next(event: "_peers")["iceServers"] == nil)
    }

    @Test("a socket.io client is told before it is told that it has joined", arguments: [3, 4])
    func socketIO(version: Int) throws {
        let server = try server(media: CallingMedia())
        let client = try WebSocketClient.socketIO(server, version: version)
        try client.send(SocketIOText.join)
        let told = try client.nextEvent()
        #expect(told[0] as? String == "iceservers")
        #expect(told[1] as? String == "desk,secret")
        try check(try #require(told[2] as? [[String: Any]]))
        #expect(try client.nextEvent()[0] as? String == "joined")
        let stranger = try WebSocketClient.socketIO(server, version: version)
        try stranger.send("42[\"join\",\"desk,wrong\"]")
        #expect(try stranger.nextEvent()[0] as? String == "leaved")
    }

    /// The values of an answer's Link headers, each of which has a line of its own.
    private func links(
        _ server: borrowing RunningServer, _ method: String, _ path: String, token: String?, body: String = ""
    ) throws -> [String] {
        let client = try TestSocket(port: server.port)
        let bearer = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        try client.send(
            "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(bearer)Content-Type: application/sdp\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        let lines = try client.take(through: "\r\n\r\n").split(separator: "\r\n")
        return lines.filter { $0.lowercased().hasPrefix("link: ") }.map { String($0.dropFirst(6)) }
    }

    @Test("a player finds a Link header for each in the answers to its offer and to OPTIONS")
    func players() throws {
        let server = try server()
        for (method, body) in [("POST", EndpointClient.offer), ("OPTIONS", "")] {
            let links = try links(server, method, "/whep/desk", token: "secret", body: body)
            #expect(links.count == 2)
            #expect(links.first == Self.plainLink)
            let relay = try #require(links.last)
            #expect(relay.hasPrefix("<turn:turn.example.org:3478>; rel=\"ice-server\"; username=\""))
            #expect(relay.hasSuffix("=\"; credential-type=\"password\""))
        }
    }

    @Test("only who may publish learns of them from WHIP")
    func publishers() throws {
        let server = try server()
        #expect(try links(server, "OPTIONS", "/whip/desk", token: "stage").count == 2)
        #expect(try links(server, "OPTIONS", "/whip/desk", token: "secret").isEmpty)
    }

    @Test("a preflight, which has no token, learns nothing and isn't counted; a wrong token is")
    func preflight() throws {
        let server = try server()
        for _ in 0..<40 {
            #expect(try links(server, "OPTIONS", "/whep/desk", token: nil).isEmpty)
        }
        #expect(try server.request("GET", "/whep/desk", ["Authorization": "Bearer wrong"]).status == 401)
        for _ in 0..<40 {
            #expect(try links(server, "OPTIONS", "/whep/desk", token: "wrong").isEmpty)
        }
        #expect(try server.request("GET", "/whep/desk", ["Authorization": "Bearer wrong"]).status == 429)
        let open = try self.server(token: nil)
        #expect(try links(open, "OPTIONS", "/whep/desk", token: nil).count == 2)
    }
}
