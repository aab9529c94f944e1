import MediaSessions
import MediaTypes
import STUN
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import WebRTC

@Suite("Viewing a host")
struct ViewingTests {
    private let host: MediaServer
    private let viewer: MediaServer
    private let hub: TrackHub
    private let source = RecordingSource()
    private let collector = UnitCollector()

    private final class Ending: Sendable {
        let reason = Mutex<String?>(nil)
    }

    init() throws {
        var configuration = MediaServerConfiguration(bind: TransportAddress(ipv4: 127, 0, 0, 1, port: 0))
        host = try MediaServer(configuration, log: .silent)
        configuration.takesConnections = false
        viewer = try MediaServer(configuration, log: .silent)
        hub = TrackHub(origin: now())
        hub.connect(source: source)
    }

    private func stop() {
        viewer.stop()
        host.stop()
    }

    /// Starts a session. `client` is the address that sent the offer; if it is nil, the host leaves DTLS to the viewer.
    private func watch(client: String?, _ ending: Ending) throws -> MediaSessionID {
        let offer = viewer.offerToView()
        let opened = try host.open(offer: offer.text, from: client, watching: WatchedSource(video: hub)) { _ in }
        return try viewer.view(offer, answer: opened.answer, to: collector) { _, end in
            ending.reason.withLock { $0 = end.description }
        }
    }

    private func publish(_ unit: CodedFrame) -> [[UInt8]] {
        hub.publish(unit, epoch: 1, arrival: now())
        return unit.contents
    }

    @Test(
        "receives a host's frames in 4:2:0 and 4:4:4, as the DTLS client or server",
        arguments: [nil, "127.0.0.1"] as [String?]
    )
    func pictures(client: String?) throws {
        defer { stop() }
        let ending = Ending()
        let id = try watch(client: client, ending)
        let connected = Flag()
        let path = Mutex<TransportAddress?>(nil)
        viewer.enableKeepalive(id, timeout: .seconds(10)) { connected.set() }
        viewer.watchPath(id) { peer in path.withLock { $0 = peer } }
        try eventually("the connection") { connected.isSet }
        try eventually("its path") { path.withLock { $0 } == TransportAddress(ipv4: 127, 0, 0, 1, port: host.port) }
        for profile: UInt8 in [0x42, 0xF4, 0x42] {
            let pictures = [
                publish(Pictures.idr(60_000, seed: UInt64(profile), captured: now(), profile: profile)),
                publish(Pictures.delta(4_000, seed: UInt64(profile), captured: now())),
            ]
            try eventually("the pictures") { collector.contents.suffix(2) == pictures[...] }
        }
        let frames = collector.units
        #expect(frames.allSatisfy { $0.captureTime <= $0.arrival && $0.lostPackets == 0 })
        viewer.close(id)
        try eventually("the end") { ending.reason.withLock { $0 } == "closed" }
        try eventually("the host's end") { hub.viewers == 0 }
    }

    @Test("opens no TCP port")
    func ports() {
        defer { stop() }
        #expect(!viewer.takesConnections)
        #expect(!viewer.offerToView().text.contains("tcptype"))
    }

    @Test("rejects an answer that sends no media, and keeps no session")
    func unusable() throws {
        defer { stop() }
        let offer = viewer.offerToView()
        #expect(throws: MediaSessionError.self) {
            _ = try viewer.view(offer, answer: "hello", to: collector) { _, _ in }
        }
        #expect(throws: MediaSessionError.self) {
            _ = try viewer.view(offer, answer: Answers.chromium, to: collector) { _, _ in }
        }
        #expect(viewer.registry.withLock { $0.open.isEmpty })
    }

    @Test("ends when the host stops sending")
    func silence() throws {
        defer { stop() }
        let ending = Ending()
        let id = try watch(client: nil, ending)
        viewer.enableKeepalive(id, timeout: .seconds(2)) {}
        _ = publish(Pictures.idr(5_000, captured: now()))
        try eventually("the picture") { !collector.units.isEmpty }
        host.stop()
        try eventually("the end") { ending.reason.withLock { $0 } != nil }
    }
}
