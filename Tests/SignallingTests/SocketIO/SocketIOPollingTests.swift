import Foundation
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Engine.IO by polling")
struct SocketIOPollingTests {
    @Test("version 3 is greeted and connected in one answer, with or without its parameter", arguments: ["EIO=3&", ""])
    func handshakeThree(parameter: String) throws {
        let server = try callingServer()
        let answer = try server.request("GET", "/socket.io/?\(parameter)transport=polling&b64=1")
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "text/plain; charset=UTF-8")
        let packets = PollingClient.split(answer.text, 3)
        #expect(packets.count == 2)
        #expect(packets.last == "40")
        let fields = try #require(
            JSONSerialization.jsonObject(with: Data((packets.first ?? "").dropFirst().utf8)) as? [String: Any])
        #expect(Set(fields.keys) == ["sid", "upgrades", "pingInterval", "pingTimeout"])
        #expect(fields["upgrades"] as? [String] == ["websocket"])
        #expect((fields["sid"] as? String)?.count == 36)
    }

    @Test("version 4 is greeted, and connected when it asks")
    func handshakeFour() throws {
        let server = try callingServer()
        let answer = try server.request("GET", "/socket.io/?EIO=4&transport=polling")
        #expect(answer.text.contains("\"maxPayload\":65536"))
        let client = try PollingClient(server, version: 4)
        #expect(try client.post(["42[\"leave\",\"desk\"]"]).text == "ok")
    }

    @Test(
        "a request that can't be one is told why",
        arguments: [
            ("GET", "/socket.io/?EIO=4", 400, 0), ("GET", "/socket.io/?EIO=4&transport=pigeon", 400, 0),
            ("GET", "/socket.io/?EIO=4&transport=polling&sid=nobody", 400, 1),
            ("POST", "/socket.io/?EIO=4&transport=polling&sid=nobody", 400, 1),
            ("POST", "/socket.io/?EIO=4&transport=polling", 400, 2),
            ("GET", "/socket.io/?EIO=4&transport=websocket", 400, 3),
        ])
    func errors(method: String, path: String, status: Int, code: Int) throws {
        let server = try callingServer()
        let answer = try server.request(method, path, body: method == "POST" ? "" : nil)
        #expect(answer.status == status)
        #expect(answer.headers["content-type"] == "application/json")
        let body = try #require(JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
        #expect(body["code"] as? Int == code)
        #expect((body["message"] as? String)?.isEmpty == false)
    }

    @Test("a request waits until there is something to say", arguments: [3, 4])
    func longPoll(version: Int) throws {
        let media = CallingMedia()
        let server = try callingServer(media)
        let client = try PollingClient(server, version: version)
        let waiting = try client.beginPoll()
        #expect(try client.post([SocketIOText.join]).text == "ok")
        var packets = try client.endPoll(waiting)
        while packets.count < 2 { packets += try client.poll() }
        let joined = try #require(SocketIOText.event(packets[0]))
        #expect(joined.first as? String == "joined")
        #expect(joined.count == 3)
        let offer = try #require(SocketIOText.event(packets[1]))
        #expect((offer.last as? [String: String]) == ["type": "offer", "sdp": CallingMedia.offer])
        _ = try client.post(["42[\"message\",\"desk,secret\",{\"type\":\"answer\",\"sdp\":\"v=0\"}]"])
        #expect(media.state.withLock { $0.answers } == ["v=0"])
    }

    @Test("two requests that wait at once end the session", arguments: [3, 4])
    func twoPolls(version: Int) throws {
        let server = try callingServer()
        let client = try PollingClient(server, version: version)
        let requests = [try client.beginPoll(), try client.beginPoll()]
        let answers = try requests.map { try $0.response() }.sorted { $0.status < $1.status }
        #expect(answers.map(\.status) == [200, 400])
        // Whichever came first is told of the end.
        #expect(PollingClient.split(answers[0].text, version) == ["1"])
        #expect(try TestSocket(port: server.port).request("GET", client.path).text.contains("\"code\":1"))
    }

    @Test("two requests that bring something at once end the session")
    func twoPosts() throws {
        let server = try callingServer()
        let client = try PollingClient(server, version: 4)
        let head = "POST \(client.path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n"
        let first = try TestSocket(port: server.port)
        try first.send(head + "4")
        // The first one's header may come later than the second's.
        try eventually("one of them to be refused, and the session's end") {
            try TestSocket(port: server.port).request("POST", client.path, body: "2").status == 400
        }
        try first.send("2")
        #expect(try first.response().status == 400)
    }

    @Test("what isn't a payload ends the session", arguments: [3, 4])
    func malformed(version: Int) throws {
        let server = try callingServer()
        let client = try PollingClient(server, version: version)
        #expect(try TestSocket(port: server.port).request("POST", client.path, body: "garbage").status == 400)
        #expect(try TestSocket(port: server.port).request("GET", client.path).text.contains("\"code\":1"))
    }

    @Test("python-engineio's binary form of version 3 is read")
    func binaryForm() throws {
        let server = try callingServer()
        let client = try PollingClient(server, version: 3)
        let body = "\u{0}\u{1}\u{FF}2"
        let raw = try TestSocket(port: server.port)
        try raw.send("POST \(client.path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n\r\n")
        try raw.send(body.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        #expect(try raw.response().text == "ok")
        #expect(try client.poll() == ["3"])
    }

    @Test("version 4 is pinged and stays while it answers")
    func heartbeatFour() throws {
        let server = try callingServer { $0.limits.enginePingInterval = .milliseconds(100) }
        let client = try PollingClient(server, version: 4)
        for _ in 0..<4 {
            #expect(try client.poll() == ["2"])
            _ = try client.post(["3"])
        }
    }

    @Test("version 4 is gone when it doesn't answer")
    func silenceFour() throws {
        let server = try callingServer {
            $0.limits.enginePingInterval = .milliseconds(100)
            $0.limits.enginePingTimeout = .milliseconds(200)
        }
        let client = try PollingClient(server, version: 4)
        try eventually("the end of the one that doesn't answer") {
            try TestSocket(port: server.port).request("GET", client.path).text.contains("\"code\":1")
        }
    }

    @Test("version 3 pings and is answered")
    func heartbeatThree() throws {
        let server = try callingServer { $0.limits.enginePingInterval = .milliseconds(100) }
        let client = try PollingClient(server, version: 3)
        for _ in 0..<4 {
            _ = try client.post(["2"])
            #expect(try client.poll() == ["3"])
        }
    }

    @Test("version 3 is gone when it doesn't ping")
    func silenceThree() throws {
        let server = try callingServer {
            $0.limits.enginePingInterval = .milliseconds(100)
            $0.limits.enginePingTimeout = .milliseconds(200)
        }
        let client = try PollingClient(server, version: 3)
        try eventually("the end of the silent one") {
            try TestSocket(port: server.port).request("POST", client.path, body: "2:").text.contains("\"code\":1")
                || (try TestSocket(port: server.port).request("GET", client.path).text.contains("1:1"))
        }
    }

    @Test("a client that is killed while it waits frees its place")
    func killed() throws {
        let server = try callingServer()
        let client = try PollingClient(server, version: 4)
        _ = try client.post([SocketIOText.join])
        var packets: [String] = []
        while packets.count < 2 { packets += try client.poll() }
        #expect(server.server.audience(of: "desk").players == 1)
        var waiting: TestSocket? = try client.beginPoll()
        _ = try client.post(["2probe"])
        _ = try client.endPoll(try #require(waiting))
        waiting = try client.beginPoll()
        #expect(server.server.audience(of: "desk").players == 1)
        waiting = nil
        try eventually("its place to be free") { server.server.audience(of: "desk").players == 0 }
    }

    @Test("there are only so many sessions: one in no room makes room for another, one in a room stays")
    func sessions() throws {
        let server = try callingServer { $0.limits.engineSessions = 2 }
        let member = try PollingClient(server, version: 4)
        _ = try member.post([SocketIOText.join])
        var packets: [String] = []
        while packets.count < 2 { packets += try member.poll() }
        let strangers = try (0..<3).map { _ in try PollingClient(server, version: 4) }
        #expect(try strangers[1].post(["2"]).status == 400)
        #expect(try strangers[2].post(["2"]).status == 200 && member.post(["2"]).status == 200)
    }

    @Test("if all are in rooms, there are no more")
    func fullTable() throws {
        let server = try callingServer { $0.limits.engineSessions = 1 }
        let member = try PollingClient(server, version: 4)
        _ = try member.post([SocketIOText.join])
        var packets: [String] = []
        while packets.count < 2 { packets += try member.poll() }
        #expect(try server.request("GET", "/socket.io/?EIO=4&transport=polling").status == 503)
    }

    @Test("a session that doesn't join is closed, and leaves room for another")
    func joinless() throws {
        let server = try callingServer {
            $0.limits.engineSessions = 1
            $0.limits.joinTime = .seconds(3)
        }
        let opening = "/socket.io/?EIO=4&transport=polling"
        #expect(try server.request("GET", opening).status == 200)
        let client = try PollingClient(server, version: 4)
        try eventually("its end") { try client.post(["2"]).status == 400 }
    }

    @Test("a client that sends without pause is dropped")
    func flood() throws {
        let server = try callingServer()
        let client = try PollingClient(server, version: 4)
        let many = [String](repeating: "42[\"message\",\"desk\",{}]", count: 60)
        var refused = false
        for _ in 0..<3 where !refused { refused = try client.post(many).status == 400 }
        #expect(refused)
    }

    @Test("mutated requests never end the server", arguments: [3, 4])
    func mutations(version: Int) throws {
        let server = try callingServer { $0.limits.engineSessions = 10_000 }
        var random = SeededRandom(seed: UInt64(version))
        let offer =
            "42[\"message\",\"desk,secret\",{\"type\":\"offer\",\"sdp\":\"v=0\",\"label\":\"0\",\"candidate\":\"c\"}]"
        let packets = [SocketIOText.join, offer, "4212[\"leave\",\"desk\"]", "2probe", "3", "40/x,", "451-[\"a\"]"]
        let body = version == 4 ? packets.joined(separator: "\u{1E}") : packets.map { "\($0.count):\($0)" }.joined()
        var client = try PollingClient(server, version: version)
        for _ in 0..<60 {
            let raw = try TestSocket(port: server.port)
            let bytes = random.mutation(of: Array(body.utf8))
            try raw.send("POST \(client.path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(bytes.count)\r\n\r\n")
            try raw.send(bytes)
            let answer = try raw.response()
            #expect(answer.status == 200 || answer.status == 400)
            client = try PollingClient(server, version: version)
        }
        #expect(try server.request("GET", "/healthz").status == 204)
    }
}
