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

@Suite("The pace of a push over SRT", .enabled(if: FFmpeg.isAvailable), .serialized)
struct SRTPaceTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
    private let pictures: LoopedPictures

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        #expect(host.firstTrack.publish(track))
    }

    @Test(
        "bit rate, then frame rate, fall while the path carries less, which is told as a weak network, and rise again")
    func narrowPath() throws {
        defer { host.stop() }
        let server = try MediaReceiver(.srt, port: try freePort(), in: folder)
        let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
        let path = try NarrowPath(to: port)
        var video = VideoSettings()
        video.size = PictureSize(width: 640, height: 480)
        video.framesPerSecond = 30
        video.lowestFramesPerSecond = 10
        video.bitRate = BitRate(bitsPerSecond: 2_000_000)
        video.lowestBitRate = BitRate(bitsPerSecond: 1_000_000)
        var settings = PushSettings()
        settings.statusPeriod = .seconds(1)
        settings.video = video
        let told = Told()
        let push = try Push(host.firstTrack, to: try PushAddress("srt://127.0.0.1:\(path.port)"), settings: settings) {
            told.take($0)
        }
        push.start()
        var written = now()
        func eventuallyPath(_ what: String, holds condition: () -> Bool) throws {
            try eventually(what, within: .seconds(120)) {
                path.pump()
                if now() - written > .milliseconds(16) {
                    written = now()
                    track.write(pictures.next())
                }
                return condition()
            }
        }
        /// Waits for two statuses in a row with so many pictures, of so many bits in all.
        func eventuallyPaced(_ what: String, pictures: ClosedRange<Double>, kilobits: ClosedRange<Int>) throws {
            let begin = told.statuses.count
            do {
                try eventuallyPath(what) {
                    let last = told.statuses.dropFirst(begin).suffix(2)
                    return last.count == 2
                        && last.allSatisfy {
                            pictures.contains($0.rates.picturesPerSecond)
                                && kilobits.contains($0.rates.bitRate.bitsPerSecond / 1000)
                        }
                }
            } catch {
                Issue.record(
                    """
                    \(told.states), \(told.failures), the receiver: \(server.process.errorOutput?.text ?? ""), \
                    \(path.passed) passed, \(path.lost) lost: \(told.statuses.suffix(3))
                    """)
                throw error
            }
        }
        try eventuallyPaced("all pictures", pictures: 24...35, kilobits: 1200...3000)
        #expect(told.weakCount == 0 && path.lost == 0)
        path.rate = BitRate(bitsPerSecond: 700_000)
        try eventuallyPath("a weak network") { told.weakCount == 1 }
        try eventuallyPaced("fewer pictures", pictures: 8...22, kilobits: 200...900)
        let before = (path.passed, path.lost)
        let begin = told.statuses.count
        try eventuallyPath("three seconds") { told.statuses.count >= begin + 3 }
        // What the path carries is not filled with packets that are sent again.
        let (passed, lost) = (path.passed - before.0, path.lost - before.1)
        #expect(lost * 4 < passed, "\(lost) lost, \(passed) passed")
        path.rate = nil
        try eventuallyPaced("all pictures again", pictures: 24...35, kilobits: 1200...3000)
        push.stop()
        try eventuallyPath("it has ended") { push.state == .disconnected }
    }
}
