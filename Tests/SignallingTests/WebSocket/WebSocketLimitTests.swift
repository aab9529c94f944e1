import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("What one WebSocket may use")
struct WebSocketLimitTests {
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
        let server = try patientServer()
        let (reader, writer, readerID, writerID) = try slowReaderAndWriter(server.port)
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
        let server = try RunningServer { $0.limits.pingTime = .seconds(3) }
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
        let server = try patientServer()
        let (reader, writer, readerID, _) = try slowReaderAndWriter(server.port)
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

    /// A slow machine, as under a sanitizer, must not take a member that doesn't read for a dead one.
    private func patientServer() throws -> RunningServer {
        try RunningServer {
            $0.limits.messagesPerSecond = 100_000
            $0.limits.pingTime = .seconds(600)
        }
    }

    /// A member whose socket takes little and that doesn't read, another one beside it, and the names of both.
    private func slowReaderAndWriter(_ port: UInt16) throws -> (WebSocketClient, WebSocketClient, String, String) {
        let reader = try WebSocketClient(port: port, takesLittle: true)
        try reader.send(event: "__join", "{\"room\":\"desk,secret\"}")
        let readerID = try #require(try reader.next(event: "_peers")["you"] as? String)
        let writer = try WebSocketClient(port: port)
        try writer.send(event: "__join", "{\"room\":\"desk,secret\"}")
        let writerID = try #require(try writer.next(event: "_peers")["you"] as? String)
        return (reader, writer, readerID, writerID)
    }
}
