import Glibc
import H264
import MediaTypes
import OutputLife
import OutputSettings
import Processes
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

@Suite("The sound of pushes", .enabled(if: FFmpeg.isAvailable), .serialized)
struct PushAudioTests {
    @Test(
        "goes out beside the pictures and in step with them, as AAC by RTMP and as Opus by SRT",
        arguments: [MediaReceiver.Transport.rtmp, .srt])
    func inStep(_ transport: MediaReceiver.Transport) throws {
        let source = try SoundedTrack()
        let port = try freePort()
        let server = try MediaReceiver(transport, port: port, in: source.folder)
        // What is late is lost, and a busy machine is late, by more than a second at times.
        let push = try source.start(server.url + (transport == .srt ? "?latency=3000000" : ""))
        try source.go(on: "it is connected") { push.state == .connected }
        #expect(source.host.firstTrack.listeners == 1)
        try source.go(for: .seconds(1))
        try source.go(for: .milliseconds(500), brightness: 235, amplitude: 0.5)
        try source.go(for: transport == .srt ? .milliseconds(3500) : .milliseconds(1500))
        push.stop()
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))
        let codecs = try SoundedTrack.codecs(server.file)
        #expect(Set(codecs) == ["h264", transport == .srt ? "opus" : "aac"] && codecs.count == 2)
        let offset = try SoundedTrack.offset(server.file)
        #expect(abs(offset) < 0.04)
        #expect(try SoundedTrack.maxStep(server.file) < 0.13)
    }

    @Test("stays in step with pictures that are encoded once more, and is as their preset says")
    func inStepEncoded() throws {
        let source = try SoundedTrack()
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: source.folder)
        var settings = PushSettings()
        settings.video = VideoSettings()
        settings.video?.framesPerSecond = 30
        settings.sound = VideoPreset.medium1.sound
        let push = try source.start(server.url, settings)
        try source.go(on: "it is connected") { push.state == .connected }
        try source.go(for: .seconds(1))
        try source.go(for: .milliseconds(500), brightness: 235, amplitude: 0.5)
        try source.go(for: .milliseconds(500))
        push.stop()
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))
        let offset = try SoundedTrack.offset(server.file)
        #expect(abs(offset) < 0.04)
        #expect(try SoundedTrack.soundFormat(server.file) == ["aac,44100,2"])
    }

    @Test("sound alone and pictures alone are one stream each, and nobody watches or listens for the other")
    func alone() throws {
        let source = try SoundedTrack()
        let track = source.host.firstTrack
        for content in [PushSettings.Content.sound, .pictures] {
            let isSound = content == .sound
            let server = try MediaReceiver(.rtmp, port: try freePort(), in: source.folder)
            var settings = PushSettings()
            settings.content = content
            settings.statusPeriod = .milliseconds(500)
            let push = try source.start(server.url, settings)
            try source.go(on: "it is connected", amplitude: 0.5) { push.state == .connected }
            #expect(track.viewers == (isSound ? 0 : 1) && track.listeners == (isSound ? 1 : 0))
            try source.go(on: "a status", amplitude: 0.5) { push.status != nil }
            let status = try #require(push.status)
            #expect((status.sentSound > 0) == isSound && (status.sentPictures > 0) == !isSound)
            #expect((status.rates.soundPerSecond > 10) == isSound && (status.rates.picturesPerSecond > 1) == !isSound)
            push.stop()
            #expect(server.process.wait(within: .seconds(90)) == .exited(0))
            #expect(try SoundedTrack.codecs(server.file) == [isSound ? "aac" : "h264"])
            try eventually("nobody is there any more") { track.viewers == 0 && track.listeners == 0 }
        }
    }

    @Test("a push whose track had no sound starts again when it has some")
    func later() throws {
        let source = try SoundedTrack(hasSound: false)
        let told = Told()
        let push = try source.start("file:" + source.folder.file("talk.mkv"), told: told)
        try source.go(on: "it is connected") { push.state == .connected }
        try source.go(for: .milliseconds(1500))
        source.sound = try ToneSource(source.host.firstTrack)
        try source.go(on: "it starts again", amplitude: 0.5) {
            told.states == [.connecting, .connected, .connecting, .connected]
        }
        try source.go(for: .milliseconds(500), amplitude: 0.5)
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        #expect(try SoundedTrack.codecs(source.folder.file("talk.mkv")) == ["h264"])
        #expect(try SoundedTrack.codecs(source.folder.file("talk-2.mkv")) == ["h264", "opus"])
        #expect(try SoundedTrack.tones(source.folder.file("talk-2.mkv")).count == 1)
    }

    @Test("a push that listens goes on listening when its track has sound, and its receiver gets it")
    func listening() throws {
        let source = try SoundedTrack(hasSound: false)
        let port = try freePort()
        let url = "srt://127.0.0.1:\(port)"
        let told = Told()
        let push = try source.start(url + "?mode=listener&latency=1000000", told: told)
        try source.go(for: .seconds(1))
        source.sound = try ToneSource(source.host.firstTrack)
        try source.go(for: .seconds(1), amplitude: 0.5)
        #expect(told.states == [.connecting])
        let file = source.folder.file("received.mkv")
        var launch = Launch(
            "ffmpeg",
            ["-nostdin", "-v", "error", "-y", "-i", url + "?latency=1000000", "-c", "copy", "-t", "1", file])
        launch.standardError = .text(limit: 1 << 16)
        let player = try ChildProcess(launch)
        try source.go(on: "the player has its second", amplitude: 0.5) { player.poll() != nil }
        #expect(player.poll() == .exited(0), "\(player.errorOutput?.text ?? "")")
        #expect(Set(try SoundedTrack.codecs(file)) == ["h264", "opus"])
        push.stop()
        try eventually("it has ended") { push.state.isOver }
    }

    @Test(
        "nginx gets silence until there is sound, and records one stream of both", .enabled(if: NginxServer.isAvailable)
    )
    func nginx() throws {
        let source = try SoundedTrack(hasSound: false)
        let server = try NginxServer(port: try freePort(), in: source.folder)
        let told = Told()
        let push = try source.start(server.url, told: told)
        try source.go(on: "it is connected") { push.state == .connected }
        try source.go(on: "silence is sent") { push.status?.sentSound ?? 0 > 0 }
        source.sound = try ToneSource(source.host.firstTrack)
        try source.go(for: .seconds(1))
        try source.go(for: .milliseconds(500), brightness: 235, amplitude: 0.5)
        try source.go(for: .seconds(1))
        push.stop()
        try eventually("nginx has seen the end") { server.log.contains(" disconnect,") }
        try eventually("it has ended") { push.state == .disconnected }
        #expect(told.states == [.connecting, .connected, .disconnecting, .disconnected] && told.failures == [])
        let codecs = try SoundedTrack.codecs(server.recording)
        #expect(Set(codecs) == ["h264", "aac"])
        let offset = try SoundedTrack.offset(server.recording)
        #expect(abs(offset) < 0.04)
    }

    @Test(
        "is silent, without a gap, while nothing is sent and while it is muted, as AAC and as Opus",
        arguments: [true, false])
    func silence(isAAC: Bool) throws {
        let source = try SoundedTrack()
        let server = try isAAC ? MediaReceiver(.rtmp, port: freePort(), in: source.folder) : nil
        let file = server?.file ?? source.folder.file("talk.mp4")
        // Muted sound is sound too.
        source.host.mute(true)
        let push = try source.start(server?.url ?? "file:" + file)
        try source.go(on: "it is connected", amplitude: 0.5) { push.state == .connected }
        source.host.mute(false)
        try source.go(for: .seconds(1), amplitude: 0.5)
        try source.go(for: .seconds(1), amplitude: nil)
        try source.go(for: .seconds(1), amplitude: 0.5)
        source.host.mute(true)
        try source.go(for: .seconds(1), amplitude: 0.5)
        source.host.mute(false)
        try source.go(for: .seconds(1), amplitude: 0.5)
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        if let server { #expect(server.process.wait(within: .seconds(90)) == .exited(0)) }
        #expect(try SoundedTrack.codecs(file) == ["h264", isAAC ? "aac" : "opus"])
        let tones = try SoundedTrack.tones(file)
        #expect(tones.count == 3, "\(tones)")
        for (tone, next) in zip(tones, tones.dropFirst()) {
            #expect(abs(tone.upperBound - tone.lowerBound - 1) < 0.25, "\(tones)")
            #expect(abs(next.lowerBound - tone.upperBound - 1) < 0.25, "\(tones)")
        }
        #expect(try SoundedTrack.maxStep(file) < 0.13)
    }

    @Test("goes into a file byte for byte")
    func bytes() throws {
        let source = try SoundedTrack()
        let file = source.folder.file("talk.mkv")
        let push = try source.start("file:" + file)
        try source.go(on: "it is connected", amplitude: 0.5) { push.state == .connected }
        try source.go(for: .seconds(1), amplitude: 0.5)
        let expected = Array(try #require(source.sound).packets.suffix(30).joined())
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        let stored = try FFmpeg.run(["-i", file, "-map", "0:a", "-c", "copy", "-f", "data", "pipe:1"]).bytes
        #expect(expected.count > 1000 && stored.indices.contains { stored[$0...].starts(with: expected) })
    }

    @Test("by RTSP it is Opus as it is, or AAC as the settings say", arguments: [false, true])
    func rtsp(isEncoded: Bool) throws {
        let source = try SoundedTrack()
        let server = try MediaReceiver(.rtsp, port: try freePort(), in: source.folder)
        var settings = PushSettings()
        if isEncoded {
            var sound = AudioSettings()
            (sound.sampleRate, sound.channelCount) = (32_000, 1)
            sound.bitRate = BitRate(bitsPerSecond: 64_000)
            settings.sound = sound
        }
        let push = try source.start(server.url, settings)
        try source.go(on: "it is connected", amplitude: 0.5) { push.state == .connected }
        try source.go(for: .seconds(1), amplitude: 0.5)
        push.stop()
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))
        #expect(try SoundedTrack.soundFormat(server.file) == [isEncoded ? "aac,32000,1" : "opus,48000,2"])
        #expect(try SoundedTrack.tones(server.file).count == 1)
    }

    @Test("what waits when the sharer mutes goes nowhere")
    func mutedBacklog() throws {
        let source = try SoundedTrack()
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: source.folder)
        var settings = PushSettings()
        settings.statusPeriod = .milliseconds(200)
        settings.sendTimeout = .seconds(30)
        let told = Told()
        let push = try source.start(server.url, settings, told: told)
        try source.go(on: "it is connected", amplitude: 0.5) { push.state == .connected }
        server.process.terminate(SIGSTOP)
        // Noise, so that what the kernel takes is soon full.
        try source.go(on: "three seconds wait", brightness: nil, amplitude: 0.5) {
            told.statuses.last.map { $0.queueAge > .seconds(3) } ?? false
        }
        source.host.mute(true)
        let length = Double(source.sound?.packets.count ?? 0) * 0.02
        server.process.terminate(SIGCONT)
        try source.go(on: "it goes on", amplitude: nil) {
            push.status.map { $0.queueAge < .milliseconds(100) } ?? false
        }
        push.stop()
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))
        let heard = try SoundedTrack.tones(server.file).map { $0.upperBound - $0.lowerBound }.reduce(0, +)
        #expect(heard > 0 && heard < length - 2, "\(heard) of \(length) s")
    }

    @Test("on a path that takes too little, pictures are left out and no sound")
    func narrow() throws {
        let folder = try TemporaryFolder()
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(host.firstTrack.publish(track))
        let sound = try ToneSource(host.firstTrack)
        let pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
        var settings = PushSettings()
        settings.statusPeriod = .milliseconds(200)
        let told = Told()
        let push = try Push(host.firstTrack, to: try PushAddress(server.url), settings: settings) { told.take($0) }
        push.start()
        func write(every milliseconds: Int32) throws {
            for picture in pictures {
                track.write(picture)
                try sound.write(amplitude: 0.5)
                poll(nil, 0, milliseconds)
            }
        }
        try eventually("it is connected") {
            try write(every: 10)
            return push.state == .connected
        }
        server.process.terminate(SIGSTOP)
        try eventually("pictures are left out") {
            try write(every: 1)
            return told.statuses.last?.droppedPictures ?? 0 > 0
        }
        server.process.terminate(SIGCONT)
        try eventually("it goes on") {
            try write(every: 10)
            return push.status.map { $0.queueAge < .milliseconds(100) } ?? false
        }
        #expect(told.statuses.allSatisfy { $0.droppedSound == 0 })
        push.stop()
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))
        #expect(try SoundedTrack.maxStep(server.file) < 0.05)
        #expect(try SoundedTrack.tones(server.file).count == 1)
    }

    @Test("settings beyond a limit are refused before anything starts")
    func limits() throws {
        let source = try SoundedTrack()
        var settings = PushSettings()
        settings.sound = AudioSettings()
        settings.sound?.bitRate = BitRate(bitsPerSecond: 32_000)
        let error = #expect(throws: OutputSettingsError.self) {
            try source.start("rtmp://127.0.0.1/live/key", settings)
        }
        #expect(error.map { "\($0)" } == "sound at 32 kbit/s; there can be 64 to 128 kbit/s")
    }
}
