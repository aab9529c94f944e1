import Glibc
import MediaTypes
import STUN
import TestSupport
import Testing
import Threading

@testable import WebRTCPushing

@Suite("The way to a server by a TURN server")
struct ServerRelayTests {
    private static let offer = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 106\r\na=ice-ufrag:ours\r\n"

    private func answer(_ candidates: String...) -> String {
        "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 106\r\n"
            + candidates.enumerated().map { "a=candidate:\($0) 1 \($1)\r\n" }.joined()
    }

    private func named(_ server: RawServer, nearest: Nearness) throws -> NamedServers {
        let links = #"<turn:127.0.0.1:\#(server.port)?transport=tcp>; rel=ice-server; username=u; credential=p"#
        return try #require(NamedServers(links: links, nearest: nearest))
    }

    private func relay(at server: RawServer, nearest: Nearness, after delay: Interval = .zero) throws -> ServerRelay {
        let named = try named(server, nearest: nearest)
        let relay = ServerRelay(
            by: named, offer: Self.offer, answer: answer("udp 1 192.0.2.7 4000 typ host"), after: delay
        ) { _ in }
        return try #require(relay)
    }

    @Test("addresses of IPv4 and UDP are relayed to, those that the server prefers first, four at most")
    func peers() {
        let text = answer(
            "udp 5 192.0.2.5 1 typ host", "tcp 9 192.0.2.9 9 typ host tcptype passive", "udp 8 2001:db8::1 8 typ host",
            "udp 7 name.local 7 typ host", "udp 6 192.0.2.6 1 typ host", "udp 4 192.0.2.6 1 typ srflx",
            "udp 3 192.0.2.3 1 typ host", "udp 2 192.0.2.2 1 typ host", "udp 1 192.0.2.1 1 typ host")
        #expect(ServerRelay.peers(in: text).map(\.host) == ["192.0.2.6", "192.0.2.5", "192.0.2.3", "192.0.2.2"])
        #expect(ServerRelay.peers(in: answer()).isEmpty && ServerRelay.peers(in: "x").isEmpty)
    }

    @Test("a TURN server is asked for an address, unless it is nearer to this machine than who has named it")
    func nearness() throws {
        let server = try RawServer()
        for nearest in [Nearness.global, .privateNetwork, .linkLocal] {
            let relay = try relay(at: server, nearest: nearest)
            #expect(try server.acceptToEnd().isEmpty)
            withExtendedLifetime(relay) {}
        }
        var relay: ServerRelay? = try relay(at: server, nearest: .thisMachine)
        try server.accept()
        let first = try server.take(atLeast: 20)
        let message = try STUNMessage(parsing: first)
        #expect(message.method == .allocate && message.messageClass == .request)
        withExtendedLifetime(relay) {}
        relay = nil
    }

    @Test("a TURN server is contacted a second after the answer, and not before")
    func delay() throws {
        let server = try RawServer()
        let named = try named(server, nearest: .thisMachine)
        let begin = now()
        let relay = ServerRelay(by: named, offer: Self.offer, answer: answer("udp 1 192.0.2.7 4000 typ host")) { _ in }
        try server.accept()
        #expect(now() - begin >= .seconds(1))
        withExtendedLifetime(relay) {}
    }

    @Test("who is connected in time needs none, and it isn't begun then")
    func settled() throws {
        let server = try RawServer()
        let idle = try relay(at: server, nearest: .thisMachine, after: .milliseconds(200))
        idle.settle()
        let other = try relay(at: server, nearest: .thisMachine, after: .milliseconds(400))
        try server.accept()
        #expect(try !server.take(atLeast: 20).isEmpty)
        // Which of them it was, the other one's absence shows.
        poll(nil, 0, 400)
        #expect(!server.hasNext)
        withExtendedLifetime((idle, other)) {}
    }

    @Test("only the session's checks open a port, and then only for where they came from")
    func port() throws {
        let port = try #require(RelayPort(of: "ours"))
        var buffer = [UInt8](repeating: 0, count: 2048)
        let (stranger, session) = (try LocalSocket(to: port.number), try LocalSocket(to: port.number))
        func check(_ username: String) throws -> [UInt8] {
            let id = try #require(STUNMessage.TransactionID((0..<12).map { _ in 1 }))
            return STUNMessage.encode(
                .request, transactionID: id, attributes: [.username(username)], key: nil, hmac: { _, _ in [] })
        }
        stranger.send([0x80, 1, 2, 3])
        stranger.send(try check("theirs:other"))
        port.send([1])
        #expect(port.receive(into: &buffer) == nil && !stranger.hasReceived)
        let own = try check("theirs:ours")
        session.send(own)
        #expect(port.receive(into: &buffer).map(Array.init) == own)
        stranger.send(try check("theirs:ours"))
        session.send([0x80, 7])
        #expect(port.receive(into: &buffer).map(Array.init) == [0x80, 7] && port.receive(into: &buffer) == nil)
        port.send([9])
        #expect(session.hasReceived && !stranger.hasReceived)
        let line = port.candidate(0)
        #expect(line == "candidate:relay0 1 udp 1000 127.0.0.1 \(port.number) typ relay")
    }
}
