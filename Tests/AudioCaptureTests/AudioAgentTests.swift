import AudioCapture
import CaptureLink
import MediaTypes
import Processes
import TestSupport
import Testing

@Suite("The capture of sound", .enabled(if: PulseServer.isAvailable), .serialized)
struct AudioAgentTests {
    private let folder: TemporaryFolder
    private let desktop = [AudioConfiguration.Source(.desktop)]

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A capture whose host has said hello.
    private func greeted(
        _ server: PulseServer, _ sources: [AudioConfiguration.Source], channelCount: Int = 2
    ) throws -> (sound: RunningSound, host: ListeningHost) {
        let (sound, host) = try RunningSound.pair(server.address, sources, channelCount: channelCount)
        try host.sendHello()
        try host.wait(for: "the introduction") { host.messages.count >= 2 }
        return (sound, host)
    }

    private func isSharing(_ state: SharingState, _ host: ListeningHost) -> Bool {
        host.messages.contains { $0.body == .sharing(state) }
    }

    @Test("introduces itself on stream 1, and sends a desktop's tone in packets of exactly 20 ms")
    func desktopTone() throws {
        let server = try PulseServer(in: folder)
        let (sound, host) = try greeted(server, desktop)
        let player = try server.playTone()
        try host.wait(for: "4 s of sound") { host.packets.count >= 200 }
        // It comes when it is heard, give or take what buffers hold.
        let delay = try #require(host.packets.last).time - now()
        #expect(abs(delay.milliseconds) < 700)
        player.stop(within: .zero)
        try host.read()
        sound.stop()
        #expect(try sound.end?.get() == .stopped)
        try host.wait(for: "the end") { host.hasEnded }

        guard case .hello(let hello) = host.messages[0].body else { throw DeadlineMissed(what: "a hello") }
        #expect(hello.role == .capture)
        #expect(host.messages[1].body == .format(.opus))
        #expect(host.messages.allSatisfy { $0.header.stream == 1 && $0.header.epoch == host.messages[0].header.epoch })
        #expect(host.steps().allSatisfy { $0.nanoseconds % 20_000_000 == 0 })
        #expect(host.steps().count { $0 == .milliseconds(20) } >= 195)

        // Windows of whole periods. While the place of the sound is corrected, its pitch isn't quite the same.
        let samples = try host.decoded(from: 0, channelCount: 2)
        let fits = stride(from: 24_000, to: 187_201, by: 4800).map {
            ToneFit(440, in: Array(samples[$0..<$0 + 4800]))
        }
        #expect(fits.count { abs($0.amplitude - 0.5) < 0.05 } >= fits.count - 2)
        #expect((fits.map(\.signalToNoise).max() ?? 0) > 40)
        guard case .end(let notice)? = host.messages.last?.body else { throw DeadlineMissed(what: "the end notice") }
        #expect(notice.reason == .stopped)
    }

    @Test("sends nothing while nothing is played, and no more once a program has ended or is silent")
    func silence() throws {
        let server = try PulseServer(in: folder)
        let (sound, host) = try greeted(server, desktop)
        try host.read(for: .seconds(1))
        #expect(host.packets.isEmpty)
        // Half a second of sound, and as much of silence that is played.
        let samples = tone(440, seconds: 0.5, channelCount: 2) + [Float](repeating: 0, count: 48_000)
        let player = try server.play(samples, channelCount: 2)
        try host.wait(for: "sound") { host.packets.count > 30 }
        #expect(try host.read(untilEndOf: player) == .exited(0))
        try host.wait(for: "the stream is closed") {
            sound.lines.contains { $0.hasPrefix("nothing is to be heard from") }
        }
        // The sound and 300 ms, give or take where it begins and ends.
        #expect((30...50).contains(host.packets.count))
        let last = try host.decoded(from: host.packets.count - 20, channelCount: 2).suffix(4800)
        #expect(last.allSatisfy { abs($0) < 1e-3 })
        // It begins again.
        let before = host.packets.count
        let next = try server.playTone()
        try host.wait(for: "more sound") { host.packets.count > before + 50 }
        next.stop(within: .zero)
        sound.stop()
    }

