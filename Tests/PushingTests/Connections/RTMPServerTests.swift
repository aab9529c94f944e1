import Glibc
import H264
import MediaTypes
import OutputLife
import Processes
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

@Suite("Pushing to nginx", .enabled(if: FFmpeg.isAvailable && NginxServer.isAvailable), .serialized)
struct RTMPServerTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
    private let pictures: [CodedFrame]
    private let told = Told()

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        #expect(host.firstTrack.publish(track))
    }

    private func start(_ url: String, _ settings: PushSettings = PushSettings()) throws -> Push {
        let push = try Push(host.firstTrack, to: try PushAddress(url), settings: settings) { [told] in told.take($0) }
        push.start()
        return push
    }

    /// Writes pictures until the push is in this state; what is written tells it of a server that has gone.
    private func write(until state: OutputState, _ push: Push) throws {
        var next = 0
        try eventually("the push is \(state)", within: .seconds(90)) {
            track.write(pictures[next % pictures.count])
            next += 1
            return push.state == state
        }
    }

    @Test("what nginx records is what was written, byte for byte, at its times and without a decode error")
    func recording() throws {
        defer { host.stop() }
        let server = try NginxServer(port: try freePort(), in: folder)
        let push = try start(server.url)
        // Written before, the host would make a key frame of the first picture, since this source makes none when it is
        // asked.
        try eventually("it watches") { host.firstTrack.viewers == 1 }
        let begin = now()
        track.write(pictures[0])
        try eventually("it is connected") { push.state == .connected }
        var length = Interval.zero
        for picture in pictures.dropFirst() {
            poll(nil, 0, 20)
            length = now() - begin
            track.write(picture)
        }
        push.stop()
        try eventually("nginx has seen the end") { server.log.contains(" disconnect,") }
        #expect(told.failures == [])

        let decoded = try FFmpeg.decode(server.recording)
        #expect(decoded.faults.isEmpty, "\(decoded.messages)")
        #expect(decoded.bytes.count == pictures.count * 176 * 144 * 3)
        let raw = folder.file("recorded.264")
        let copied = try FFmpeg.run(["-i", server.recording, "-c", "copy", "-f", "h264", raw])
        #expect(copied.faults.isEmpty, "\(copied.messages)")
        let received = AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(raw))
        #expect(received.count == pictures.count)
        #expect(zip(received, pictures).allSatisfy { $0.slices == $1.slices })

        let words = [
            "-v", "error", "-of", "csv=p=0", "-select_streams", "v", "-show_entries", "packet=pts_time",
            server.recording,
        ]
        var probe = Launch("ffprobe", words)
        probe.standardOutput = .text(limit: 1 << 16)
        let times = try ChildProcess.run(probe, within: .seconds(90)).output.split(separator: "\n")
            .compactMap { Double($0.split(separator: ",")[0]) }
        #expect(times.count == pictures.count)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
        let span = try #require(times.last) - (times.first ?? 0)
        #expect(abs(span - length.seconds) < 0.1, "\(span) s of \(length)")
    }

    @Test("without tries, too, a push to a name that is in use says so, and is there once the name is free")
    func nameInUse() throws {
        defer { host.stop() }
        let server = try NginxServer(port: try freePort(), in: folder)
        let other = try host.push(to: try PushAddress(server.url))
        try write(until: .connected, other)
        let push = try start(server.url)
        try write(until: .autoReconnecting, push)
        #expect(told.failures == ["the stream name is in use"])
        other.stop()
        try write(until: .connected, push)
        #expect(told.states == [.connecting, .autoReconnecting, .connected])
    }

    @Test("with tries, a push finds a server that was started again, and fails once when it is gone for good")
    func restarted() throws {
        defer { host.stop() }
        let port = try freePort()
        let server = try NginxServer(port: port, in: folder)
        var settings = PushSettings()
        settings.tries = 3
        let push = try start(server.url, settings)
        try write(until: .connected, push)
        server.process.stop(within: .zero)
        try write(until: .autoReconnecting, push)
        let again = try NginxServer(port: port, in: folder)
        try write(until: .connected, push)
        try eventually("pictures arrive") {
            track.write(pictures[0])
            return (try? fileBytes(again.recording))?.count ?? 0 > 10_000
        }
        again.process.stop(within: .zero)
        try write(until: .error, push)
        #expect(told.states == [.connecting, .connected, .autoReconnecting, .connected, .autoReconnecting, .error])
        #expect(told.failures.last == "Connection refused")
    }

    @Test("without tries, a server that was killed is one error, also when it is back")
    func killed() throws {
        defer { host.stop() }
        let port = try freePort()
        let server = try NginxServer(port: port, in: folder)
        let push = try start(server.url)
        try write(until: .connected, push)
        server.process.stop(within: .zero)
        try write(until: .error, push)
        let again = try NginxServer(port: port, in: folder)
        poll(nil, 0, 300)
        #expect(push.state == .error && !again.log.contains("client connected"))
        #expect(told.states == [.connecting, .connected, .error] && told.failures.count == 1)
    }

    @Test(
        "a server that refuses a push is one line without the key, and a push beside it goes on",
        arguments: ["closed", "elsewhere"])
    func refused(_ application: String) throws {
        defer { host.stop() }
        let server = try NginxServer(port: try freePort(), in: folder)
        let other = try host.push(to: try PushAddress(server.url))
        try write(until: .connected, other)
        let push = try start(server.url(application: application))
        try write(until: .error, push)
        #expect(told.failures.count == 1)
        let failure = told.failures.first ?? ""
        #expect(!failure.isEmpty && !failure.contains("key") && !failure.contains("\n"), "\(failure)")
        #expect(other.state == .connected)
    }

    @Test("a server that takes nothing more is given up in time, what waits is bounded, and other pushes go on")
    func unread() throws {
        defer { host.stop() }
        let server = try NginxServer(port: try freePort(), in: folder)
        let healthy = try NginxServer(port: try freePort(), in: folder)
        let other = try host.push(to: try PushAddress(healthy.url))
        try write(until: .connected, other)
        var settings = PushSettings()
        settings.sendTimeout = .seconds(5)
        settings.statusPeriod = .milliseconds(100)
        let push = try start(server.url, settings)
        try write(until: .connected, push)
        server.process.terminate(SIGSTOP)
        try write(until: .error, push)
        #expect(told.failures == ["timed out"])
        let statuses = told.statuses
        // What is too old is left out when the next picture comes, for which this test's thread may have to wait.
        #expect(statuses.allSatisfy { $0.queueAge <= .seconds(6) })
        #expect(statuses.last?.droppedPictures ?? 0 > 0)
        #expect(other.state == .connected)
        try eventually("the other push has a status") { other.status != nil }
        #expect(other.status?.droppedPictures == 0)
    }
}
