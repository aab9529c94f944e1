import MediaSessions
import MediaTypes
import STUN
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("The address that a STUN server sees")
struct STUNQueryTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private let address = TransportAddress(ipv4: 192, 0, 2, 9, port: 3478)
    private let outside = TransportAddress(ipv4: 203, 0, 113, 5, port: 40_123)

    private var path: NetworkPath {
        NetworkPath(peer: address, local: TransportAddress(ipv4: 10, 0, 0, 2, port: 0))
    }

    private func answer(to datagram: [UInt8], _ mapped: TransportAddress) throws -> STUNMessage {
        try STUNMessage(parsing: Self.answer(to: datagram, mapped))
    }

    private static func answer(to datagram: [UInt8], _ mapped: TransportAddress) throws -> [UInt8] {
        let request = try STUNMessage(parsing: datagram)
        return STUNMessage.encode(
            .success, transactionID: request.transactionID, attributes: [.xorMappedAddress(mapped)], key: nil,
            hmac: { _, _ in [] })
    }

    /// Questions to one server whose name has been looked up.
    private func makeQueries() throws -> STUNQueries {
        let name = try #require(STUNServerName("stun.example.org"))
        var queries = STUNQueries([name])
        let names = queries.takeLookup(now: start)
        #expect(names == [name])
        queries.resolved([name: [address]], now: start)
        return queries
    }

    /// When something is sent until `end`.
    private func run(_ queries: inout STUNQueries, from start: MonotonicTime, until end: MonotonicTime) -> [Interval] {
        var sent: [Interval] = []
        var now = start
        while queries.deadline <= end, sent.count < 1000 {
            now = max(now, queries.deadline)
            _ = queries.takeLookup(now: now)
            for question in queries.takeDue(now: now) {
                #expect(question.server == address)
                sent.append(now - self.start)
            }
        }
        return sent
    }

    @Test("a server that doesn't answer is asked five times, named once, and asked again 10 s later")
    func silence() throws {
        var queries = try makeQueries()
        let sent = run(&queries, from: start, until: start + .seconds(60))
        let round = [0, 500, 1500, 3500, 7500].map { Interval.milliseconds($0) }
        let rounds = [0, 20, 40].flatMap { second in round.map { Interval.seconds(second) + $0 } }
        #expect(sent == rounds + [.seconds(60)])
        let events = queries.takeEvents()
        #expect(events == [.silent(server: "stun.example.org")])
        #expect(queries.mapped.isEmpty)
    }

    @Test("an answer gives the address, and the mapping is kept by a question each 20 to 25 s")
    func mapping() throws {
        var queries = try makeQueries()
        var now = start
        for round in 0..<20 {
            let due = queries.takeDue(now: now)
            let question = try #require(due.first)
            let message = try answer(to: question.datagram, outside)
            let request = try STUNMessage(parsing: question.datagram)
            #expect(!request.hasIntegrity && request.attributes.isEmpty)
            let isTaken = queries.take(message, along: path, now: now)
            #expect(isTaken)
            #expect(queries.mapped == [MappedAddress(address: outside, base: path.local)])
            let events = queries.takeEvents()
            #expect(events == (round == 0 ? [.found(outside, server: "stun.example.org")] : []))
            let wait = queries.deadline - now
            #expect(wait >= .seconds(20) && wait <= .seconds(25))
            now = queries.deadline
        }
    }

    @Test("an address that changes is told, and one that is no longer confirmed isn't offered")
    func change() throws {
        var queries = try makeQueries()
        let other = TransportAddress(ipv4: 203, 0, 113, 5, port: 40_999)
        var now = start
        for mapped in [outside, other] {
            let due = queries.takeDue(now: now)
            let message = try answer(to: try #require(due.first).datagram, mapped)
            let isTaken = queries.take(message, along: path, now: now)
            #expect(isTaken)
            let events = queries.takeEvents()
            #expect(events == [.found(mapped, server: "stun.example.org")])
            now = queries.deadline
        }
        #expect(queries.mapped.map(\.address) == [other])
        _ = run(&queries, from: now, until: now + .seconds(11))
        #expect(queries.mapped.isEmpty)
        let events = queries.takeEvents()
        #expect(events == [.silent(server: "stun.example.org")])
    }

    @Test("only the server's own answer to the last question counts")
    func strangers() throws {
        var queries = try makeQueries()
        let due = queries.takeDue(now: start)
        let question = try #require(due.first)
        let genuine = try answer(to: question.datagram, outside)
        var elsewhere = path
        elsewhere.peer = TransportAddress(ipv4: 192, 0, 2, 9, port: 3479)
        let unknown = STUNMessage.encode(
            .success, transactionID: try #require(.init(1...12)), attributes: [.xorMappedAddress(outside)], key: nil,
            hmac: { _, _ in [] })
        var taken = [
            queries.take(genuine, along: elsewhere, now: start),
            queries.take(try STUNMessage(parsing: unknown), along: path, now: start),
        ]
        #expect(taken == [false, false] && queries.mapped.isEmpty)
        taken = [queries.take(genuine, along: path, now: start), queries.take(genuine, along: path, now: start)]
        #expect(taken == [true, false])
    }

    @Test("a name that can't be looked up is named once, and looked up again each 30 s until its server answers")
    func lookup() throws {
        let name = try #require(STUNServerName("stun.example.org"))
        var queries = STUNQueries([name])
        #expect(queries.deadline == .zero)
        var now = start
        for _ in 0..<3 {
            let names = queries.takeLookup(now: now)
            #expect(names == [name])
            queries.resolved([name: []], now: now)
            #expect(queries.deadline == now + .seconds(30))
            now = queries.deadline
        }
        let events = queries.takeEvents()
        #expect(events == [.silent(server: "stun.example.org")])
        queries.resolved([name: [address]], now: now)
        let due = queries.takeDue(now: now)
        let question = try #require(due.first)
        _ = queries.take(try answer(to: question.datagram, outside), along: path, now: now)
        let names = queries.takeLookup(now: now + .seconds(100))
        #expect(names.isEmpty)
    }

    @Test(
        "a server is a name or an address, with or without a port",
        arguments: [
            ("192.0.2.1", "192.0.2.1:3478"), ("192.0.2.1:19302", "192.0.2.1:19302"),
            ("2001:db8::1", "[2001:db8::1]:3478"), ("[2001:db8::1]", "[2001:db8::1]:3478"),
            ("[2001:db8::1]:5000", "[2001:db8::1]:5000"),
        ])
    func names(text: String, address: String) throws {
        let name = try #require(STUNServerName(text))
        #expect(name.resolve().map(\.description) == [address])
    }

    @Test(
        "what is no server is refused",
        arguments: ["", ":3478", "example.org:", "example.org:0", "example.org:70000", "[::1", "[::1]3478", "[]"])
    func wrongNames(text: String) {
        #expect(STUNServerName(text) == nil)
    }

    // MARK: On a socket

    /// What a log says.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    /// A media server that asks `socket`.
    private func makeServer(asking socket: borrowing UDPSocket, _ lines: Lines) throws -> MediaServer {
        var configuration = MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        let local = socket.localAddress
        configuration.stunServers = ["127.0.0.1:\(try #require(local).port)", "[no server"]
        return try MediaServer(configuration, log: EventLog { _, line in lines.all.withLock { $0.append(line) } })
    }

    /// The next question that comes to `socket`, and where it comes from.
    private func question(at socket: borrowing UDPSocket) throws -> (datagram: [UInt8], path: NetworkPath) {
        var buffer = [UInt8](repeating: 0, count: 2048)
        let received = try eventually("a question") { socket.receive(into: &buffer) }
        return (Array(buffer.prefix(received.count)), received.path)
    }

    @Test("the address is in the answer behind the host's own, and the log names it; a forged one is ignored")
    func candidate() throws {
        let loopback = TransportAddress(ipv4: 127, 0, 0, 1, port: 0)
        let stun = try UDPSocket(bindingTo: loopback)
        let stranger = try UDPSocket(bindingTo: loopback)
        let lines = Lines()
        let server = try makeServer(asking: stun, lines)
        defer { server.stop() }
        let (datagram, path) = try question(at: stun)
        #expect(path.peer.port == server.port, "the question comes from the shared port")
        let forged = TransportAddress(ipv4: 203, 0, 113, 66, port: 1)
        _ = stranger.send(try Self.answer(to: datagram, forged), along: path)
        _ = stun.send(try Self.answer(to: datagram, outside), along: path)
        try eventually("the address") { server.sharedAddresses.all.map(\.address) == [outside] }

        let hub = TrackHub(origin: now())
        hub.connect(source: RecordingSource())
        let opened = try server.open(offer: Offers.chromium, watching: WatchedSource(video: hub)) { _ in }
        let candidates = opened.answer.split(whereSeparator: \.isNewline).filter { $0.contains(" udp ") }
        #expect(
            candidates == [
                "a=candidate:1 1 udp 2130706431 127.0.0.1 \(server.port) typ host",
                "a=candidate:2 1 udp 1694498559 203.0.113.5 40123 typ srflx raddr 127.0.0.1 rport \(server.port)",
            ])
        let said = lines.all.withLock { $0 }
        #expect(said.contains { $0.contains("203.0.113.5:40123") })
        #expect(!said.contains { $0.contains("203.0.113.66") })
        #expect(said.contains { $0.hasPrefix("[no server is no STUN server") })
    }

    @Test("an address that is the host's own is told once, as its own")
    func noNAT() throws {
        let stun = try UDPSocket(bindingTo: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        let server = try makeServer(asking: stun, Lines())
        defer { server.stop() }
        let (datagram, path) = try question(at: stun)
        let own = TransportAddress(ipv4: 127, 0, 0, 1, port: server.port)
        _ = stun.send(try Self.answer(to: datagram, own), along: path)
        try eventually("the address") { server.sharedAddresses.all.map(\.address) == [own] }
        let hub = TrackHub(origin: now())
        hub.connect(source: RecordingSource())
        let offered = try server.offer(watching: WatchedSource(video: hub)) { _ in }
        #expect(offered.offer.split(separator: "typ host\r\n").count == 2)
        #expect(!offered.offer.contains("srflx"))
    }
}
