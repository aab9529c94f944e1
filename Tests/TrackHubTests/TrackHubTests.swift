import MediaTypes
import Synchronization
import Testing

@testable import TrackHub

private func at(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

private func picture(idr: Bool, bytes: Int = 100) -> CodedFrame {
    CodedFrame(
        bytes: [UInt8](repeating: 0, count: bytes), units: [4..<bytes], isRandomAccess: idr, captureTime: nil,
        format: nil)
}

/// Counts what the hub asks of its source.
final class CountingSource: PictureSource {
    let keyFrames = Mutex(0)
    let pictures = Mutex(0)
    let rates = Mutex<[BitRate]>([])
    let watched = Mutex<[Bool]>([])
    let chroma = Mutex<[ChromaFormat]>([])

    let makesKeyFrames = true
    let restsUnwatched = false
    let changesChroma: Bool

    init(changesChroma: Bool = false) { self.changesChroma = changesChroma }

    func requestKeyFrame() { keyFrames.withLock { $0 += 1 } }
    func requestPicture() { pictures.withLock { $0 += 1 } }
    func setTargetBitRate(_ rate: BitRate) { rates.withLock { $0.append(rate) } }
    func setWatched(_ isWatched: Bool) { watched.withLock { $0.append(isWatched) } }
    func setChroma(_ format: ChromaFormat) { chroma.withLock { $0.append(format) } }
}

/// Notes in which order the host's encoder and the source are asked for a key frame.
private final class AskedInOrder: TrackObserver {
    let all = Mutex<[String]>([])

    func perform(_ action: TrackAction) {
        if case .makeKeyFrame = action { all.withLock { $0.append("host") } }
        if case .makeLowKeyFrame = action { all.withLock { $0.append("low") } }
    }
}

private final class NotingSource: PictureSource {
    let asked: AskedInOrder
    let makesKeyFrames = true

    init(_ asked: AskedInOrder) { self.asked = asked }

    func requestKeyFrame() { asked.all.withLock { $0.append("source") } }
}

extension TrackHub {
    /// Delivers a frame of the track's source, and attaches one if there is none.
    @discardableResult
    func publish(_ frame: CodedFrame, epoch: UInt64, arrival: MonotonicTime) -> TrackFrame? {
        let source = self.source ?? CountingSource()
        _ = attach(source, now: .zero)
        return deliver(frame, from: source, epoch: epoch, arrival: arrival)
    }
}

@Suite("The track hub")
struct TrackHubTests {
    @Test("who joins gets the units since the last IDR, then each new one")
    func join() {
        let hub = TrackHub(origin: .zero)
        for index in 0..<5 { hub.publish(picture(idr: index == 2), epoch: 1, arrival: at(Int64(index))) }
        let reader = hub.subscribe {}
        #expect(reader.take().map(\.number) == [2, 3, 4])
        hub.publish(picture(idr: false), epoch: 1, arrival: at(9))
        #expect(reader.take().map(\.number) == [5])
    }

    @Test("the host's own key frame is planned before the source is asked, whose prompt answer calls it off")
    func promptSource() {
        let hub = TrackHub(origin: .zero)
        let asked = AskedInOrder()
        hub.connect(asked)
        #expect(hub.attach(NotingSource(asked), now: at(0)))
        hub.requestKeyFrame(now: at(1))
        #expect(asked.all.withLock { $0 } == ["host", "source"])
    }

    @Test("a slow reader loses whole units alone and comes back through the cache")
    func slowReader() {
        let hub = TrackHub(origin: .zero)
        let slow = hub.subscribe(limits: CacheLimits(bytes: 1000, frames: 3)) {}
        let quick = hub.subscribe {}
        hub.publish(picture(idr: true), epoch: 1, arrival: at(0))
        for index in 1..<10 { hub.publish(picture(idr: false), epoch: 1, arrival: at(Int64(index))) }
        #expect(quick.take().count == 10)
        #expect(slow.take().map(\.number) == Array(0..<10))
        #expect(slow.lostFrames > 0)
        hub.publish(picture(idr: false), epoch: 1, arrival: at(11))
        #expect(slow.take().map(\.number) == [10])
    }

    @Test("past its limits the cache is empty until the next IDR")
    func cacheLimit() {
        let hub = TrackHub(origin: .zero, limits: CacheLimits(bytes: 1_000, frames: 300))
        hub.publish(picture(idr: true), epoch: 1, arrival: at(0))
        for index in 1..<11 { hub.publish(picture(idr: false), epoch: 1, arrival: at(Int64(index))) }
        #expect(!hub.canStart)
        #expect(hub.subscribe {}.take().isEmpty)
        hub.publish(picture(idr: true, bytes: 5_000), epoch: 1, arrival: at(20))
        #expect(hub.canStart)
    }

    @Test("the source is asked for an IDR at most once in 500 ms, and a kept wish is not lost")
    func keyFrames() {
        let hub = TrackHub(origin: .zero)
        let source = CountingSource()
        #expect(hub.attach(source, now: .zero))
        for index in 0..<100 { hub.requestKeyFrame(now: at(Int64(index))) }
        #expect(source.keyFrames.withLock { $0 } == 1)
        #expect(hub.totals.keyFrameRequests == 1)
        hub.passOnKeptRequest(now: at(499))
        #expect(source.keyFrames.withLock { $0 } == 1)
        hub.passOnKeptRequest(now: at(500))
        #expect(source.keyFrames.withLock { $0 } == 2)
        hub.requestKeyFrame(now: at(550))
        hub.publish(picture(idr: true), epoch: 1, arrival: at(600))
        hub.passOnKeptRequest(now: at(2_000))
        #expect(source.keyFrames.withLock { $0 } == 2)
        let totals = hub.totals
        #expect(totals.keyFrameRequests == 2 && totals.keyFrames == 1 && totals.frames == 1)
    }

    @Test("the low layer's encoder, which begins with a key frame, is asked for one at most once in 300 ms")
    func lowKeyFrames() {
        let hub = TrackHub(origin: .zero)
        let asked = AskedInOrder()
        hub.connect(asked)
        let report = PathReport(targets: [.usual])
        let reader = hub.subscribe(to: .low, report: report) {}
        #expect(hub.lowRate == nil)
        reader.report(report, now: at(0))
        #expect(hub.lowRate != nil)
        for index in 0..<700 { hub.requestKeyFrame(of: .low, now: at(Int64(index))) }
        #expect(asked.all.withLock { $0 } == ["low", "low"])
        reader.end(now: at(700))
        #expect(hub.lowRate == nil)
    }

    @Test("the source hears whether anybody watches")
    func viewers() {
        let hub = TrackHub(origin: .zero)
        let source = CountingSource()
        #expect(hub.attach(source, now: .zero))
        hub.viewerCame(decoding: .yuv444, now: at(1))
        hub.viewerCame(decoding: .yuv444, now: at(2))
        #expect(hub.viewers == 2)
        hub.viewerLeft(decoding: .yuv444, now: at(3))
        hub.viewerLeft(decoding: .yuv444, now: at(4))
        #expect(hub.viewers == 0)
        #expect(source.watched.withLock { $0 } == [false, true, false])
    }

    @Test("a picture of a still screen is asked of the source each time")
    func pictures() {
        let hub = TrackHub(origin: .zero)
        let source = CountingSource()
        #expect(hub.attach(source, now: .zero))
        hub.viewerCame(decoding: .yuv444, now: at(0))
        hub.requestPicture()
        #expect(source.pictures.withLock { $0 } == 1)
        #expect(source.keyFrames.withLock { $0 } == 0)
    }

    @Test("the source hears what the viewers' paths carry")
    func targetBitRate() {
        let hub = TrackHub(origin: .zero)
        let source = CountingSource()
        #expect(hub.attach(source, now: .zero))
        let slow = BitRate(bitsPerSecond: 300_000)
        let reader = hub.subscribe {}
        #expect(reader.report(PathReport(targets: [slow]), now: at(0)).source == slow)
        #expect(source.rates.withLock { $0 } == [slow])
        reader.end(now: at(1))
        #expect(source.rates.withLock { $0 } == [slow, .highest])
    }

    @Test("a reader that is let go of is woken no more")
    func cancelled() {
        let hub = TrackHub(origin: .zero)
        let wakes = Mutex(0)
        var reader: TrackReader? = hub.subscribe { wakes.withLock { $0 += 1 } }
        hub.publish(picture(idr: true), epoch: 1, arrival: at(0))
        #expect(reader?.take().count == 1)
        reader = nil
        hub.publish(picture(idr: true), epoch: 1, arrival: at(1))
        #expect(wakes.withLock { $0 } == 1)
    }
}
