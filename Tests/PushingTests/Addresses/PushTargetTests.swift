import Glibc
import H264
import MediaTypes
import OutputLife
import OutputSettings
import Pushing
import ScreenRelayKit
import Synchronization
import TestSupport
import Testing

@Suite("Where a push goes, found for each connection", .enabled(if: FFmpeg.isAvailable), .serialized)
struct PushTargetTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        #expect(host.firstTrack.publish(track))
        let pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        track.write(pictures[0])
    }

    private func failure(of push: Push) -> String { push.failure.map { "\($0)" } ?? "" }

    @Test("an object in a file is read anew for each connection")
    func file() throws {
        defer { host.stop() }
        let push = try host.push(to: try PushTarget("object:" + folder.file("live.json")))
        try eventually("it has failed") { push.state == .error }
        #expect(failure(of: push) == "its stream object can't be read: No such file or directory")
        try folder.write("live.json", Array(#"{"url": "rtmp://127.0.0.1:1/live/key"}"#.utf8))
        push.start()
        try eventually("it has failed otherwise") { failure(of: push) == "Connection refused" }
        try folder.write("live.json", [UInt8](repeating: 0x20, count: 70_000))
        push.start()
        try eventually("it is too large") {
            failure(of: push) == "its stream object can't be read: it has more than 65536 bytes"
        }
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
        defer { withExtendedLifetime(server) {} }
        try folder.write("live.json", Array(#"{"url": "\#(server.url)"}"#.utf8))
        push.start()
        try eventually("it is connected") { push.state == .connected }
    }

    @Test("a web server that takes the connection and says nothing is given up after the time for it, or at a stop")
    func silent() throws {
        defer { host.stop() }
        let listener = try TestSocket(listening: .tcp)
        defer { listener.close() }
        let port = listener.port
        let target = try PushTarget("object:http://127.0.0.1:\(port)/live.json")
        var settings = PushSettings()
        settings.connectTimeout = .seconds(1)
        let push = try host.push(to: target, settings: settings)
        try eventually("it has failed") { push.state == .error }
        #expect(failure(of: push) == "no answer within 1 s")
        let patient = try host.push(to: target)
        try eventually("it connects") { patient.state == .connecting }
        patient.stop()
        try eventually("it has ended", within: .seconds(5)) { patient.state == .disconnected }
    }

    @Test("an application's own target is asked for each connection, and may say why there is none")
    func own() throws {
        defer { host.stop() }
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
        defer { withExtendedLifetime(server) {} }
        let url = server.url
        let calls = Mutex(0)
        let target = PushTarget(description: "the studio") { () throws(OutputSettingsError) in
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            if call == 1 { throw OutputSettingsError("the studio is closed") }
            return try PushAddress(url)
        }
        #expect("\(target)" == "the studio")
        let push = try host.push(to: target)
        try eventually("it has failed") { push.state == .error }
        #expect(failure(of: push) == "the studio is closed")
        push.start()
        try eventually("it is connected") { push.state == .connected }
        #expect(calls.withLock { $0 } == 2)
    }
}
