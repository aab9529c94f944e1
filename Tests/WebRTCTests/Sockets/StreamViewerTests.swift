import Glibc
import MediaSessions
import MediaTypes
import STUN
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

/// Viewers that reach the server over TCP.
@Suite("ICE-TCP")
struct StreamViewerTests {
    private let loopback = TransportAddress(ipv4: 127, 0, 0, 1, port: 0)

    private func makeServer(_ log: EventLog = .silent) throws -> MediaServer {
        try MediaServer(MediaServerConfiguration(bind: loopback), log: log)
    }

    private func makeHub() -> (hub: TrackHub, source: RecordingSource) {
        let hub = TrackHub(origin: now())
        let source = RecordingSource()
        hub.connect(source: source)
        return (hub, source)
    }

    private func address(of server: MediaServer) -> TransportAddress {
        TransportAddress(ipv4: 127, 0, 0, 1, port: server.port)
    }

    private func join(
        _ server: MediaServer, _ hub: TrackHub, by socket: any ViewerSocket, from client: String? = nil
    ) throws -> SocketViewer {
        let viewer = try SocketViewer(of: server, from: client, watching: hub, at: address(of: server), by: socket)
        try viewer.connect()
        return viewer
    }

    private func show(_ unit: CodedFrame, on hub: TrackHub, to viewers: SocketViewer...) throws {
        hub.publish(unit, epoch: 1, arrival: now())
        try eventually("the picture at all viewers") {
            viewers.forEach { $0.pump() }
            return viewers.allSatisfy { $0.shows(unit) }
        }
    }

    @Test("a viewer gets whole pictures over TCP alone, whoever begins the handshake", arguments: [nil, "192.0.2.9"])
    func pictures(client: String?) throws {
        let server = try makeServer()
        defer { server.stop() }
        #expect(server.takesConnections)
        let (hub, _) = makeHub()
        let viewer = try join(server, hub, by: StreamSocket(to: server.port), from: client)
        try show(Pictures.idr(200_000, captured: now()), on: hub, to: viewer)
        for seed in UInt64(1)...20 { try show(Pictures.delta(9_000, seed: seed, captured: now()), on: hub, to: viewer) }
        #expect(viewer.viewer.pictures.count == 21 && viewer.viewer.strangeDatagrams == 0)
        try eventually("the transport in the statistics") {
            viewer.viewer.report(now: now())
            viewer.pump()
            let statistics = server.statistics(of: viewer.id)
            return statistics?.transport == .tcp && statistics?.address == "127.0.0.1"
        }
        viewer.viewer.close()
        viewer.pump()
        try eventually("the end") { viewer.end == "the peer closed the connection" }
    }

    @Test("a viewer that doesn't read its TCP connection holds up nobody else, and goes on once it reads")
    func stalled() throws {
        let server = try makeServer()
        defer { server.stop() }
        let (hub, source) = makeHub()
        let slow = try join(server, hub, by: StreamSocket(to: server.port, buffer: 4096))
        let quick = try SocketViewer(of: server, watching: hub, at: address(of: server))
        try quick.connect()
        try show(Pictures.idr(20_000, captured: now()), on: hub, to: slow, quick)
        for seed in UInt64(1)...60 {
            try show(Pictures.delta(10_000, seed: seed, captured: now()), on: hub, to: quick)
        }
        #expect(quick.viewer.pictures.count == 61)
        #expect((server.statistics(of: slow.id)?.framesSent ?? 0) < 61, "there is no room for that many")
        // What it missed may be gone by now, and a key frame takes its place.
        var asked = source.keyFrameRequests
        var last = Pictures.delta(5_000, seed: 99, captured: now())
        hub.publish(last, epoch: 1, arrival: now())
        try eventually("the last picture at the slow viewer") {
            if source.keyFrameRequests > asked {
                asked = source.keyFrameRequests
                last = Pictures.idr(20_000, captured: now())
                hub.publish(last, epoch: 1, arrival: now())
            }
            slow.pump()
            quick.pump()
            return slow.shows(last)
        }
    }

