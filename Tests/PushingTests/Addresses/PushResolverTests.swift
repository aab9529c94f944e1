import H264
import MediaTypes
import OutputLife
import OutputSettings
import ScreenRelayKit
import Synchronization
import TestSupport
import Testing
import WebRTCPushing

@testable import Pushing

@Suite("Looking up the host of a push", .serialized)
struct PushResolverTests {
    private let host: ScreenRelayHost
    private let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))

    init() throws {
        host = try ScreenRelayHost(HostConfiguration())
        #expect(host.firstTrack.publish(track))
        let pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        track.write(pictures[0])
    }

    @Test(
        "a host's name gives way to its address, and an RTMP server is told the name",
        arguments: [
            (
                "rtmp://user:pw@studio:1936/live/key?a=b", "192.0.2.1", "rtmp://user:pw@192.0.2.1:1936/live/key?a=b",
                "rtmp://studio:1936/live"
            ),
            ("rtmp://studio/a/b/key", "2001:db8::1", "rtmp://[2001:db8::1]/a/b/key", "rtmp://studio:1935/a/b"),
            ("rtmp://studio/a/mp4:b/key", "192.0.2.1", "rtmp://192.0.2.1/a/mp4:b/key", "rtmp://studio:1935/a"),
            ("rtmp://studio/a", "192.0.2.1", "rtmp://192.0.2.1/a", "rtmp://studio:1935/a"),
            ("srt://studio:9000?mode=caller", "2001:db8::1", "srt://[2001:db8::1]:9000?mode=caller", ""),
            ("rtsp://studio/room", "192.0.2.1", "rtsp://192.0.2.1/room", ""),
            ("rtmps://studio/a/key", "192.0.2.1", "rtmps://studio/a/key", ""),
            ("rtmp://[::1]/a/key", "192.0.2.1", "rtmp://[::1]/a/key", ""),
            ("rtmp://127.0.0.1/a/key", "192.0.2.1", "rtmp://127.0.0.1/a/key", ""),
            ("file:///no/such/a.mp4", "192.0.2.1", "file:/no/such/a.mp4", ""),
        ])
    func places(_ url: String, _ address: String, _ place: String, _ told: String) throws {
        defer { host.stop() }
        let resolved = try PushAddress(url).resolved { _ in address }
        #expect(resolved == ResolvedAddress(url: place, options: told.isEmpty ? [:] : ["rtmp_tcurl": told]))
        #expect(try PushAddress(url).resolved { _ in nil }.url == PushAddress(url).place())
    }

    @Test(
        "a server that another server has named can't be nearer than that one, and is looked up once",
        arguments: [
            ("rtmp://127.0.0.1/a/key", .global, nil, nil), ("rtmp://u:p@[::1]:1935/a/key", .privateNetwork, nil, nil),
            ("srt://localhost:9000", .privateNetwork, nil, nil), ("rtmps://localhost/a/key", .linkLocal, nil, nil),
            ("rtsp://192.168.1.2/a", .global, nil, nil), ("rtmp://studio/a", .global, "10.0.0.1", nil),
            ("rtmp://192.168.1.2/a", .privateNetwork, nil, "rtmp://192.168.1.2/a"),
            ("rtmp://studio/a", .global, "192.0.2.1", "rtmp://192.0.2.1/a"),
            ("srt://127.0.0.1:9000", .thisMachine, nil, "srt://127.0.0.1:9000"),
        ] as [(String, Nearness, String?, String?)])
    func nearness(_ url: String, _ nearest: Nearness, _ found: String?, _ place: String?) throws {
        defer { host.stop() }
        var address = try PushAddress(url)
        address.nearest = nearest
        if let place {
            #expect(try address.resolved { _ in found }.url == place)
        } else {
            let error = #expect(throws: OutputSettingsError.self) { try address.resolved { _ in found } }
            #expect(error?.description == "its stream object names a server of this machine or its network")
        }
        // What the user has named may be anywhere.
        _ = try PushAddress(url).resolved { _ in found }
    }

    @Test("a name that another server has named is connected to at the address that was judged")
    func judged() throws {
        defer { host.stop() }
        var address = try PushAddress("srt://localhost:9000")
        address.nearest = .thisMachine
        let url = try address.resolved { _ in nil }.url
        #expect(["srt://127.0.0.1:9000", "srt://[::1]:9000"].contains(url))
    }

    @Test(
        "a push finds a name that only its resolver knows, by IPv4 and IPv6", .enabled(if: FFmpeg.isAvailable),
        arguments: [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
    func connects(_ address: String, _ place: String) throws {
        defer { host.stop() }
        let folder = try TemporaryFolder()
        let port = try freePort()
        let server = try MediaReceiver(.rtmp, port: port, in: folder, host: place)
        defer { withExtendedLifetime(server) {} }
        let asked = Mutex<[String]>([])
        var settings = PushSettings()
        settings.resolve = { name in
            asked.withLock { $0.append(name) }
            return address
        }
        let push = try host.push(to: try PushAddress("rtmp://studio.invalid:\(port)/live/key"), settings: settings)
        try eventually("it is connected") { push.state == .connected }
        #expect(asked.withLock { $0 } == ["studio.invalid"])
    }

    @Test("an answer that is no address is an error, without it")
    func wrong() throws {
        defer { host.stop() }
        var settings = PushSettings()
        settings.resolve = { _ in "nowhere/else" }
        let push = try host.push(to: try PushAddress("rtmp://studio.invalid/live/key"), settings: settings)
        try eventually("it has failed") { push.state == .error }
        #expect(push.failure?.description == "what its host was resolved to is no address")
    }

    @Test("the server is asked for the application of the name, not of the address")
    func name() throws {
        defer { host.stop() }
        let listener = try TestSocket(listening: .tcp)
        defer { listener.close() }
        let port = listener.port
        var settings = PushSettings()
        settings.resolve = { _ in "127.0.0.1" }
        let push = try host.push(to: try PushAddress("rtmp://studio.invalid:\(port)/live/key"), settings: settings)
        defer { withExtendedLifetime(push) {} }
        let client = try listener.accepted()
        // C0 and C1 are answered with S0, S1 and S2, by a server that knows no digests.
        _ = try client.take(1537)
        try client.send([3] + [UInt8](repeating: 0, count: 3072))
        _ = try client.take(1536)
        try eventually("the request") {
            client.read()
            // Behind C2, pieces of 128 bytes begin with this mark.
            let request = client.received.filter { $0 != 0xC3 }
            return String(decoding: request, as: UTF8.self).contains("rtmp://studio.invalid:\(port)/live")
        }
    }
}