    @Test("hears short sounds from their beginning to their end, whatever the player's latency")
    func shortSounds() throws {
        let server = try PulseServer(in: folder)
        let (sound, host) = try greeted(server, desktop)
        for latency in [nil, 500, nil] {
            try host.wait(for: "rest") { sound.lines.last?.hasPrefix("nothing is to be heard from") == true }
            let before = host.packets.count
            let player = try server.play(
                tone(440, seconds: 0.6, channelCount: 2), channelCount: 2, latency: latency)
            #expect(try host.read(untilEndOf: player) == .exited(0))
            try host.wait(for: "rest") { sound.lines.last?.hasPrefix("nothing is to be heard from") == true }
            let heard = try host.decoded(from: before, channelCount: 2)
            let loud = stride(from: 0, to: heard.count - 480, by: 480).count {
                ToneFit(440, in: Array(heard[$0..<$0 + 480])).amplitude > 0.4
            }
            #expect(loud >= 56, "\(loud) stretches of 10 ms, latency \(latency ?? 0): \(sound.lines.suffix(4))")
        }
        sound.stop()
    }

    @Test("stops at once when the sharer mutes it, says so, and goes on afterwards")
    func muting() throws {
        let server = try PulseServer(in: folder)
        let (sound, host) = try greeted(server, desktop)
        let player = try server.playTone()
        try host.wait(for: "sound") { host.packets.count > 20 }
        try host.send(.sharerPaused(true))
        try host.wait(for: "the answer") { isSharing(.paused, host) }
        let count = host.packets.count
        try host.read(for: .milliseconds(500))
        #expect(host.packets.count == count)
        try host.send(.sharerPaused(false))
        try host.wait(for: "sound again") { isSharing(.live, host) && host.packets.count > count + 20 }
        // Nothing of what was played meanwhile.
        #expect(host.packets[count].time - host.packets[count - 1].time > .milliseconds(400))
        player.stop(within: .zero)
        sound.stop()
    }

    @Test("rests while nobody listens")
    func unwatched() throws {
        let server = try PulseServer(in: folder)
        let (sound, host) = try greeted(server, desktop)
        let player = try server.playTone()
        try host.wait(for: "sound") { host.packets.count > 20 }
        try host.send(.unwatched)
        try host.wait(for: "rest") { sound.lines.contains("no listeners") }
        try host.read()
        let count = host.packets.count
        try host.read(for: .milliseconds(500))
        #expect(host.packets.count == count)
        try host.send(.watched)
        try host.wait(for: "sound again") { host.packets.count > count + 20 }
        player.stop(within: .zero)
        sound.stop()
    }

    @Test("waits for a server, and goes on after it was killed and started again")
    func serverComesBack() throws {
        var server = try PulseServer(in: folder)
        let address = server.address
        server.kill()
        let (sound, host) = try RunningSound.pair(address, desktop)
        try host.sendHello()
        try host.wait(for: "the word that there is none") { sound.lines.contains { $0.contains("waiting for it") } }
        for _ in 0..<2 {
            let before = host.packets.count
            server = try PulseServer(in: folder)
            let player = try server.playTone()
            try host.wait(for: "sound") { host.packets.count > before + 20 }
            server.kill()
            player.stop(within: .zero)
        }
        #expect(sound.end == nil)
        sound.stop()
    }

    @Test("follows the default sink; a sink that was named is waited for")
    func devices() throws {
        let server = try PulseServer(in: folder, sinks: ["out", "other"])
        let (following, host) = try greeted(server, desktop)
        let (named, waitingHost) = try greeted(server, [AudioConfiguration.Source(.desktop, device: "later")])
        let player = try server.playTone(on: "other")
        try host.read(for: .milliseconds(300))
        #expect(host.packets.isEmpty)
        #expect(try server.pactl(["set-default-sink", "other"]).isSuccess)
        try host.wait(for: "the other sink's sound") { host.packets.count > 20 }

        #expect(named.lines.contains("there is no sink later; waiting for it"))
        #expect(try server.pactl(["load-module", "module-null-sink", "sink_name=later"]).isSuccess)
        let second = try server.playTone(on: "later")
        try waitingHost.wait(for: "the named sink's sound") { waitingHost.packets.count > 20 }
        for child in [player, second] { child.stop(within: .zero) }
        following.stop()
        named.stop()
    }

