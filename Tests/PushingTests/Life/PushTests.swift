import Glibc
import H264
import MediaFiles
import MediaTypes
import OutputLife
import OutputSettings
import Processes
import Pushing
import ScreenRelayKit
import Synchronization
import TestSupport
import Testing

@Suite("Pushing", .enabled(if: FFmpeg.isAvailable), .serialized)
struct PushTests {
    let folder: TemporaryFolder
    let host: ScreenRelayHost
    let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
    let pictures: [CodedFrame]

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
    }

    private func address(_ port: UInt16) throws -> PushAddress { try PushAddress("rtmp://127.0.0.1:\(port)/live/key") }

    @Test(
        "what goes out is what was written, byte for byte, with its times and no decode error",
        arguments: MediaReceiver.Transport.allCases)
    func bytes(_ transport: MediaReceiver.Transport) throws {
        defer { host.stop() }
        #expect(host.firstTrack.publish(track))
        let server = try MediaReceiver(transport, port: try freePort(), in: folder)
        var settings = PushSettings()
        settings.statusPeriod = .milliseconds(200)
        let told = Told()
        let push = try Push(host.firstTrack, to: try PushAddress(server.url), settings: settings) { told.take($0) }
        #expect(push.state == .unknown)
        push.start()
        // Written before, the host would make a key frame of the first picture, since this source makes none on
        // request.
        try eventually("it watches") { host.firstTrack.viewers == 1 }
        track.write(pictures[0])
        try eventually("it is connected") { push.state == .connected }
        for picture in pictures.dropFirst() {
            track.write(picture)
            poll(nil, 0, 10)
        }
        try eventually("all are sent") { push.status?.sentPictures == pictures.count }
        let rates = told.statuses.map(\.rates)
        #expect(rates.contains { $0.picturesPerSecond > 1 && $0.bitRate.bitsPerSecond > 0 })
        push.stop()
        try eventually("it has told of its end") {
            told.states == [.connecting, .connected, .disconnecting, .disconnected]
        }
        #expect(told.failures == [])
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))

        // FFmpeg adds parameter sets and delimiters; the slices must be the same.
        let raw = folder.file("pushed.264")
        let copied = try FFmpeg.run(["-i", server.file, "-c", "copy", "-f", "h264", raw])
        #expect(copied.faults.isEmpty, "\(copied.messages)")
        let received = AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(raw))
        #expect(received.count == pictures.count)
        #expect(zip(received, pictures).allSatisfy { slices(of: $0) == slices(of: $1) })
        let decoded = try FFmpeg.decode(server.file)
        #expect(decoded.faults.isEmpty, "\(decoded.messages)")
        #expect(decoded.bytes.count == pictures.count * 176 * 144 * 3)

        var probe = Launch(
            "ffprobe",
            ["-v", "error", "-of", "csv=p=0", "-select_streams", "v", "-show_entries", "packet=pts", server.file])
        probe.standardOutput = .text(limit: 1 << 16)
        let times = try ChildProcess.run(probe, within: .seconds(90)).output.split(separator: "\n")
            .compactMap { Int($0.split(separator: ",")[0]) }
        #expect(times.count == pictures.count)
        // As an RTSP server, FFmpeg gives its first two pictures the same time.
        let later = transport == .rtsp ? times.dropFirst() : times[...]
        #expect(zip(later, later.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
    }

    private func slices(of frame: CodedFrame) -> [[UInt8]] {
        frame.units.map { Array(frame.bytes[$0]) }.filter { [1, 5].contains(($0.first ?? 0) & 31) }
    }

    @Test("a server that isn't there is one error, and a start by hand tries again")
    func refused() throws {
        defer { host.stop() }
        #expect(host.firstTrack.publish(track))
        track.write(pictures[0])
        let port = try freePort()
        let told = Told()
        let push = try Push(host.firstTrack, to: try address(port)) { told.take($0) }
        push.start()
        try eventually("it has failed") { told.states == [.connecting, .error] }
        #expect(told.failures == ["Connection refused"])
        let server = try MediaReceiver(.rtmp, port: port, in: folder)
        push.start()
        try eventually("it is connected") { push.state == .connected }
        // The server is killed while nothing changes: what is written next finds out.
        server.process.terminate(SIGKILL)
        _ = server.process.wait(within: .seconds(10))
        try eventually("it has noticed") {
            track.write(pictures[25])
            return push.state == .error
        }
        #expect(told.failures.count == 2)
    }

    @Test(
        "a server that takes the connection and says nothing is given up after the time for it, and a stop ends it at once"
    )
    func silent() throws {
        defer { host.stop() }
        #expect(host.firstTrack.publish(track))
        track.write(pictures[0])
        let listener = try TestSocket(listening: .tcp)
        defer { listener.close() }
        let port = listener.port
        var settings = PushSettings()
        settings.connectTimeout = .seconds(1)
        let told = Told()
        let push = try Push(host.firstTrack, to: try address(port), settings: settings) { told.take($0) }
        push.start()
        try eventually("it has failed") { push.state == .error }
        #expect(told.failures == ["no answer within 1 s"])
        let patient = try Push(host.firstTrack, to: try address(port))
        patient.start()
        try eventually("it connects") { patient.state == .connecting }
        patient.stop()
        try eventually("it has ended", within: .seconds(5)) { patient.state == .disconnected }
    }

    @Test("it waits for the first picture as long as that takes, and a released push ends its connection")
    func firstPicture() throws {
        defer { host.stop() }
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
        var push: Push? = try host.push(to: try PushAddress(server.url))
        try eventually("it connects") { push?.state == .connecting }
        #expect(host.firstTrack.publish(track))
        track.write(pictures[0])
        try eventually("it is connected") { push?.state == .connected }
        push = nil
        #expect(server.process.wait(within: .seconds(90)) != nil)
        try eventually("nobody watches any more") { host.firstTrack.viewers == 0 }
    }

    @Test("while the server takes nothing, pictures are left out up to a key frame, and those that arrive are whole")
    func stalled() throws {
        defer { host.stop() }
        #expect(host.firstTrack.publish(track))
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
        var settings = PushSettings()
        settings.statusPeriod = .milliseconds(200)
        let told = Told()
        let push = try Push(host.firstTrack, to: try PushAddress(server.url), settings: settings) { told.take($0) }
        let other = try Push(host.firstTrack, to: try PushAddress("rtmp://127.0.0.1:1/live/key"))
        push.start()
        track.write(pictures[0])
        try eventually("it is connected") { push.state == .connected }
        server.process.terminate(SIGSTOP)
        try eventually("pictures are left out") {
            for picture in pictures {
                track.write(picture)
                poll(nil, 0, 1)
            }
            return told.statuses.last?.droppedPictures ?? 0 > 0
        }
        let waiting = told.statuses.map(\.queueByteCount).max() ?? 0
        #expect(waiting <= 4 << 20)
        // Nothing else is affected.
        other.start()
        try eventually("another push goes its own way") { other.state == .error }
        server.process.terminate(SIGCONT)
        try eventually("it goes on") { push.status.map { $0.queueByteCount == 0 } ?? false }
        for picture in pictures {
            track.write(picture)
            poll(nil, 0, 5)
        }
        push.stop()
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))
        let decoded = try FFmpeg.decode(server.file)
        #expect(decoded.faults.isEmpty, "\(decoded.messages)")
        #expect(decoded.bytes.count >= pictures.count * 176 * 144 * 3)
    }

    @Test("with settings, the pictures are encoded once for all outputs that want the same, in size, profile and rate")
    func settings() throws {
        defer { host.stop() }
        #expect(host.firstTrack.publish(track))
        var settings = PushSettings()
        settings.video = VideoPreset.low2.settings
        settings.video?.fitting = .crop
        let servers = try (0..<2).map { _ in try MediaReceiver(.rtmp, port: try freePort(), in: folder) }
        let pushes = try servers.map { try Push(host.firstTrack, to: try PushAddress($0.url), settings: settings) }
        for push in pushes { push.start() }
        track.write(pictures[0])
        try eventually("all are connected") { pushes.allSatisfy { $0.state == .connected } }
        // One decodes for both of them.
        #expect(host.firstTrack.viewers == 1)
        for picture in pictures.dropFirst() {
            track.write(picture)
            poll(nil, 0, 40)
        }
        for push in pushes { push.stop() }
        for server in servers {
            #expect(server.process.wait(within: .seconds(90)) == .exited(0))
            let entries = "stream=width,height,profile"
            var probe = Launch("ffprobe", ["-v", "error", "-of", "csv=p=0", "-show_entries", entries, server.file])
            probe.standardOutput = .text(limit: 1 << 12)
            let output = try ChildProcess.run(probe, within: .seconds(90)).output
            #expect(output.contains("Constrained Baseline,480,272"), "\(output)")
            let decoded = try FFmpeg.decode(server.file)
            #expect(decoded.faults.isEmpty, "\(decoded.messages)")
            // 24 pictures a second, on a machine that may be busy.
            #expect(decoded.bytes.count / (480 * 272 * 3) > pictures.count / 4)
        }
        try eventually("nobody watches any more") { host.firstTrack.viewers == 0 }
    }

    @Test("settings beyond a limit are refused before anything starts")
    func limits() throws {
        defer { host.stop() }
        var settings = PushSettings()
        settings.video = VideoPreset.high3.settings
        settings.video?.profileLevel = .baseline30
        let error = #expect(throws: OutputSettingsError.self) {
            try Push(host.firstTrack, to: try PushAddress("rtmp://127.0.0.1/live/key"), settings: settings)
        }
        #expect(error.map { "\($0)" } == "baseline3.0 takes at most 720x480, not 720x1280")
    }
}
