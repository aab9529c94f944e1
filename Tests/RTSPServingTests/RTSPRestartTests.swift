import H264
import MediaTypes
import RTP
import RTSPServing
import ScreenRelayKit
import Signalling
import Synchronization
import TestSupport
import Testing

/// Key frames for players, which can't ask for one.
@Suite("A second key frame by RTSP", .serialized)
struct RTSPRestartTests {
    /// How often the source was asked for a key frame.
    private final class Requests: Sendable {
        let count = Mutex(0)
    }

    private let host: ScreenRelayHost
    private let track: CustomVideoTrack
    private let requests = Requests()
    private let watcher: TrackSubscription
    private let pictures: [CodedFrame]

    init() throws {
        var configuration = HostConfiguration()
        configuration.token = nil
        host = try ScreenRelayHost(configuration)
        pictures = Array(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()).prefix(25))
        track = CustomVideoTrack(feedback: .init(keyFrameWanted: { [requests] in requests.count.withLock { $0 += 1 } }))
        watcher = host.firstTrack.subscribe {}
        #expect(host.firstTrack.publish(track))
    }

    private func serve(secondStart: Interval) throws -> RTSPServer {
        var limits = RTSPServerLimits()
        limits.secondStart = secondStart
        return try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits)
    }

    /// A player over UDP, and what it has been sent.
    private final class Player {
        let ports: OddPorts
        let reports: UInt16
        let ssrc: UInt32
        private let client: RTSPTestClient
        private(set) var packets: [RTPPacket] = []

        init(_ server: RTSPServer) throws {
            ports = try OddPorts()
            client = try RTSPTestClient(port: server.address.port)
            let url = "rtsp://127.0.0.1:\(server.address.port)/screen"
            let answer = try client.ask(
                "SETUP \(url)/track1", 1, "Transport: RTP/AVP;unicast;client_port=\(ports.number)-\(ports.number + 1)")
            var values: [String: String] = [:]
            for part in try #require(answer.headers["transport"]).split(separator: ";") {
                let words = part.split(separator: "=")
                if words.count == 2 { values[String(words[0])] = String(words[1]) }
            }
            reports = try #require(values["server_port"]?.split(separator: "-").last.flatMap { UInt16($0) })
            ssrc = try #require(values["ssrc"].flatMap { UInt32($0, radix: 16) })
            #expect(try client.ask("PLAY \(url)", 2).status == 200)
        }

        /// How many key frames have come: each has one packet that begins one, a unit or its first fragment.
        func keyFrames() throws -> Int {
            packets += try ports.takeMedia().map { try RTPPacket(parsing: $0[...]) }
            var times: Set<RTPTimestamp> = []
            for packet in packets {
                let bytes = Array(packet.payload.prefix(2))
                guard bytes.count == 2 else { continue }
                let isKey = bytes[0] & 31 == 5 || bytes[0] & 31 == 28 && bytes[1] & 0x9F == 0x85
                if isKey { times.insert(packet.header.timestamp) }
            }
            return times.count
        }
    }

    @Test("comes soon after a player has begun, from what the host has kept, without a word to the source")
    func begun() throws {
        defer { host.stop() }
        for picture in pictures { track.write(picture) }
        let server = try serve(secondStart: .milliseconds(300))
        let player = try Player(server)
        try eventually("the second key frame") { try player.keyFrames() >= 2 }
        try eventually("all that is behind it") {
            _ = try player.keyFrames()
            return player.packets.count { $0.header.marker } >= 2 * pictures.count
        }
        // Its clock goes on, and its numbers have no gap.
        for (one, next) in zip(player.packets, player.packets.dropFirst()) {
            #expect(next.header.sequenceNumber == one.header.sequenceNumber.next)
            #expect(one.header.timestamp.distance(to: next.header.timestamp) >= 0)
        }
        #expect(requests.count.withLock { $0 } == 0)
    }

    @Test("comes 1.2 s after PLAY where the server has its usual limits")
    func usualTime() throws {
        defer { host.stop() }
        #expect(RTSPServerLimits().secondStart == .milliseconds(1200))
        for picture in pictures { track.write(picture) }
        let server = try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0))
        let begin = now()
        let player = try Player(server)
        try eventually("the second key frame") { try player.keyFrames() >= 2 }
        #expect(now() - begin >= .milliseconds(1200))
    }

    @Test("and further ones follow where the source has sent few pictures, until the player has enough to look at")
    func still() throws {
        defer { host.stop() }
        track.write(pictures[0])
        let server = try serve(secondStart: .milliseconds(100))
        let player = try Player(server)
        // FFmpeg looks at twenty.
        try eventually("enough pictures") { try player.keyFrames() >= 25 }
        // Three more, later and later, for a player that looks for longer.
        let end = now() + .milliseconds(2500)
        try eventually("the last one, and some time more") {
            _ = try player.keyFrames()
            return now() > end
        }
        #expect(try (27...29).contains(player.keyFrames()))
        #expect(requests.count.withLock { $0 } == 0)
    }

    @Test("is asked of the source where too much has come since the last one")
    func moving() throws {
        defer { host.stop() }
        track.write(pictures[0])
        for picture in pictures[1...4] { track.write(picture.padded(by: 40_000)) }
        let server = try serve(secondStart: .milliseconds(300))
        let player = try Player(server)
        try eventually("a word to the source") { requests.count.withLock { $0 } == 1 }
        #expect(try player.keyFrames() == 1)
        track.write(pictures[0])
        try eventually("the key frame") { try player.keyFrames() == 2 }
    }

    @Test("comes after a player has reported lost packets, and no sooner than 2 s after the one before")
    func lost() throws {
        defer { host.stop() }
        for picture in pictures { track.write(picture) }
        let server = try serve(secondStart: .seconds(3600))
        let player = try Player(server)
        // While a key frame and what is behind it are on their way, a loss needs no other.
        try eventually("the first key frame, and all behind it") {
            try player.keyFrames() == 1 && player.packets.count { $0.header.marker } == pictures.count
        }
        // Neither a report about nothing, nor one about another's stream, nor one without a loss.
        player.ports.report(to: player.reports)
        player.ports.report(to: player.reports, lost: (player.ssrc &+ 1, 9))
        player.ports.report(to: player.reports, lost: (player.ssrc, 0))
        try eventually("a sender report after these") { !player.ports.takeReports().isEmpty }
        #expect(try player.keyFrames() == 1)
        player.ports.report(to: player.reports, lost: (player.ssrc, 1))
        try eventually("the second key frame") { try player.keyFrames() == 2 }
        let second = now()
        player.ports.report(to: player.reports, lost: (player.ssrc, 2))
        player.ports.report(to: player.reports, lost: (player.ssrc, 3))
        try eventually("the third one") { try player.keyFrames() == 3 }
        #expect(now() - second > .milliseconds(1900))
        #expect(requests.count.withLock { $0 } == 0)
    }
}