    @Test("mixes the desktop with a microphone, and either goes on alone")
    func both() throws {
        let server = try PulseServer(in: folder, sinks: ["out", "voice"])
        // A microphone that is what is played on another sink.
        let remapped = ["load-module", "module-remap-source", "source_name=mic", "master=voice.monitor"]
        #expect(try server.pactl(remapped).isSuccess)
        let sources = [
            AudioConfiguration.Source(.desktop), AudioConfiguration.Source(.microphone, device: "mic", gain: -6),
        ]
        let (sound, host) = try greeted(server, sources, channelCount: 1)
        let voice = try server.play(tone(1000, seconds: 60), channelCount: 1, on: "voice")
        try host.wait(for: "the microphone") { host.packets.count > 50 }
        let player = try server.playTone(channelCount: 1, on: "out")
        var looked = host.packets.count
        try host.wait(for: "both") {
            guard host.packets.count >= looked + 30 else { return false }
            looked = host.packets.count
            let last = try host.decoded(from: host.packets.count - 30, channelCount: 1).suffix(9600)
            let (desktop, microphone) = (ToneFit(440, in: Array(last)), ToneFit(1000, in: Array(last)))
            return abs(desktop.amplitude - 0.5) < 0.05 && abs(microphone.amplitude - 0.25) < 0.05
        }
        voice.stop(within: .zero)
        let before = host.packets.count
        try host.wait(for: "the desktop alone") { host.packets.count > before + 50 }
        player.stop(within: .zero)
        sound.stop()
    }

    @Test("a muted microphone is left out and not recorded, while the desktop goes on, and is heard again afterwards")
    func microphoneMuted() throws {
        let server = try PulseServer(in: folder, sinks: ["out", "voice"])
        let remapped = ["load-module", "module-remap-source", "source_name=mic", "master=voice.monitor"]
        #expect(try server.pactl(remapped).isSuccess)
        let sources = [AudioConfiguration.Source(.desktop), AudioConfiguration.Source(.microphone, device: "mic")]
        let (sound, host) = try greeted(server, sources, channelCount: 1)
        let voice = try server.play(tone(1000, seconds: 60), channelCount: 1, on: "voice")
        let player = try server.playTone(channelCount: 1, on: "out")
        func wait(for what: String, microphone: ClosedRange<Double>) throws {
            var looked = host.packets.count
            try host.wait(for: what) {
                guard host.packets.count >= looked + 30 else { return false }
                looked = host.packets.count
                let last = try host.decoded(from: host.packets.count - 30, channelCount: 1).suffix(9600)
                let (desktop, voice) = (ToneFit(440, in: Array(last)), ToneFit(1000, in: Array(last)))
                return abs(desktop.amplitude - 0.5) < 0.05 && microphone.contains(voice.amplitude)
            }
        }
        func streams() throws -> Int {
            var launch = Launch("pactl", ["--server", server.address, "list", "short", "source-outputs"])
            launch.standardOutput = .text(limit: 1 << 16)
            return try ChildProcess.run(launch, within: .seconds(10)).output.split(separator: "\n").count
        }
        try wait(for: "both", microphone: 0.4...0.6)
        let before = try streams()
        try host.send(.microphoneMuted(true))
        try wait(for: "the desktop alone", microphone: 0...0.005)
        try eventually("no stream from the microphone") {
            try streams() == before - 1 ? () : nil
        }
        #expect(!isSharing(.paused, host))
        try host.send(.microphoneMuted(false))
        try wait(for: "both again", microphone: 0.4...0.6)
        voice.stop(within: .zero)
        player.stop(within: .zero)
        sound.stop()
    }

    @Test("drops what a host doesn't read, so that it is never seconds late")
    func stalledHost() throws {
        let server = try PulseServer(in: folder)
        let (sound, host) = try greeted(server, desktop)
        let player = try server.playTone()
        try host.wait(for: "sound") { host.packets.count > 10 }
        let count = host.packets.count
        let start = now()
        // For two seconds, nobody reads.
        try eventually("two seconds", holds: { now() - start > .seconds(2) })
        var gap: Int?
        try host.wait(for: "new sound") {
            gap = host.steps().firstIndex { $0 > .milliseconds(300) }
            return gap != nil
        }
        // What came before the gap has waited; what came after it is new, however long this thread took to read.
        let late = try #require(gap) + 1 - count
        #expect(late < 25)
        player.stop(within: .zero)
        sound.stop()
    }

    @Test("lists sinks and microphones with their names, and which is the default")
    func listing() throws {
        let server = try PulseServer(in: folder, sinks: ["out", "other"])
        let devices = try AudioDevices.ofServer(server.address)
        #expect(Set(devices.sinks.map(\.name)) == ["out", "other"])
        #expect(devices.sinks.filter(\.isDefault).map(\.name) == ["out"])
        #expect(devices.microphones.isEmpty)
        #expect(throws: AudioError.self) { try AudioDevices.ofServer("unix:" + folder.file("nothing")) }
    }
}
