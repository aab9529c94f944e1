import Foundation
import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("socket.io's rooms of two")
struct SocketIORoomTests {
    @Test("a whole call over a WebSocket alone: joined, offer, answer, candidates, leaved", arguments: [3, 4])
    func call(version: Int) throws {
        let media = CallingMedia()
        let server = try callingServer(media)
        let client = try WebSocketClient.socketIO(server, version: version)
        try client.send(SocketIOText.join)
        let joined = try client.nextEvent()
        #expect(joined.first as? String == "joined")
        #expect(joined[1] as? String == "desk,secret")
        #expect((joined[2] as? String)?.count == 36)
        let offer = try client.nextEvent()
        #expect(offer[0] as? String == "message")
        #expect(offer[1] as? String == "desk,secret")
        #expect(offer[2] as? [String: String] == ["type": "offer", "sdp": CallingMedia.offer])
        try eventually("it to be counted") { server.server.audience(of: "desk").players == 1 }

        let message = "42[\"message\",\"desk,secret\","
        try client.send(message + "{\"type\":\"answer\",\"sdp\":\"v=0\\r\\n\"}]")
        // The iOS client's label is text, and the web client's a number.
        try client.send(
            message + "{\"type\":\"candidate\",\"label\":\"0\",\"id\":\"0\",\"candidate\":\"candidate:1\"}]")
        try client.send(message + "{\"type\":\"candidate\",\"label\":0,\"id\":\"0\",\"sdp\":\"candidate:2\"}]")
        try eventually("the candidates") {
            media.state.withLock { $0.answers == ["v=0\r\n"] && $0.candidates == ["candidate:1", "candidate:2"] }
        }
        try client.send("42[\"leave\",\"desk,secret\"]")
        let left = try client.nextEvent()
        #expect(left[0] as? String == "leaved")
        #expect(left[2] as? String == joined[2] as? String)
        #expect(try client.next() == .text("41"))
        #expect(try client.next() == .close(1000))
        #expect(media.state.withLock { $0.closed } == [1])
        try eventually("it to be counted out") { server.server.audience(of: "desk").players == 0 }
        #expect(server.log.lines.withLock { $0.filter { $0.contains("secret") } } == [])
    }

    @Test("one too many is told so, and comes in when the other's connection is gone", arguments: [3, 4])
    func full(version: Int) throws {
        let media = CallingMedia()
        let server = try callingServer(media)
        var first: WebSocketClient? = try WebSocketClient.socketIO(server, version: version)
        try first?.send(SocketIOText.join)
        _ = try first?.nextEvent()
        let second = try WebSocketClient.socketIO(server, version: version)
        try second.send(SocketIOText.join)
        let full = try second.nextEvent()
        #expect(full[0] as? String == "full")
        #expect(full[1] as? String == "desk,secret")
        #expect(full.count == 3)
        first = nil
        try eventually("its place to be free") { media.state.withLock { $0.closed == [1] } }
        try second.send(SocketIOText.join)
        #expect(try second.nextEvent()[0] as? String == "joined")
    }

    @Test("a wrong token, a wrong room and none are all told that they are out, and no more", arguments: [3, 4])
    func refused(version: Int) throws {
        let server = try callingServer()
        for room in ["\"desk,wrong\"", "\"nowhere,secret\"", "\"desk\"", "false", "\"\"", "{}"] {
            let client = try WebSocketClient.socketIO(server, version: version)
            try client.send("42[\"join\",\(room)]")
            let left = try client.nextEvent()
            #expect(left[0] as? String == "leaved")
            #expect(left.count == 3)
            #expect(try client.next() == .text("41"))
            #expect(try client.next() == .close(1000))
        }
        #expect(server.log.lines.withLock { $0.filter { $0.contains("wrong") } } == [])
    }

    @Test("a name may be as it stood in a URL, and an open room needs no token")
    func names() throws {
        let server = try callingServer()
        let client = try WebSocketClient.socketIO(server, version: 3)
        try client.send("42[\"join\",\"desk%2Csecret\"]")
        #expect(try client.nextEvent()[1] as? String == "desk%2Csecret")
        let media = CallingMedia()
        let open = try RunningServer(token: nil, media: media)
        let guest = try WebSocketClient.socketIO(open, version: 3)
        try guest.send("42[\"join\",false]")
        #expect(try guest.nextEvent()[0] as? String == "joined")
    }

