import H264
import MediaTypes
import RTP
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import Threading

@testable import RTSPServing

@Suite("Players over RTSP beside each other", .serialized)
struct RTSPCrowdTests {
    private let host: ScreenRelayHost
    private let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
    /// Keeps the track watched: with nobody there, a host keeps nothing of what is written.
    private let watcher: TrackSubscription
    private let picture: CodedFrame

    init() throws {
        var configuration = HostConfiguration()
        configuration.room = "crowd"
        configuration.token = nil
        host = try ScreenRelayHost(configuration)
        picture = try #require(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()).first)
        watcher = host.firstTrack.subscribe {}
        #expect(host.firstTrack.publish(track))
    }

    private func serve(timeout: Interval = .seconds(70)) throws -> RTSPServer {
        var limits = RTSPServerLimits()
        limits.timeout = timeout
        limits.secondStart = .seconds(3600)
        return try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits)
    }

    /// Begins to play over UDP. Returns the connection, and the server's port of reports.
    private func play(_ server: RTSPServer, at ports: OddPorts) throws -> (client: RTSPTestClient, reports: UInt16) {
        let client = try RTSPTestClient(port: server.address.port)
        let url = "rtsp://127.0.0.1:\(server.address.port)/crowd"
        let setUp = try client.ask(
            "SETUP \(url)", 1, "Transport: RTP/AVP;unicast;client_port=\(ports.number)-\(ports.number + 1)")
        let reports = try #require(
            setUp.headers["transport"]?.split(separator: ";").first { $0.hasPrefix("server_port=") }?
                .split(separator: "-").last.flatMap { UInt16($0) })
        #expect(try client.ask("PLAY \(url)", 2).status == 200)
        return (client, reports)
    }

    @Test("a large picture over UDP, whose packets leave together, comes whole and in order")
    func large() throws {
        defer { host.stop() }
        let server = try serve()
        track.write(picture)
        let ports = try OddPorts()
        let player = try play(server, at: ports)
        defer { withExtendedLifetime(player) {} }
        var packets: [RTPPacket] = []
        func pictureCount() throws -> Int {
            packets += try ports.takeMedia().map { try RTPPacket(parsing: $0[...]) }
            return packets.count { $0.header.marker }
        }
        try eventually("the first picture") { try pictureCount() == 1 }
        let before = packets.count
        let large = picture.padded(by: 60_000)
        track.write(large)
        try eventually("the large picture") { try pictureCount() == 2 }
        #expect(packets.count - before > 50)
        let numbers = packets.map(\.header.sequenceNumber)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0.next == $1 })
        let contents = try #require(
            TrackFormat.Codec.h264.depacketizer.contents(of: packets[before...].map(\.payload)))
        let padding = try #require(large.units.last)
        #expect(contents.units.last.map { Array($0.dropFirst(4)) } == Array(large.bytes[padding]))
    }

    @Test("a player's reports keep its own session, and no other; and numbers of players that have left are used again")
    func reports() throws {
        defer { host.stop() }
        let server = try serve(timeout: .seconds(3))
        track.write(picture)
        try withExtendedLifetime(try play(server, at: try OddPorts())) { _ in
            try eventually("it plays") { server.sessions == 1 }
        }
        try eventually("it has left") { server.sessions == 0 }
        let (silentPorts, ports) = (try OddPorts(), try OddPorts())
        let silent = try play(server, at: silentPorts)
        let player = try play(server, at: ports)
        try eventually("the silent one's end") {
            ports.report(to: player.reports)
            try silent.client.receive()
            return silent.client.isClosed
        }
        try eventually("one session") { server.sessions == 1 }
        track.write(picture)
        try eventually("the next picture") { ports.takeMedia().contains { $0[1] & 0x80 != 0 } }
        try player.client.receive()
        #expect(!player.client.isClosed)
    }

    @Test("a player waits in the inbox once, however often it is signalled, until the signal is consumed")
    func inbox() throws {
        let inbox = try #require(Mailbox<Int>())
        let wakes = [PlayerWake(3, inbox), PlayerWake(5, inbox)]
        for _ in 0..<3 {
            for wake in wakes { wake.signal() }
        }
        #expect(inbox.take() == [3, 5])
        wakes[1].consume()
        for wake in wakes { wake.signal() }
        #expect(inbox.take() == [5])
    }
}
