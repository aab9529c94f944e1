import Glibc
import H264
import MediaTypes
import OutputLife
import OutputSettings
import Processes
import ScreenRelayKit
import Synchronization
import TestSupport
import Testing

@testable import Pushing

@Suite("The number of pictures of a push", .enabled(if: FFmpeg.isAvailable), .serialized)
final class PushPaceTests {
    /// When pictures came.
    private final class Times: Sendable {
        private let times = Mutex<[MonotonicTime]>([])

        func add() { times.withLock { $0.append(now()) } }
        func clear() { times.withLock { $0.removeAll() } }

        /// The mean time between the last ten pictures, once there are twelve.
        var step: Interval? {
            times.withLock { times in
                guard times.count >= 12, let last = times.last else { return nil }
                return (last - times[times.count - 10]) / 9
            }
        }
    }

    private final class Statuses: Sendable {
        private let statuses = Mutex<[PushStatus]>([])
        private let weak = Mutex(0)

        func take(_ event: PushEvent) {
            switch event {
            case .status(let status): statuses.withLock { $0.append(status) }
            case .weakNetwork: weak.withLock { $0 += 1 }
            case .changed: break
            }
        }
        /// How often the push has told that its network is weak.
        var weakCount: Int { weak.withLock { $0 } }
        func clear() { statuses.withLock { $0.removeAll() } }
        var lastTwo: [PushStatus] { statuses.withLock { Array($0.suffix(2)) } }
    }

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

    @Test("follows what the encoder is told, down and up again")
    func encoder() throws {
        var settings = VideoSettings()
        settings.framesPerSecond = 30
        let encoder = try #require(Reencoder(host.firstTrack, settings))
        let times = Times()
        let unsubscribe = encoder.subscribe { _ in
            times.add()
        } fail: {
            Issue.record("\($0)")
        }
        defer { unsubscribe() }
        func waitForStep(_ what: String, _ range: ClosedRange<Int64>) throws {
            times.clear()
            try eventually(what) {
                write()
                return times.step.map { range.contains($0.milliseconds) } ?? false
            }
        }
        try waitForStep("thirty a second", 20...60)
        encoder.setPace((bitRate: settings.bitRate, framesPerSecond: 10))
        try waitForStep("ten a second", 90...130)
        encoder.setPace((bitRate: settings.bitRate, framesPerSecond: 30))
        try waitForStep("thirty a second again", 20...60)
    }

    @Test("falls while the receiver is slow, which is told as a weak network, not below the lowest, and rises again")
    func slowReceiver() throws {
        let server = try MediaReceiver(.rtmp, port: try freePort(), in: folder)
        var video = VideoSettings()
        video.size = PictureSize(width: 640, height: 480)
        video.framesPerSecond = 30
        video.lowestFramesPerSecond = 10
        video.bitRate = BitRate(bitsPerSecond: 4_000_000)
        var settings = PushSettings()
        settings.statusPeriod = .seconds(1)
        settings.video = video
        let statuses = Statuses()
        let push = try Push(host.firstTrack, to: try PushAddress(server.url), settings: settings) { statuses.take($0) }
        push.start()
        func eventuallyPictures(_ what: String, _ range: ClosedRange<Double>) throws {
            statuses.clear()
            // In the first second, what has waited goes out too. A busy machine makes the rise longer.
            try eventually(what, within: .seconds(120)) {
                write()
                let last = statuses.lastTwo
                let isPrompt = last.allSatisfy { $0.queueAge < .milliseconds(150) }
                return last.count == 2 && isPrompt && last.allSatisfy { range.contains($0.rates.picturesPerSecond) }
            }
        }
        try eventuallyPictures("thirty a second", 20...35)
        #expect(statuses.weakCount == 0)
        server.process.terminate(SIGSTOP)
        try eventually("pictures are left out") {
            write()
            return push.status?.droppedPictures ?? 0 > 0
        }
        try eventually("a weak network") {
            write()
            return statuses.weakCount > 0
        }
        server.process.terminate(SIGCONT)
        try eventuallyPictures("ten a second", 7...15)
        try eventuallyPictures("thirty a second again", 20...35)
        push.stop()
        #expect(server.process.wait(within: .seconds(90)) == .exited(0))
    }
}