    @Test("a session that ends is bye, and the client may call again", arguments: [false, true])
    func sessionEnded(alsoOtherJoined: Bool) throws {
        let media = CallingMedia()
        let server = try callingServer(media) { $0.alsoOtherJoined = alsoOtherJoined }
        let client = try WebSocketClient.socketIO(server, version: 4)
        try client.send(SocketIOText.join)
        _ = try client.nextEvent()
        _ = try client.nextEvent()
        media.endLast()
        let bye = try client.nextEvent()
        #expect(bye[0] as? String == "bye")
        #expect(bye.count == 3)
        let back = try client.nextEvent()
        #expect(back[0] as? String == "otherjoin")
        #expect(back.count == 3)
        if alsoOtherJoined {
            let also = try client.nextEvent()
            #expect(also[0] as? String == "other_joined")
            #expect(also[2] as? String == back[2] as? String)
        }
        try client.send("42[\"message\",\"desk,secret\",{\"type\":\"offer\",\"sdp\":\"v=1\"}]")
        #expect(try client.nextEvent()[2] as? [String: String] == ["type": "answer", "sdp": CallingMedia.answer])
        #expect(media.state.withLock { $0.offersTaken } == ["v=1"])
    }

    @Test("a host that makes no offers has the client make one")
    func clientOffers() throws {
        let media = CallingMedia()
        media.state.withLock { $0.offerRefusal = .unsupported("no offers") }
        let server = try callingServer(media)
        let client = try WebSocketClient.socketIO(server, version: 3)
        try client.send(SocketIOText.join)
        #expect(try client.nextEvent()[0] as? String == "joined")
        #expect(try client.nextEvent()[0] as? String == "otherjoin")
        media.state.withLock { $0.offerRefusal = .full("16 viewers") }
        try client.send(SocketIOText.join)
        #expect(try client.nextEvent()[0] as? String == "full")
    }

    @Test("an answer that can't be used is bye")
    func badAnswer() throws {
        let media = CallingMedia()
        media.state.withLock { $0.answerRefusal = .badOffer("no SDP") }
        let server = try callingServer(media)
        let client = try WebSocketClient.socketIO(server, version: 3)
        try client.send(SocketIOText.join)
        _ = try client.nextEvent()
        _ = try client.nextEvent()
        try client.send("42[\"message\",\"desk,secret\",{\"type\":\"answer\",\"sdp\":\"?\"}]")
        #expect(try client.nextEvent()[0] as? String == "bye")
    }

    @Test("a track that comes and goes is otherjoin and bye")
    func tracks() throws {
        let media = CallingMedia()
        let server = try callingServer(media)
        let client = try WebSocketClient.socketIO(server, version: 4)
        try client.send(SocketIOText.join)
        _ = try client.nextEvent()
        _ = try client.nextEvent()
        server.server.removeTrack("screen", room: "desk")
        #expect(try client.nextEvent()[0] as? String == "bye")
        #expect(media.state.withLock { $0.closed } == [1])
        server.server.addTrack("window", media: media, room: "desk")
        #expect(try client.nextEvent()[0] as? String == "otherjoin")
        server.server.removeTrack("window", room: "desk")
        #expect(try client.nextEvent()[0] as? String == "bye")
    }

    @Test("acknowledgements are given, other namespaces aren't, and what means nothing is passed over")
    func packets() throws {
        let server = try callingServer()
        let client = try WebSocketClient.socketIO(server, version: 4)
        try client.send("40/admin,")
        #expect(try client.next() == .text("44/admin,{\"message\":\"Invalid namespace\"}"))
        try client.send("427[\"dance\",{\"a\":[1,2]}]")
        #expect(try client.next() == .text("437[]"))
        try client.send("421[\"join\",\"desk,secret\"]")
        #expect(try client.next() == .text("431[]"))
        #expect(try client.nextEvent()[0] as? String == "joined")
        _ = try client.nextEvent()
        for nothing in [
            "42[]", "42{}", "42[1]", "42", "42[\"message\"]", "43[]", "451-[\"a\"]", "6", "42/x,[\"join\"]",
        ] {
            try client.send(nothing)
        }
        try client.send("2")
        #expect(try client.next() == .text("3"))
        let old = try WebSocketClient.socketIO(server, version: 3)
        try old.send("40/admin,")
        #expect(try old.next() == .text("44/admin,\"Invalid namespace\""))
    }

