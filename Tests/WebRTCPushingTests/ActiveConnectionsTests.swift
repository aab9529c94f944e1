import Glibc
import MediaTypes
import SDP
import STUN
import Synchronization
import TestSupport
import Testing

@testable import WebRTCPushing

@Suite("The way to a server over TCP")
struct ActiveConnectionsTests {
    private static let offer = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 106\r\na=ice-ufrag:ours\r\n"

    private func answer(_ candidates: String...) -> String {
        "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 106\r\n"
            + candidates.enumerated().map { "a=candidate:\($0) 1 \($1)\r\n" }.joined()
    }

    /// The candidates that are announced.
    private final class Paths: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    private func connect(
        to ports: UInt16..., after delay: Interval = .zero, paths: Paths = Paths()
    ) throws -> ActiveConnections {
        let lines = ports.enumerated().map {
            "a=candidate:\($0) 1 tcp \(9 - $0) 127.0.0.1 \($1) typ host tcptype passive\r\n"
        }
        let connections = ActiveConnections(
            offer: Self.offer, answer: answer() + lines.joined(), nearest: .thisMachine, after: delay
        ) { paths.add($0) }
        return try #require(connections)
    }

    /// A check of the session's, or of another one's.
    private func check(_ username: String = "theirs:ours") throws -> [UInt8] {
        let id = try #require(STUNMessage.TransactionID((0..<12).map { _ in 1 }))
        return STUNMessage.encode(
            .request, transactionID: id, attributes: [.username(username)], key: nil, hmac: { _, _ in [] })
    }

    @Test("passive candidates are connected to, those that the server prefers first, four at most")
    func candidates() {
        let text = answer(
            "udp 9 192.0.2.9 1 typ host", "tcp 2 192.0.2.2 1 typ host tcptype passive",
            "tcp 8 192.0.2.8 9 typ host tcptype active", "tcp 7 192.0.2.7 9 typ host",
            "tcp 6 2001:db8::6 6 typ host tcptype passive", "tcp 5 name.local 5 typ host tcptype passive",
            "tcp 4 127.0.0.1 4 typ host tcptype passive", "tcp 3 10.0.0.3 3 typ host tcptype passive",
            "tcp 1 192.0.2.1 1 typ host tcptype passive", "tcp 10 192.0.2.10 0 typ host tcptype passive")
        func hosts(_ nearest: Nearness) -> [String] {
            ActiveConnections.candidates(in: text, nearest: nearest).map(\.address)
        }
        #expect(hosts(.global) == ["2001:db8::6", "192.0.2.2", "192.0.2.1"])
        #expect(hosts(.privateNetwork) == ["2001:db8::6", "10.0.0.3", "192.0.2.2", "192.0.2.1"])
        #expect(hosts(.thisMachine) == ["2001:db8::6", "127.0.0.1", "10.0.0.3", "192.0.2.2"])
        #expect(ActiveConnections.candidates(in: answer(), nearest: .global).isEmpty)
        #expect(ActiveConnections(offer: Self.offer, answer: answer(), nearest: .thisMachine) { _ in } == nil)
    }

    @Test("the session's datagrams go both ways, each behind its length, once the server has accepted the connection")
    func datagrams() throws {
        let server = try RawServer()
        let paths = Paths()
        let connections = try connect(to: server.port, paths: paths)
        try server.accept()
        let line = try eventually("the candidate") { paths.all.first }
        #expect(line.hasPrefix("candidate:tcp0 1 udp 2000 127.0.0.1 ") && line.hasSuffix(" typ host"))
        let port = try #require(line.split(separator: " ").dropFirst(5).first.flatMap { UInt16($0) })
        let session = try LocalSocket(to: port)
        let check = try check()
        session.send(check)
        #expect(try server.take(atLeast: 2 + check.count) == [0, UInt8(check.count)] + check)
        session.send([0x80, 1])
        session.send([0x80, 2, 3])
        #expect(try server.take(atLeast: 9) == [0, 2, 0x80, 1, 0, 3, 0x80, 2, 3])
        try server.send([0, 2, 0x80])
        #expect(!session.hasReceived)
        try server.send([9])
        try eventually("the datagram") { session.hasReceived }
        withExtendedLifetime(connections) {}
    }

    @Test("a connection ends with the object, and with a datagram that is too long")
    func ends() throws {
        let server = try RawServer()
        var connections: ActiveConnections? = try connect(to: server.port)
        try server.accept()
        try server.send([0xFF, 0xFF])
        #expect(try server.takeToEnd().isEmpty)
        connections = try connect(to: server.port)
        try server.accept()
        withExtendedLifetime(connections) {}
        connections = nil
        #expect(try server.takeToEnd().isEmpty)
    }

    @Test("one that can't be reached doesn't hold up the next")
    func several() throws {
        let server = try RawServer()
        let paths = Paths()
        let connections = try connect(to: freePort(), server.port, paths: paths)
        try server.accept()
        let line = try eventually("the candidate") { paths.all.first }
        #expect(line.hasPrefix("candidate:tcp1 ") && paths.all.count == 1)
        withExtendedLifetime(connections) {}
    }

    @Test("they are begun a second after the answer, and not if the session is connected by then")
    func delay() throws {
        let (idle, server) = (try RawServer(), try RawServer())
        let settled = try connect(to: idle.port, after: .milliseconds(200))
        settled.settle()
        let begin = now()
        let connections = try connect(to: server.port, after: ServerRelay.delay)
        try server.accept()
        #expect(now() - begin >= .seconds(1) && !idle.hasNext)
        withExtendedLifetime((settled, connections)) {}
    }
}
