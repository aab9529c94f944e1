import MediaTypes
import OutputLife
import OutputSettings
import Processes
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

@Suite("What pushes send of changing tracks", .enabled(if: FFmpeg.isAvailable), .serialized)
struct PushFormatTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
    }

    private func picture(_ size: PictureSize) -> I420Picture {
        let bytes = [UInt8](repeating: 128, count: size.width * size.height * 3 / 2)
        return I420Picture(size: size, bytes: bytes, isFullRange: false, matrix: .bt601, captureTime: nil)
    }

    private func sizes(_ file: String) throws -> Set<String> {
        Set(try SoundedTrack.probe(folder.file(file), ["-show_entries", "frame=width,height"]))
    }

    @Test("pictures of another size go into another file, and all of them are kept", arguments: ["mp4", "mkv"])
    func size(_ suffix: String) throws {
        defer { host.stop() }
        let track = try CustomVideoTrack(picturesPerSecond: 25)
        #expect(host.firstTrack.publish(track))
        let told = Told()
        let push = try Push(host.firstTrack, to: try PushAddress("file:" + folder.file("talk.\(suffix)"))) {
            told.take($0)
        }
        push.start()
        for (size, states) in [
            (PictureSize(width: 320, height: 240), [OutputState.connecting, .connected]),
            (PictureSize(width: 176, height: 144), [.connecting, .connected, .connecting, .connected]),
        ] {
            try eventually("it is connected") {
                track.write(picture: picture(size))
                return told.states == states
            }
        }
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        #expect(told.failures == [])
        #expect(try sizes("talk.\(suffix)") == ["320,240"])
        #expect(try sizes("talk-2.\(suffix)") == ["176,144"])
    }

    /// Has pictures of one size sent, and then of another, until each has come `count` times.
    private func sendSizes(to url: String, then check: (CustomVideoTrack) throws -> Void = { _ in }) throws {
        let track = try CustomVideoTrack(picturesPerSecond: 25)
        #expect(host.firstTrack.publish(track))
        let told = Told()
        let push = try Push(host.firstTrack, to: try PushAddress(url)) { told.take($0) }
        push.start()
        for size in [PictureSize(width: 320, height: 240), PictureSize(width: 176, height: 144)] {
            var count = 0
            try eventually("pictures of \(size)") {
                track.write(picture: picture(size))
                if push.state == .connected { count += 1 }
                return count > 50
            }
        }
        try check(track)
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        #expect(told.states.count { $0 == .connected } == 1 && told.failures == [])
    }

    @Test(
        "pictures of another size follow in the same connection, and can be decoded",
        arguments: MediaReceiver.Transport.allCases)
    func sizeInConnection(_ transport: MediaReceiver.Transport) throws {
        defer { host.stop() }
        let server = try MediaReceiver(transport, port: try freePort(), in: folder)
        try sendSizes(to: server.url)
        try eventually("the receiver's end") { server.process.poll() != nil }
        #expect(
            try Set(SoundedTrack.probe(server.file, ["-show_entries", "frame=width,height"])) == [
                "320,240", "176,144",
            ])
        let decoded = try FFmpeg.decode(server.file, to: "gray")
        #expect(decoded.faults.isEmpty, "\(decoded.messages)")
    }

    @Test(
        "a player that connects to an RTMP server after a change of size gets the current size",
        .enabled(if: NginxServer.isAvailable))
    func sizeForLater() throws {
        defer { host.stop() }
        let server = try NginxServer(port: try freePort(), in: folder)
        try sendSizes(to: server.url) { track in
            var launch = Launch(
                "ffprobe", ["-v", "error", "-of", "csv=p=0", "-show_entries", "stream=width,height", server.url])
            launch.standardOutput = .text(limit: 1 << 16)
            launch.standardError = .text(limit: 1 << 16)
            let probe = try ChildProcess(launch)
            defer { probe.stop(within: .zero) }
            try eventually("what a player finds") {
                track.write(picture: picture(PictureSize(width: 176, height: 144)))
                return probe.poll() != nil
            }
            probe.output?.waitForEnd(within: .seconds(5))
            #expect(probe.output?.text.contains("176,144") == true, "\(probe.errorOutput?.text ?? "")")
        }
        try eventually("nginx has seen the end") { server.log.contains(" disconnect,") }
        #expect(
            try Set(SoundedTrack.probe(server.recording, ["-show_entries", "frame=width,height"]))
                .isSuperset(of: ["320,240", "176,144"]))
    }

    @Test("a still picture that is encoded once more comes as often as players must look at it, by RTMP")
    func stillEncoded() throws {
        defer { host.stop() }
        let track = try CustomVideoTrack(picturesPerSecond: 25)
        #expect(host.firstTrack.publish(track))
        track.write(picture: picture(PictureSize(width: 176, height: 144)))
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
        var settings = PushSettings()
        settings.video = VideoSettings()
        settings.statusPeriod = .milliseconds(200)
        let push = try Push(host.firstTrack, to: try PushAddress(server.url), settings: settings)
        push.start()
        // Once a second, that would take two minutes.
        try eventually("120 pictures are sent") { (push.status?.sentPictures ?? 0) >= 120 }
        push.stop()
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))
    }

    @Test("segments of a still picture that is encoded once more don't wait for it to change")
    func stillSegments() throws {
        defer { host.stop() }
        let track = try CustomVideoTrack(picturesPerSecond: 25)
        #expect(host.firstTrack.publish(track))
        track.write(picture: picture(PictureSize(width: 176, height: 144)))
        var settings = PushSettings()
        settings.video = VideoSettings()
        let path = folder.file("room.m3u8")
        let push = try Push(host.firstTrack, to: try PushAddress("file:" + path), settings: settings)
        push.start()
        try eventually("three segments") {
            guard let list = try? fileBytes(path) else { return false }
            return String(decoding: list, as: UTF8.self).split(separator: "\n").count { $0.hasPrefix("#EXTINF") } >= 3
        }
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
    }

    @Test("a source that has sound and no pictures is sent as sound, and pictures begin another file")
    func soundAlone() throws {
        defer { host.stop() }
        let tone = try ToneSource(host.firstTrack)
        let told = Told()
        let push = try Push(host.firstTrack, to: try PushAddress("file:" + folder.file("talk.mkv"))) { told.take($0) }
        push.start()
        try eventually("it is connected") {
            try tone.write(amplitude: 0.5)
            return push.state == .connected
        }
        try eventually("sound is sent") {
            try tone.write(amplitude: 0.5)
            return (push.status?.sentSound ?? 0) > 10
        }
        let track = try CustomVideoTrack(picturesPerSecond: 25)
        #expect(host.firstTrack.publish(track))
        try eventually("it connects again") {
            try tone.write(amplitude: 0.5)
            track.write(picture: picture(PictureSize(width: 176, height: 144)))
            return told.states == [.connecting, .connected, .connecting, .connected]
        }
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        #expect(told.failures == [])
        #expect(try SoundedTrack.codecs(folder.file("talk.mkv")) == ["opus"])
        #expect(try SoundedTrack.tones(folder.file("talk.mkv")).count == 1)
        #expect(try SoundedTrack.codecs(folder.file("talk-2.mkv")) == ["h264", "opus"])
    }
}
