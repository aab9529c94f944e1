import CaptureLink
import MediaTypes
import TestScene
import TestSupport
import Testing

@testable import CaptureEngine

@Suite("What capture tells of its work")
struct StatisticsTests {
    @Test("a percentile is within 7 % of the true one, whatever the durations")
    func percentiles() {
        var random = SeededRandom(seed: 12)
        for limit in [2_000, 1_000_000, 40_000_000, 3_000_000_000] as [UInt64] {
            var histogram = DurationHistogram()
            let durations = (0..<500).map { _ in UInt64.random(in: 1024...limit, using: &random) }.sorted()
            for duration in durations.shuffled(using: &random) { histogram.add(duration) }
            for (percent, index) in [(50, 249), (95, 474), (100, 499)] as [(UInt32, Int)] {
                let found = Double(histogram.percentile(percent))
                #expect(abs(found - Double(durations[index])) < 0.07 * Double(durations[index]))
            }
        }
    }

    @Test("nothing has no percentile, and neither the shortest nor the longest leaves the table")
    func extremes() {
        var histogram = DurationHistogram()
        #expect(histogram.percentile(50) == 0)
        histogram.add(0)
        #expect(histogram.percentile(95) < 1200)
        histogram.add(.max)
        #expect(histogram.percentile(95) > 3_000_000_000)
        histogram.removeAll()
        #expect(histogram.percentile(95) == 0)
    }

    @Test("only what is new is told, and each time anew")
    func recent() {
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        var work = RecentWork(since: start, cpuTime: .milliseconds(100))
        let size = PictureSize(width: 100, height: 50)
        var all = CaptureStatistics()
        for damaged in [5000, 1000, 0, 9999] {
            all.pictures += 1
            all.encodeNanoseconds += 2_000_000
            work.tookPicture(encodingSoFar: all.encodeNanoseconds, damaged: damaged, of: size)
        }
        all.bytes = 700
        let first = work.take(all, cpuTime: .milliseconds(130), now: start + .seconds(1))
        #expect(first.duration == 1_000_000_000)
        #expect(first.pictures == 4 && first.bytes == 700)
        #expect(first.processorNanoseconds == 30_000_000)
        // 1, 0.2 and 1 (no more than all of it): the picture that shows nothing new doesn't count.
        #expect(first.damagedMillionths == 733_333)
        for time in [first.encodeMedianNanoseconds, first.encodeP95Nanoseconds] {
            #expect((1_880_000...2_120_000).contains(time))
        }
        let second = work.take(all, cpuTime: .milliseconds(130), now: start + .seconds(3))
        var nothing = RecentStatistics()
        nothing.duration = 2_000_000_000
        #expect(second == nothing)
    }

    @Test(
        "they come about once a second while something changes, and add up; a still screen sends none of its own",
        .enabled(if: VirtualScreen.isAvailable))
    func messages() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        func statistics() -> [CaptureStatistics] {
            host.messages.compactMap { if case .statistics(let done) = $0.body { done } else { nil } }
        }
        let begin = now()
        try host.sendHello()
        var tick = 0
        try host.wait(for: "three of them") {
            tick += 1
            try? window.show(tick: tick)
            return statistics().count >= 3
        }
        #expect(now() - begin >= .seconds(2))
        let all = statistics().prefix(3)
        let last = try #require(all.last)
        let recent = try all.map { try #require($0.recent) }
        #expect(recent.map(\.pictures).reduce(0, +) == last.pictures)
        #expect(recent.map(\.bytes).reduce(0, +) == last.bytes)
        let pictures = try picturesBetweenReports(host.messages)
        #expect(recent.map(\.pictures) == pictures.prefix(3).map { UInt64($0.times.count) })
        for (report, told) in zip(recent, pictures).dropFirst() {
            #expect(report.duration >= 1_000_000_000)
            // However late pictures are: the first that comes a second after a report has the next one behind it.
            if let first = told.times.first {
                #expect(told.times.dropLast().allSatisfy { $0 - first < .seconds(1) })
            }
            #expect(report.processorNanoseconds > 0 && report.damagedMillionths <= 1_000_000)
            #expect(report.encodeMedianNanoseconds > 0)
            #expect(report.encodeMedianNanoseconds <= report.encodeP95Nanoseconds)
            #expect((report.damagedMillionths > 0) == told.hasChange)
        }
        let notices = host.messages.compactMap { if case .picture(let notice) = $0.body { notice } else { nil } }
        #expect(notices.allSatisfy { $0.worked.map { $0 > .zero && $0 < .seconds(60) } == true })
        let waits = notices.filter { !$0.damage.isEmpty }.compactMap(\.waited)
        #expect(!waits.isEmpty && waits.allSatisfy { $0 >= .zero && $0 < .seconds(60) })
        #expect(notices.allSatisfy { $0.settling == .zero || ($0.waited ?? .zero) >= $0.settling })
        try host.waitForSilence(of: .milliseconds(600))
        let (messageCount, unitCount) = (host.messages.count, host.count)
        try host.read(for: .milliseconds(1500))
        // Pictures that keep the stream alive may come, and figures right behind them.
        let still = host.units.dropFirst(unitCount - 1).compactMap(\.frame.captureTime)
        #expect(zip(still, still.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(2500) })
        for index in host.messages.indices.dropFirst(messageCount) {
            guard case .statistics = host.messages[index].body else { continue }
            #expect(host.messages[index - 1].header.flags.contains(.endOfFrame))
        }
        capture.stop()
    }

    /// The pictures in front of a report.
    private struct ToldPictures {
        var times: [MonotonicTime] = []
        /// Whether one of them shows something new.
        var hasChange = false
    }

    /// What was sent before the first report, between each two, and behind the last.
    private func picturesBetweenReports(_ messages: [ReceivedMessage]) throws -> [ToldPictures] {
        var all: [ToldPictures] = []
        var next = ToldPictures()
        for message in messages {
            switch message.body {
            case .statistics:
                all.append(next)
                next = ToldPictures()
            case .picture(let notice):
                if !notice.damage.isEmpty { next.hasChange = true }
            case .unit:
                guard message.header.flags.contains(.endOfFrame) else { continue }
                let time = try #require(message.header.captureTime)
                next.times.append(time)
            default: continue
            }
        }
        return all + [next]
    }
}
