import H264
import MediaTypes
import RTSPServing
import Signalling
import Synchronization
import TestSupport
import Testing

@testable import ScreenRelayKit

@Suite("Players for whom a host has no room")
struct RTSPRefusalTests {
    private final class Shortage: Sendable {
        let reason = Mutex<String?>(nil)
    }

    @Test("a host that refuses viewers answers players with 503, and one that was admitted goes on")
    func refusal() throws {
        let shortage = Shortage()
        var configuration = HostConfiguration()
        configuration.token = nil
        configuration.sessionRefusal = { shortage.reason.withLock { $0 } }
        let pictures = Array(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()).prefix(25))
        let other = try StillHost(configuration, showing: pictures)
        defer { withExtendedLifetime(other) {} }
        let server = try RTSPServer(other.host, at: ListenAddress(address: "127.0.0.1", port: 0))
        let (url, transport) = ("rtsp://h/screen", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
        let admitted = try RTSPTestClient(port: server.address.port)
        #expect(try admitted.ask("DESCRIBE \(url)", 1).status == 200)
        shortage.reason.withLock { $0 = "the host has too little memory for another viewer" }
        #expect(try admitted.ask("SETUP \(url)/track1", 2, transport).status == 200)
        #expect(try admitted.ask("PLAY \(url)", 3).status == 200)
        for request in ["DESCRIBE \(url)", "SETUP \(url)/track1"] {
            let client = try RTSPTestClient(port: server.address.port)
            let refused = try client.ask(request, 1, transport)
            #expect(refused.status == 503 && refused.headers["retry-after"] == "5", "\(request)")
        }
        shortage.reason.withLock { $0 = nil }
        let later = try RTSPTestClient(port: server.address.port)
        #expect(try later.ask("DESCRIBE \(url)", 1).status == 200)
        #expect(server.sessions == 1)
    }

    @Test("players on the host's own machine aren't limited as those of one address")
    func loopback() throws {
        var configuration = HostConfiguration()
        configuration.token = nil
        let pictures = Array(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()).prefix(25))
        let other = try StillHost(configuration, showing: pictures)
        defer { withExtendedLifetime(other) {} }
        var limits = RTSPServerLimits()
        limits.connectionsOfAddress = 1
        let server = try RTSPServer(other.host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits)
        let players = try (0..<3).map { _ in try RTSPTestClient(port: server.address.port) }
        let transport = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"
        for player in players {
            #expect(try player.ask("SETUP rtsp://h/screen/track1", 1, transport).status == 200)
            #expect(try player.ask("PLAY rtsp://h/screen", 2).status == 200)
        }
        try eventually("all play", holds: { server.sessions == 3 })
    }
}
