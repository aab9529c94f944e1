import Glibc
import H264
import MediaTypes
import OutputLife
import OutputSettings
import Processes
import Pushing
import ScreenRelayKit
import Synchronization
import TestSupport
import Testing

@Suite("The life of a push", .enabled(if: FFmpeg.isAvailable), .serialized)
final class PushLifeTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
    private let pictures: [CodedFrame]
    private var written = 0

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        #expect(host.firstTrack.publish(track))
    }

    deinit { host.stop() }

    /// Called again and again, this is a video of about 60 pictures a second.
    private func write() {
        track.write(pictures[written % pictures.count])
        written += 1
        poll(nil, 0, 10)
    }

    @Test("a push that hangs disturbs no other: all that is written arrives there")
    func hanging() throws {
        let mute = try RawServer()
        var settings = PushSettings()
        settings.connectTimeout = .seconds(300)
        let silent = try PushAddress("rtmp://127.0.0.1:\(mute.port)/live/key")
        let hanging = try Push(host.firstTrack, to: silent, settings: settings)
        hanging.start()
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
        let push = try host.push(to: try PushAddress(server.url))
        track.write(pictures[0])
        // The connection is accepted, and nothing is answered.
        try mute.accept()
        try eventually("the other one is connected") { push.state == .connected }
        for picture in pictures {
            track.write(picture)
            poll(nil, 0, 10)
        }
        try eventually("all are sent") { push.status?.sentPictures ?? 0 >= pictures.count }
        #expect(push.status?.droppedPictures == 0)
        #expect(hanging.state == .connecting)
        push.stop()
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))
        let decoded = try FFmpeg.decode(server.file)
        #expect(decoded.faults.isEmpty, "\(decoded.messages)")
        #expect(decoded.bytes.count >= pictures.count * 176 * 144 * 3)
        hanging.stop()
    }

    @Test("the end of one push over SRT ends no other, and neither does one that can't connect")
    func severalOverSRT() throws {
        let servers = try (0..<2).map { _ in try MediaReceiver(.srt, port: try freePort(), in: folder) }
        let pushes = try servers.map { try host.push(to: try PushAddress($0.url)) }
        func writeUntil(_ what: String, holds condition: () -> Bool) throws {
            try eventually(what, within: .seconds(60)) {
                write()
                return condition()
            }
        }
        try writeUntil("both send") { pushes.allSatisfy { $0.status?.sentPictures ?? 0 > 0 } }
        let nowhere = try host.push(to: try PushAddress("srt://127.0.0.1:\(try freePort())?connect_timeout=200"))
        defer { nowhere.stop() }
        try writeUntil("one has failed") { nowhere.state == .error }
        pushes[0].stop()
        try writeUntil("one has ended") { pushes[0].state == .disconnected }
        let sent = try #require(pushes[1].status).sentPictures
        try writeUntil("the other one sends more") { pushes[1].status?.sentPictures ?? 0 >= sent + 100 }
        #expect(pushes[1].state == .connected)
        pushes[1].stop()
        for server in servers {
            #expect(server.process.wait(within: .seconds(90)) == .exited(0))
            // That is how FFmpeg reports the end of SRT.
            let faults = server.process.errorOutput?.text.split(separator: "\n") ?? []
            #expect(faults.allSatisfy { $0.hasSuffix(": Input/output error") }, "\(faults)")
        }
    }

    @Test("while a push tries again, it says why")
    func reason() throws {
        write()
        let address = try PushAddress("rtmp://127.0.0.1:\(try freePort())/live/key")
        var settings = PushSettings()
        settings.tries = 3
        let told = Told()
        let push = try Push(host.firstTrack, to: address, settings: settings) { told.take($0) }
        push.start()
        try eventually("it tries again") { told.states == [.connecting, .autoReconnecting] }
        #expect(told.failures == ["Connection refused"])
        #expect(push.state == .autoReconnecting && push.failure?.description == "Connection refused")
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        #expect(push.failure == nil)
    }

    @Test("with another bit rate for its own encoder, the connection goes on, and wrong settings change nothing")
    func reloadRate() throws {
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
        var video = VideoSettings()
        video.size = PictureSize(width: 640, height: 480)
        video.bitRate = BitRate(bitsPerSecond: 4_000_000)
        video.lowestBitRate = BitRate(bitsPerSecond: 64_000)
        var settings = PushSettings()
        settings.statusPeriod = .seconds(1)
        settings.video = video
        let told = Told()
        let push = try Push(host.firstTrack, to: try PushAddress(server.url), settings: settings) { told.take($0) }
        push.start()
        func eventuallyRate(_ what: String, _ range: ClosedRange<Int>) throws {
            try eventually(what) {
                write()
                return push.status.map { range.contains($0.rates.bitRate.bitsPerSecond) } ?? false
            }
        }
        try eventuallyRate("the first rate", 500_000...20_000_000)
        var wrong = settings
        wrong.video?.framesPerSecond = 61
        #expect(throws: OutputSettingsError.self) { try push.reload(wrong) }
        settings.statusPeriod = .milliseconds(500)
        settings.video?.bitRate = BitRate(bitsPerSecond: 100_000)
        try push.reload(settings)
        try eventuallyRate("the second rate", 1...300_000)
        #expect(told.states == [.connecting, .connected])
        push.stop()
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))
    }

    @Test("settings before the start count for it, and another size while it runs starts again")
    func reloadSize() throws {
        let told = Told()
        let address = try PushAddress("file:" + folder.file("talk.mkv"))
        let push = try Push(host.firstTrack, to: address) { told.take($0) }
        var settings = PushSettings()
        settings.video = VideoPreset.low1.settings
        try push.reload(settings)
        push.start()
        func eventuallyTold(_ states: [OutputState]) throws {
            try eventually("\(states)") {
                write()
                return told.states == states && push.status != nil
            }
        }
        try eventuallyTold([.connecting, .connected])
        settings.video?.size = PictureSize(width: 320, height: 240)
        try push.reload(settings)
        try eventuallyTold([.connecting, .connected, .connecting, .connected])
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        // Settings for a push that has ended don't start it.
        try push.reload(PushSettings())
        #expect(try size(of: "talk.mkv") == "480,272")
        #expect(try size(of: "talk-2.mkv") == "320,240")
        #expect(push.state == .disconnected)
    }

    /// The width and height of a file's pictures.
    private func size(of name: String) throws -> String {
        let entries = ["-show_entries", "stream=width,height"]
        var probe = Launch("ffprobe", ["-v", "error", "-of", "csv=p=0"] + entries + [folder.file(name)])
        probe.standardOutput = .text(limit: 1 << 12)
        let output = try ChildProcess.run(probe, within: .seconds(90)).output
        return output.split(separator: "\n").first.map(String.init) ?? ""
    }
}
