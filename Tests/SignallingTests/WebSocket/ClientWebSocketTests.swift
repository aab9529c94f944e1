import Glibc
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Signalling

@Suite("A WebSocket to a server")
struct ClientWebSocketTests {
    private static let limit = 1000

    /// A client with a thread of its own. Unchecked: only the thread uses the socket, until its end.
    private final class Client: @unchecked Sendable {
        private let thread = ConnectionThread()
        private let seen = Mutex<[ClientWebSocket.Event]>([])
        private var socket: ClientWebSocket?
        private(set) weak var left: ClientWebSocket?

        var events: [ClientWebSocket.Event] { seen.withLock { $0 } }

        init(of server: RawServer, subprotocol: String? = nil) {
            let address = WebSocketAddress(
                host: "127.0.0.1", port: server.port, isSecure: false, target: "/", subprotocol: subprotocol)
            #expect(thread.start("test"))
            thread.post { [self] in
                let socket = ClientWebSocket(to: address, limit: limit, on: thread.context) { [weak self] event in
                    self?.seen.withLock { $0.append(event) }
                }
                self.socket = socket
                left = socket
                socket.connect()
            }
        }

        /// Ends the thread, and with it the connection.
        func end() {
            thread.post { [self] in
                socket?.close()
                socket = nil
            }
            thread.stop()
            thread.join(until: now() + .seconds(10))
        }
    }

    /// The head of a server's frame that announces `count` bytes.
    private static func head(_ first: UInt8, _ count: Int) -> [UInt8] {
        [first] + WebSocketFrame.binaryHeader(of: count).dropFirst()
    }

    private static func frame(_ first: UInt8, _ count: Int) -> [UInt8] {
        head(first, count) + [UInt8](repeating: 0x78, count: count)
    }

    @Test(
        "a message beyond the limit ends it before it has come, whole or in fragments",
        arguments: [
            head(0x81, 1001), head(0x81, 1 << 40), [0x81, 127] + [UInt8](repeating: 0xFF, count: 8),
            frame(0x01, 600) + head(0x80, 401), frame(0x01, 600) + frame(0x00, 400) + head(0x00, 1),
            // Each fragment costs something, too.
            head(0x01, 0) + Array(repeatElement(head(0x00, 0), count: 1024).joined()),
        ])
    func limit(bytes: [UInt8]) throws {
        let server = try RawServer()
        let client = Client(of: server)
        defer { client.end() }
        _ = try server.acceptWebSocket(proof: ClientHandshake.accepting)
        try server.send(bytes)
        try eventually("the end") { client.events.count == 2 }
        #expect(
            client.events == [
                .opened, .ended(.fault("the server sent a message of more than \(Self.limit) bytes")),
            ])
    }

    @Test("a message within the limit comes, whole or in fragments, and others after it")
    func messages() throws {
        let server = try RawServer()
        let client = Client(of: server)
        defer { client.end() }
        _ = try server.acceptWebSocket(proof: ClientHandshake.accepting)
        let text = String(repeating: "x", count: Self.limit)
        try server.send(Self.frame(0x81, 1000) + Self.frame(0x01, 600) + Self.frame(0x89, 3) + Self.frame(0x80, 400))
        try server.send(Self.frame(0x81, 0) + [0x88, 0x02, 0x03, 0xE8])
        try eventually("the end") { client.events.count == 5 }
        let expected: [ClientWebSocket.Event] = [
            .opened, .message(text), .message(text), .message(""), .ended(.closed(code: 1000)),
        ]
        #expect(client.events == expected)
    }

    @Test("a redirect isn't followed, and another subprotocol isn't taken")
    func otherAnswers() throws {
        let server = try RawServer()
        let moved = Client(of: server)
        defer { moved.end() }
        _ = try server.acceptRequest()
        let place = "http://127.0.0.1:\(server.port)/other"
        try server.send(Array("HTTP/1.1 302 Found\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n".utf8))
        try eventually("the end") { !moved.events.isEmpty }
        #expect(moved.events == [.ended(.refused(status: 302))] && !server.hasNext)

        let client = Client(of: server, subprotocol: "janus-protocol")
        defer { client.end() }
        let head = try server.acceptWebSocket(proof: ClientHandshake.accepting, subprotocol: "other")
        #expect(head.contains("\r\nSec-WebSocket-Protocol: janus-protocol\r\n"))
        try eventually("the end") { !client.events.isEmpty }
        #expect(client.events == [.ended(.notWebSocket)])
    }

    @Test("a thread ends while a connection is made, and leaves nothing behind")
    func ending() throws {
        let server = try RawServer()
        let client = Client(of: server)
        try server.accept()
        client.end()
        #expect(client.events.isEmpty && client.left == nil)
    }

    @Test("a context is left only after the calls that GLib still owes")
    func calls() {
        let context = MainContext()
        let isCalled = Flag()
        context.use {
            context.awaitCall()
            // As GLib does with a name that it looks up when it is told to stop: a little later, from another thread.
            let thread = NamedThread("late") {
                poll(nil, 0, 20)
                context.post {
                    isCalled.set()
                    context.gotCall()
                }
            }
            #expect(thread != nil)
        }
        #expect(isCalled.isSet)
    }
}