    @Test(
        "who doesn't ask for the namespace first, or speaks otherwise, is closed",
        arguments: ["42[\"join\",\"desk\"]", "9", ""])
    func protocolErrors(text: String) throws {
        let server = try callingServer()
        let client = try WebSocketClient(port: server.port, path: "/socket.io/?EIO=4&transport=websocket")
        _ = try client.next()
        try client.send(text.isEmpty ? "49" : text)
        #expect(try client.next() == .close(1000))
    }

    @Test("a client that disconnects leaves the room", arguments: ["41", "1"])
    func disconnect(text: String) throws {
        let media = CallingMedia()
        let server = try callingServer(media)
        let client = try WebSocketClient.socketIO(server, version: 4)
        try client.send(SocketIOText.join)
        _ = try client.nextEvent()
        try client.send(text)
        try eventually("its session's end") { media.state.withLock { $0.closed == [1] } }
    }

    @Test("who doesn't join in time is closed")
    func noJoin() throws {
        let server = try callingServer { $0.limits.joinTime = .milliseconds(100) }
        let client = try WebSocketClient.socketIO(server, version: 3)
        #expect(try client.next() == .close(1000))
    }

    @Test("a host that ends says bye")
    func hostEnds() throws {
        let server = try callingServer()
        let client = try WebSocketClient.socketIO(server, version: 4)
        try client.send(SocketIOText.join)
        _ = try client.nextEvent()
        _ = try client.nextEvent()
        server.server.stop()
        #expect(try client.nextEvent()[0] as? String == "bye")
        #expect(try client.next() == .close(1001))
    }
}

@Suite("Going over from polling to a WebSocket")
struct SocketIOUpgradeTests {
    private func socket(_ client: PollingClient) throws -> WebSocketClient {
        try WebSocketClient(
            port: client.port, path: "/socket.io/?EIO=\(client.version)&transport=websocket&sid=\(client.name)")
    }

    @Test(
        "a probe is answered, the request that waits is let go, and the session goes on over the WebSocket",
        arguments: [3, 4])
    func upgrade(version: Int) throws {
        let server = try callingServer()
        let client = try PollingClient(server, version: version)
        let waiting = try client.beginPoll()
        let socket = try socket(client)
        try socket.send("2probe")
        #expect(try socket.next() == .text("3probe"))
        #expect(try client.endPoll(waiting) == ["6"])
        try socket.send("5")
        try socket.send(SocketIOText.join)
        #expect(try socket.nextEvent()[0] as? String == "joined")
        #expect(try TestSocket(port: server.port).request("GET", client.path).text.contains("\"code\":3"))
        #expect(try TestSocket(port: server.port).request("POST", client.path, body: "2").text.contains("\"code\":3"))
        _ = try socket.nextEvent()
        #expect(throws: TestSocket.Failure.self) { _ = try self.socket(client) }
    }

    @Test("what is said meanwhile waits for the WebSocket, and none of it is lost")
    func meanwhile() throws {
        let server = try callingServer()
        let client = try PollingClient(server, version: 4)
        _ = try client.post([SocketIOText.join])
        let socket = try socket(client)
        try socket.send("2probe")
        #expect(try socket.next() == .text("3probe"))
        try socket.send("5")
        #expect(try socket.nextEvent()[0] as? String == "joined")
        #expect(try socket.nextEvent()[0] as? String == "message")
    }

    @Test(
        "a WebSocket that isn't taken in time, or speaks otherwise, is closed, and polling goes on", arguments: [3, 4])
    func cancelled(version: Int) throws {
        let server = try callingServer { $0.limits.engineUpgradeTime = .milliseconds(100) }
        let client = try PollingClient(server, version: version)
        let silent = try socket(client)
        #expect(try silent.next() == .close(1008))
        silent.raw.read()
        let rude = try eventually("room for another") { try? socket(client) }
        try rude.send("5")
        #expect(try rude.next() == .close(1008))
        _ = try client.post([SocketIOText.join])
        var packets: [String] = []
        while packets.count < 2 { packets += try client.poll() }
        #expect(SocketIOText.event(packets[0])?.first as? String == "joined")
    }

    @Test("a WebSocket for a session that isn't there gets none")
    func unknown() throws {
        let server = try callingServer()
        let answer = try server.request(
            "GET", "/socket.io/?EIO=4&transport=websocket&sid=nobody", WebSocketClient.upgradeHeaders)
        #expect(answer.status == 400)
        #expect(answer.text == "{\"code\":1,\"message\":\"Session ID unknown\"}")
    }
}