    @Test("two viewers may have the same address and port, one by UDP and one by TCP")
    func sameAddress() throws {
        let server = try makeServer()
        defer { server.stop() }
        let (hub, _) = makeHub()
        // The TCP port of the same number may be somebody else's.
        let sockets = try eventually("a number that is free twice") { () -> (DatagramSocket, StreamSocket)? in
            let datagrams = try DatagramSocket(to: address(of: server))
            guard let port = datagrams.port, let stream = try? StreamSocket(to: server.port, from: port) else {
                return nil
            }
            return (datagrams, stream)
        }
        let first = try join(server, hub, by: sockets.0)
        let second = try join(server, hub, by: sockets.1)
        try show(Pictures.idr(30_000, captured: now()), on: hub, to: first, second)
        for seed in UInt64(1)...3 {
            try show(Pictures.delta(3_000, seed: seed, captured: now()), on: hub, to: first, second)
        }
        #expect(first.viewer.strangeDatagrams == 0 && second.viewer.strangeDatagrams == 0)
    }

    @Test("a session goes on over another connection after one has closed, and by UDP, and back over TCP")
    func roaming() throws {
        let server = try makeServer()
        defer { server.stop() }
        let (hub, _) = makeHub()
        let first = try StreamSocket(to: server.port)
        let viewer = try join(server, hub, by: first)
        try show(Pictures.idr(10_000, captured: now()), on: hub, to: viewer)
        first.end()
        for seed in UInt64(1)...3 {
            viewer.move(
                to: seed == 2 ? try DatagramSocket(to: address(of: server)) : try StreamSocket(to: server.port))
            viewer.viewer.check()
            let requests = viewer.viewer.hostRequests
            try eventually("a request along the new path") {
                viewer.pump()
                return viewer.viewer.hostRequests > requests
            }
            try show(Pictures.delta(2_000, seed: seed, captured: now()), on: hub, to: viewer)
        }
        #expect(viewer.end == nil && viewer.viewer.pictures.count == 4)
    }

    @Test("a connection that begins with anything but a check, or with a frame that is too long, is closed")
    func garbage() throws {
        let server = try makeServer()
        defer { server.stop() }
        let beginnings: [[UInt8]] = [
            Array("GET / HTTP/1.1\r\n\r\n".utf8), [0, 4, 22, 254, 253, 0], [0, 3, 128, 200, 0], [0xFF, 0xFF, 0],
            [0x08, 0x01],
        ]
        for beginning in beginnings {
            let socket = try StreamSocket(to: server.port)
            socket.write(beginning)
            try eventually("the end of a connection that began with \(beginning)") {
                socket.read()
                return socket.isClosed
            }
        }
    }

    @Test("a port whose TCP side is taken or needed for something else serves UDP alone, and the log says so once")
    func taken() throws {
        let lines = Lines()
        let first = try makeServer(lines.log)
        defer { first.stop() }
        #expect(first.takesConnections && lines.all.isEmpty)

        let blocker = try TestSocket(listening: .tcp)
        defer { blocker.close() }
        let port = blocker.port
        let address = TransportAddress(ipv4: 127, 0, 0, 1, port: port)
        let second = try MediaServer(MediaServerConfiguration(bind: address), log: lines.log)
        #expect(!second.takesConnections)
        #expect(lines.all.count == 1 && lines.all[0].contains("TCP port \(port)"))
        second.stop()

        var configuration = MediaServerConfiguration(bind: address)
        configuration.reservedTCPPorts = [port]
        let third = try MediaServer(configuration, log: lines.log)
        defer { third.stop() }
        #expect(lines.all.count == 2 && lines.all[1].contains("it serves HTTP"))
        let (hub, _) = makeHub()
        let opened = try third.open(offer: Offers.chromium, watching: WatchedSource(video: hub)) { _ in }
        #expect(!opened.answer.contains("tcptype"))
        let other = try first.open(offer: Offers.chromium, watching: WatchedSource(video: hub)) { _ in }
        #expect(other.answer.contains(" 127.0.0.1 \(first.port) typ host tcptype passive\r\n"))
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        var log: EventLog {
            EventLog(upTo: .warning) { [self] _, line in lines.withLock { $0.append(line) } }
        }
    }
}
