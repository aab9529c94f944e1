import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Calls between socket.io's clients")
struct SocketIOCallTests {
    private func server(_ change: (inout SignallingConfiguration) -> Void = { _ in }) throws -> RunningServer {
        try callingServer {
            $0.pairRooms = true
            change(&$0)
        }
    }

    private func join(
        _ server: borrowing RunningServer, _ room: String, version: Int = 4
    ) throws -> (client: WebSocketClient, answer: [Any]) {
        let client = try WebSocketClient.socketIO(server, version: version)
        try client.send("42[\"join\",\"\(room)\"]")
        return (client, try client.nextEvent())
    }

    @Test("two call each other, a third finds the room full, and one leaves", arguments: [3, 4])
    func call(version: Int) throws {
        let server = try server()
        let (ann, annJoined) = try join(server, "call,secret", version: version)
        #expect(annJoined[0] as? String == "joined")
        #expect(annJoined[1] as? String == "call,secret")
        let (ben, benJoined) = try join(server, "call,secret", version: 7 - version)
        #expect(benJoined[0] as? String == "joined")
        let came = try ann.nextEvent()
        #expect(came[0] as? String == "otherjoin")
        #expect(came[2] as? String == benJoined[2] as? String)

        try ann.send("42[\"message\",\"call,secret\",{\"type\":\"offer\",\"sdp\":\"v=0\\r\\ns=é\"}]")
        guard case .text(let raw) = try ben.next() else { throw TestSocket.Failure(what: "no text") }
        #expect(raw == "42[\"message\",\"call,secret\",{\"sdp\":\"v=0\\r\\ns=\\u00e9\",\"type\":\"offer\"}]")
        try ben.send("42[\"message\",\"call,secret\",{\"type\":\"candidate\",\"label\":0,\"candidate\":\"c1\"}]")
        let candidate = try #require(try ann.nextEvent()[2] as? [String: Any])
        #expect(candidate["candidate"] as? String == "c1")
        #expect(candidate["sdp"] as? String == "c1")
        #expect(candidate["label"] as? Int == 0)
        try ann.send("42[\"message\",\"call,secret\",\"any text\"]")
        #expect(try ben.nextEvent()[2] as? String == "any text")
        // Not a double.
        try ann.send("42[\"message\",\"call,secret\",9007199254740993]")
        #expect(try ben.next() == .text("42[\"message\",\"call,secret\",9007199254740992]"))

        let (third, full) = try join(server, "call,secret", version: version)
        #expect(full[0] as? String == "full")
        try ben.send("42[\"leave\",\"call,secret\"]")
        let bye = try ann.nextEvent()
        #expect(bye[0] as? String == "bye")
        #expect(bye[2] as? String == benJoined[2] as? String)
        #expect(try ben.nextEvent()[0] as? String == "leaved")
        #expect(try ben.next() == .text("41"))
        #expect(try ben.next() == .close(1000))
        try third.send("42[\"join\",\"call,secret\"]")
        #expect(try third.nextEvent()[0] as? String == "joined")
        #expect(try ann.nextEvent()[0] as? String == "otherjoin")
        #expect(server.log.lines.withLock { $0.filter { $0.contains("secret") || $0.contains("call,") } } == [])
    }

    /// A message with a list in a list, and so on.
    private static func nested(_ depth: Int) -> String {
        "[\"message\",\"a\"," + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "]"
    }

