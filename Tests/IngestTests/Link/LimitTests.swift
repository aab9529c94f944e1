import CaptureLink
import LinkTransport
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading
import TrackHub

@testable import Ingest

@Suite("What a person asks of a source")
struct LimitTests {
    private func rate(_ bits: Int) -> BitRate { BitRate(bitsPerSecond: bits) }
    private func frames(_ count: Int) -> FrameRate { FrameRate(framesPerSecond: count) }

    @Test("limits reach the source that is there and those that come, and hold whatever the paths carry")
    func limits() throws {
        let hub = TrackHub(origin: now())
        let ingest = try TrackIngest(hub: hub, log: .silent)
        ingest.limit(SourceLimits(frameRate: frames(10), bitRate: rate(600_000)))
        let source = AskedSource()
        #expect(ingest.attach(source))
        #expect(source.asked.withLock { $0.rates } == [rate(600_000)])
        #expect(source.asked.withLock { $0.frameRates } == [frames(10)])
        ingest.hub.report(rate(2_000_000))
        ingest.hub.report(rate(300_000))
        ingest.limit(SourceLimits(bitRate: rate(400_000)))
        ingest.hub.report(rate(500_000))
        ingest.limit(SourceLimits())
        #expect(source.asked.withLock { $0.rates }.map(\.bitsPerSecond) == [600_000, 300_000, 400_000, 500_000])
        #expect(source.asked.withLock { $0.frameRates } == [frames(10), frames(120)])
        ingest.detach(source, reason: "gone")
        let second = AskedSource()
        #expect(ingest.attach(second))
        #expect(second.asked.withLock { $0.rates } == [rate(500_000)])
        #expect(second.asked.withLock { $0.frameRates }.isEmpty)
    }

    @Test("a limit that is lifted before the paths are known is told as more than any source allows itself")
    func lifted() throws {
        let ingest = try TrackIngest(hub: TrackHub(origin: now()), log: .silent)
        let source = AskedSource()
        #expect(ingest.attach(source))
        #expect(source.asked.withLock { $0.rates }.isEmpty)
        ingest.limit(SourceLimits(bitRate: rate(50_000)))
        ingest.limit(SourceLimits())
        #expect(source.asked.withLock { $0.rates } == [rate(50_000), rate(1_000_000_000)])
    }

    @Test("who asks for a sharper picture hears whether there is a source")
    func sharpen() throws {
        let ingest = try TrackIngest(hub: TrackHub(origin: now()), log: .silent)
        #expect(!ingest.sharpen())
        let source = AskedSource()
        #expect(ingest.attach(source))
        #expect(ingest.sharpen())
        #expect(source.asked.withLock { $0.sharpenings } == 1)
    }

    @Test("a capture hears of both, and what it tells of its work is kept until it goes")
    func link() throws {
        let host = try LinkServerTests.Host()
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        try capture.wait(for: "a word") { $0.contains(.unwatched) }
        #expect(host.ingest.hub.statistics(now: now()) == nil)
        host.ingest.limit(SourceLimits(frameRate: frames(5), bitRate: rate(70_000)))
        host.ingest.sharpen()
        try capture.wait(for: "all of it") {
            $0.contains(.frameRate(frames(5))) && $0.contains(.bitRate(rate(70_000))) && $0.contains(.sharpen)
        }
        var done = CaptureStatistics()
        done.pictures = 7
        done.recent = RecentStatistics()
        try capture.send(.statistics(done))
        try eventually("the figures", holds: { host.ingest.hub.statistics(now: now()) == done })
        #expect(host.ingest.hub.stages?.encoding.count == 0)
        try host.waitForLog("capture has made 7 pictures")
        capture.connection.close()
        try eventually("none any more", holds: { host.ingest.hub.statistics(now: now()) == nil })
        #expect(host.ingest.hub.stages == nil)
        // What all of them have done is summed up; the figures of one that comes again go on.
        #expect(host.ingest.hub.work.pictures == 7)
        let again = try TestCapture(path: host.path)
        try again.greet()
        done.pictures = 9
        try again.send(.statistics(done))
        try eventually("the figures", holds: { host.ingest.hub.work.pictures == 9 })
        done.pictures = 2
        try again.send(.statistics(done))
        try eventually("the sum", holds: { host.ingest.hub.work.pictures == 11 })
    }

    @Test("a capture is told each place at which a viewer points, in order; those that wait are bounded")
    func points() throws {
        let host = try LinkServerTests.Host()
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        try capture.wait(for: "a word") { $0.contains(.unwatched) }
        let source = try #require(host.ingest.hub.source)
        func point(_ x: UInt16) -> ViewerPoint {
            ViewerPoint(viewer: 1, name: "Ann", place: ViewerPoint.Place(x: x, y: 0))
        }
        for x in 1...40 as ClosedRange<UInt16> { source.showPoint(point(x)) }
        source.showPoint(nil)
        try capture.wait(for: "all of them") { $0.last == .pointing(nil) }
        let points = capture.received.filter { $0.kind == .pointing }
        #expect(points == (1...40 as ClosedRange<UInt16>).map { .pointing(point($0)) } + [.pointing(nil)])
        let waiting = LinkSource(wake: try #require(EventFD()))
        waiting.greeted(with: Hello(role: .capture, name: "", processID: 1, makesKeyFrames: true))
        for x in 1...200 as ClosedRange<UInt16> { waiting.showPoint(point(x)) }
        #expect(waiting.takeMessages() == (137...200 as ClosedRange<UInt16>).map { .pointing(point($0)) })
        let legacy = LinkSource(wake: try #require(EventFD()))
        legacy.showPoint(point(1))
        #expect(legacy.takeMessages().isEmpty)
    }

    @Test("for a capture that doesn't read the latest of each kind waits, and no more")
    func captureThatDoesNotRead() throws {
        let host = try LinkServerTests.Host()
        let capture = try TestCapture(path: host.path)
        try capture.greet()
        try capture.wait(for: "a word") { $0.contains(.unwatched) }
        let turns = 4000
        for turn in 1...turns {
            host.ingest.limit(SourceLimits(bitRate: rate(100_000 + turn)))
            host.ingest.sharpen()
            // Wait so often that the link's thread could have written each message.
            if turn % 4 == 0 { _ = try? eventually("its turn", within: .microseconds(100)) { false } }
        }
        try capture.wait(for: "the last word") { $0.last { $0.kind == .bitRate } == .bitRate(rate(100_000 + turns)) }
        let count = capture.received.count
        #expect(count < turns, "\(count) messages waited")
    }
}
