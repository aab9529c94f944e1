import Glibc
import H264
import MediaFiles
import MediaTypes
import Processes
import Pulling
import RTSPServing
import ScreenRelayKit
import Signalling
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@Suite("Sources of other machines and files", .serialized)
struct PullTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let all: [CodedFrame]
    /// Those up to the second key frame, which is what a host keeps.
    private let pictures: [CodedFrame]

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        all = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        pictures = Array(all.prefix(25))
    }

    private func slices(of frames: [CodedFrame]) -> [[UInt8]] {
        frames.flatMap { frame in frame.units.map { Array(frame.bytes[$0]) } }
            .filter { [1, 5].contains(($0.first ?? 0) & 31) }
    }

    /// What pulls have told.
    private final class Events: Sendable {
        let all = Mutex<[PullEvent]>([])

        func take(_ event: PullEvent) { all.withLock { $0.append(event) } }

        var list: [PullEvent] { all.withLock { $0 } }
    }

    private var quick: Pull.Settings {
        var settings = Pull.Settings()
        settings.firstWait = .milliseconds(50)
        settings.maxWait = .milliseconds(100)
        return settings
    }

    @Test("a file's pictures are those of the track, byte for byte", .enabled(if: FFmpeg.isAvailable))
    func file() throws {
        defer { host.stop() }
        let raw = try folder.write("a.264", TestStreams.small.bytes())
        let path = folder.file("a.mp4")
        let made = try FFmpeg.run(["-f", "h264", "-r", "100", "-i", raw, "-c", "copy", path])
        #expect(made.status == .exited(0))
        let frames = Mutex<[CodedFrame]>([])
        let reader = host.firstTrack.subscribe {}
        let lines = LoggedLines()
        let events = Events()
        let pull = try Pull(
            try PullAddress("file:\(path)"), into: host.firstTrack, settings: quick, log: lines.log,
            onEvent: events.take)
        try eventually("all pictures") {
            frames.withLock { $0 += reader.take().map(\.coded) }
            return pull.pictures == all.count && frames.withLock { $0.count } == all.count
        }
        #expect(slices(of: frames.withLock { $0 }) == slices(of: all))
        try eventually("the end is told") { events.list.last == .ended }
        #expect(events.list == [.connected, .ended])
        #expect(lines.contain("has ended") && lines.contain("sends H.264 of 176x144"))
    }

    /// A host without a token that the pictures are pulled from, and a viewer of it, so that it takes them all.
    private func source(with track: CustomVideoTrack) throws -> (ScreenRelayHost, TrackSubscription) {
        var configuration = HostConfiguration()
        configuration.token = nil
        let far = try ScreenRelayHost(configuration)
        let watcher = far.firstTrack.subscribe {}
        #expect(far.firstTrack.publish(track))
        for picture in pictures { track.write(picture) }
        return (far, watcher)
    }

    @Test("a server's pictures come as they are, again after it was away, and pause while nobody watches")
    func server() throws {
        defer { host.stop() }
        let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        let (far, watcher) = try source(with: track)
        defer { far.stop() }
        defer { withExtendedLifetime(watcher) {} }
        let place = ListenAddress(address: "127.0.0.1", port: try freePort())
        var settings = quick
        settings.idle = .milliseconds(200)
        let lines = LoggedLines()
        let address = try PullAddress("rtsp://a:b@\(place)/screen")
        let events = Events()
        let pull = try Pull(
            address, into: host.firstTrack, settings: settings, log: lines.log, onEvent: events.take)
        defer { pull.stop() }
        try eventually("it has failed") {
            lines.contain("the source rtsp://\(place)/... has failed: Connection refused")
        }
        #expect(events.list == [.failed(because: "has failed: Connection refused")])

        var reader: TrackSubscription? = host.firstTrack.subscribe {}
        var players: RTSPServer? = try RTSPServer(far, at: place)
        var received: [CodedFrame] = []
        try eventually("all pictures") {
            received += reader?.take().map(\.coded) ?? []
            return received.count >= pictures.count - 1
        }
        // libavformat knows the end of a picture by the beginning of the next.
        #expect(slices(of: received) == slices(of: Array(pictures.dropLast())))

        #expect(events.list.count == 2 && events.list.last == .connected)
        players?.stop()
        try eventually("the end is told") { host.firstTrack.sourceState != .live }
        players = try RTSPServer(far, at: place)
        try eventually("it is back") {
            track.write(pictures[0])
            return !(reader?.take() ?? []).isEmpty && host.firstTrack.sourceState == .live
        }
        try eventually("that is told") { events.list.last == .connected }

        // It was told that the connection was lost, why it can't be connected, or both.
        let told = events.list
        #expect(told.count >= 4 && told.last == .connected && told.dropFirst(2).first != .connected, "\(told)")

        reader = nil
        var before = -1
        try eventually("nothing comes any more") {
            defer { before = pull.pictures }
            for picture in pictures.prefix(3) { track.write(picture) }
            poll(nil, 0, 300)
            return pull.pictures == before
        }
        #expect(players?.sessions == 1)
        reader = host.firstTrack.subscribe {}
        try eventually("it goes on") {
            track.write(pictures[0])
            return pull.pictures > before
        }
        players?.stop()
    }

    @Test("pictures that can't be used are named, and so is a file that isn't there", .enabled(if: FFmpeg.isAvailable))
    func others() throws {
        defer { host.stop() }
        let path = folder.file("a.mkv")
        let made = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=size=64x64:rate=5:duration=1", "-pix_fmt", "yuv420p10le", "-c:v", "ffv1",
            path,
        ])
        #expect(made.status == .exited(0))
        let old = folder.file("old.avi")
        let other = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=size=64x64:rate=5:duration=1", "-pix_fmt", "yuv422p", "-c:v", "huffyuv", old,
        ])
        #expect(other.status == .exited(0))
        for (address, words) in [
            (old, "has failed: no decoder: huffyuv is not among the codecs that are decoded here"),
            (path, "has failed: a 64x64 picture of the format yuv420p10le; only 8-bit YCbCr"),
            (folder.file("none.mp4"), "has failed: No such file or directory"),
            (try folder.write("b.mp4", [1, 2, 3]), "has failed: "),
        ] {
            let lines = LoggedLines()
            let pull = try Pull(
                try PullAddress("file:" + address), into: host.firstTrack, settings: quick, log: lines.log)
            try eventually(words) { lines.contain(words) }
            pull.stop()
        }
    }

    @Test("a server that says nothing is given up, and a stop ends it at once")
    func silent() throws {
        defer { host.stop() }
        let listener = try TestSocket(listening: .tcp)
        defer { listener.close() }
        let port = listener.port
        var settings = quick
        settings.timeouts.connecting = .milliseconds(300)
        let lines = LoggedLines()
        let address = try PullAddress("rtsp://127.0.0.1:\(port)/a")
        let pull = try Pull(address, into: host.firstTrack, settings: settings, log: lines.log)
        try eventually("it has failed") { lines.contain("has failed: no answer in time") }
        pull.stop()
        settings.timeouts.connecting = .seconds(600)
        let endless = try Pull(address, into: host.firstTrack, settings: settings, log: lines.log)
        poll(nil, 0, 100)
        endless.stop()
    }

    @Test("a server is taken for dead when nothing has come for 60 s, and not before")
    func deadServer() throws {
        defer { host.stop() }
        let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        let (far, watcher) = try source(with: track)
        defer { far.stop() }
        defer { withExtendedLifetime(watcher) {} }
        let place = ListenAddress(address: "127.0.0.1", port: try freePort())
        let players = try RTSPServer(far, at: place)
        defer { players.stop() }
        let ahead = Mutex(Interval.zero)
        let looks = Mutex(0)
        let connection = MediaConnection(clock: {
            looks.withLock { $0 += 1 }
            return now() + ahead.withLock { $0 }
        })
        let failure = Mutex<MediaFileError?>(nil)
        let count = Mutex(0)
        let thread = NamedThread("reader") {
            do throws(MediaFileError) {
                let reader = try MediaReader(address: "rtsp://\(place)/screen", connection: connection)
                while try reader.next() != nil { count.withLock { $0 += 1 } }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        func waitForLooks() throws {
            let before = looks.withLock { $0 }
            try eventually("the clock is looked at") {
                looks.withLock { $0 } >= before + 5 || failure.withLock { $0 } != nil
            }
        }
        // libavformat knows the end of a picture by the beginning of the next.
        try eventually("the pictures") { count.withLock { $0 } >= pictures.count - 1 }
        ahead.withLock { $0 = .seconds(50) }
        try waitForLooks()
        #expect(failure.withLock { $0 } == nil)
        // The server may have repeated a frame in the meantime, which restarts the 60 s.
        try eventually("it is given up") {
            ahead.withLock { $0 = $0 + .seconds(61) }
            try waitForLooks()
            return failure.withLock { $0 } != nil
        }
        #expect(failure.withLock { $0 } == .rejected(reason: "nothing came in time"))
        thread?.join(until: now() + .seconds(5))
    }

    @Test("without a port in its URL, a server is looked for at 554", .enabled(if: geteuid() == 0))
    func defaultPort() throws {
        defer { host.stop() }
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        // An address of the loopback network that no other program has a reason to use.
        let address = (54, UInt8.random(in: 1...250), UInt8.random(in: 1...250))
        let name = "127.\(address.0).\(address.1).\(address.2)"
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(554).bigEndian
        place.sin_addr.s_addr = inet_addr(name)
        let bound = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(bound == 0 && listen(listener, 1) == 0)
        let pull = try Pull(try PullAddress("rtsp://\(name)/live"), into: host.firstTrack, settings: quick)
        defer { pull.stop() }
        let caller = accept(listener, nil, nil)
        try #require(caller >= 0)
        defer { close(caller) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(caller, &bytes, bytes.count)
        #expect(
            String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).hasPrefix("OPTIONS rtsp://\(name):554/live"))
    }

    @Test("a server whose certificate nothing checks is read only if the settings say so")
    func certificates() throws {
        defer { host.stop() }
        let address = try PullAddress("rtsps://127.0.0.1:\(try freePort())/stream")
        #expect(throws: PullError.self) { try Pull(address, into: host.firstTrack) }
        var settings = quick
        settings.acceptsAnyCertificate = true
        try Pull(address, into: host.firstTrack, settings: settings).stop()
    }
}