    @Test(
        "what is passed on keeps its values, as JSON in ASCII",
        arguments: [
            (#"["message","a",[1,-2.5,true,null,"é/\u00e9\n",{}]]"#, #"[1,-2.5,true,null,"\u00e9/\u00e9\n",{}]"#),
            (#"["message", "a", {"b": {"d": 9007199254740992, "c": ""}}, 1]"#, #"{"b":{"c":"","d":9007199254740992}}"#),
            (#"["message","a",7]"#, "7"), (#"["message","a",null]"#, "null"), (#"["message","a"]"#, nil), ("{}", nil),
            (#"["message","a",1e400]"#, nil), (#"["message","a","[[[\",\"\\"]"#, #""[[[\",\"\\""#),
            (nested(15), String(nested(15).dropFirst(15).dropLast())), (nested(16), nil), (nested(5000), nil),
            ("[\"message\",\"a\"" + String(repeating: ",{}", count: 100) + "]", "{}"),
            ("[\"message\",\"a\"" + String(repeating: ",{}", count: 20_000) + "]", nil),
            (#"["message","a",{"type":"candidate","sdp":"s"}]"#, #"{"candidate":"s","sdp":"s","type":"candidate"}"#),
        ] as [(String, String?)])
    func relayed(event: String, data: String?) {
        #expect(SocketIOEvent.relayed(event) == data)
    }

    @Test("rooms are apart, the host's own stay the host's, and a lost connection is bye")
    func apart() throws {
        let server = try server()
        let (host, joined) = try join(server, "desk,secret")
        #expect(joined[0] as? String == "joined")
        #expect(try host.nextEvent()[0] as? String == "message")
        var (ann, _): (WebSocketClient?, [Any]) = try join(server, "a,secret")
        let (other, _) = try join(server, "b,secret")
        let (ben, _) = try join(server, "a,secret")
        #expect(try ann?.nextEvent()[0] as? String == "otherjoin")
        ann = nil
        #expect(try ben.nextEvent()[0] as? String == "bye")
        // Nothing has come to the other room before this.
        try other.send("42[\"leave\",\"b,secret\"]")
        #expect(try other.nextEvent()[0] as? String == "leaved")
    }

    @Test("one that goes on to another room is gone from the first")
    func moving() throws {
        let server = try server()
        let (ann, _) = try join(server, "a,secret")
        let (ben, _) = try join(server, "a,secret")
        _ = try ann.nextEvent()
        try ben.send("42[\"join\",\"desk,secret\"]")
        #expect(try ann.nextEvent()[0] as? String == "bye")
        #expect(try ben.nextEvent()[0] as? String == "joined")
        #expect(try ben.nextEvent()[0] as? String == "message")
        try ben.send("42[\"join\",\"a,secret\"]")
        #expect(try ben.nextEvent()[0] as? String == "joined")
        #expect(try ann.nextEvent()[0] as? String == "otherjoin")
    }

    @Test("a call needs what the first room needs, and the option")
    func access() throws {
        for room in ["call", "call,wrong", "call,secret,password", "call,"] {
            let server = try server {
                $0.rooms[0].access = RoomAccess(viewing: "secret", isPassword: { $0 == "sesame" })
            }
            let (client, answer) = try join(server, room)
            #expect(answer[0] as? String == "leaved")
            #expect(try client.next() == .text("41"))
            let (_, right) = try join(server, "call,secret,sesame")
            #expect(right[0] as? String == "joined")
        }
        let open = try RunningServer(token: nil, media: CallingMedia()) { $0.pairRooms = true }
        #expect(try join(open, "call").answer[0] as? String == "joined")
        let without = try callingServer()
        #expect(try join(without, "call,secret").answer[0] as? String == "leaved")
    }

    @Test("what clients are told of each other isn't the secret name of a session, and lets no one act in it")
    func identifiers() throws {
        let server = try server()
        let (ann, annJoined) = try join(server, "a,secret")
        let (ben, benJoined) = try join(server, "a,secret")
        let came = try ann.nextEvent()
        let known = [annJoined, benJoined, came].compactMap { $0[2] as? String }
        #expect(known.count == 3)
        for name in known + ["", "a,secret", "*"] {
            let path = "/socket.io/?EIO=4&sid=\(name)&transport="
            let answers = [
                try server.request("GET", path + "polling"), try server.request("POST", path + "polling", body: "41"),
                try server.request("GET", path + "websocket", WebSocketClient.upgradeHeaders),
            ]
            for answer in answers {
                #expect(answer.status == 400 && answer.text == "{\"code\":1,\"message\":\"Session ID unknown\"}")
            }
        }
        try ben.send("42[\"message\",\"a,secret\",\"still here\"]")
        #expect(try ann.nextEvent()[2] as? String == "still here")
    }

    @Test("when the token has expired, both are removed")
    func expiry() throws {
        let clock = TestClock()
        let server = try server {
            $0.lifetimeClock = { clock.now }
            $0.rooms[0].access = RoomAccess(viewing: "secret", expiry: 2000)
        }
        let (ann, _) = try join(server, "a,secret")
        let (ben, _) = try join(server, "a,secret")
        _ = try ann.nextEvent()
        clock.now = 2001
        // One of the two goes first, and the other may hear of that.
        for client in [ann, ben] {
            var event = try client.nextEvent()[0] as? String
            if event == "bye" { event = try client.nextEvent()[0] as? String }
            #expect(event == "leaved")
        }
    }
}
