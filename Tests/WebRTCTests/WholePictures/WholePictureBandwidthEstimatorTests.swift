import MediaTypes
import Testing

@testable import WebRTC

@Suite("What confirmations say about a viewer's path")
struct WholePictureBandwidthEstimatorTests {
    /// A sender of pictures of one size, and its path.
    private struct Trial {
        var rate: WholePictureBandwidthEstimator
        var path: ConfirmingPath
        private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        private(set) var sent: UInt32 = 0
        private(set) var leftOut = 0
        /// The longest time from sending a picture to its confirmation.
        var longest = Interval.zero
        private var times: [UInt32: MonotonicTime] = [:]

        init(_ bitsPerSecond: Int, change: (inout ConfirmingPath) -> Void = { _ in }) {
            rate = WholePictureBandwidthEstimator(now: now)
            path = ConfirmingPath(bitsPerSecond)
            change(&path)
            path.send(0, byteCount: 0, now: now)
        }

        /// Sends a picture of `byteCount` bytes every `period` milliseconds, if there is room. The very first is a key
        /// picture.
        mutating func run(seconds: Int, every period: Int, byteCount: Int) {
            for millisecond in 0..<seconds * 1000 {
                now = now + .milliseconds(1)
                while let next = path.next(by: now) {
                    if let sentAt = times.removeValue(forKey: next.number) { longest = max(longest, next.at - sentAt) }
                    _ = rate.confirm(through: next.number, at: next.at)
                }
                guard millisecond % period == 0 else { continue }
                let count = sent == 0 ? 60_000 : byteCount
                guard rate.hasRoom(for: count, now: now) else {
                    leftOut += 1
                    continue
                }
                sent += 1
                rate.sent(sent, byteCount: count, now: now)
                path.send(sent, byteCount: count, now: now)
                times[sent] = now
            }
        }
    }

    @Test("a source that sends less than the path carries shows no end of it, even if the viewer is slow itself")
    func applicationLimited() {
        var typing = Trial(50_000_000)
        typing.run(seconds: 10, every: 100, byteCount: 1_500)
        #expect(typing.rate.target == nil && typing.leftOut == 0)
        var slow = Trial(50_000_000) { $0.viewerDelay = .milliseconds(45) }
        slow.run(seconds: 10, every: 16, byteCount: 8_000)
        #expect(slow.rate.target == nil && slow.leftOut < 20)
    }

    @Test(
        "the end of a slow path is found by its queue, which stays short",
        arguments: [300_000, 1_000_000, 4_000_000])
    func slowPath(_ bitsPerSecond: Int) throws {
        var trial = Trial(bitsPerSecond)
        trial.run(seconds: 3, every: 33, byteCount: 12_000)
        trial.longest = .zero
        trial.run(seconds: 10, every: 33, byteCount: bitsPerSecond == 4_000_000 ? 40_000 : 12_000)
        let target = try #require(trial.rate.target)
        #expect((bitsPerSecond / 2...bitsPerSecond).contains(target.bitsPerSecond))
        #expect((bitsPerSecond * 8 / 10...bitsPerSecond * 12 / 10).contains(trial.rate.estimate.bitsPerSecond))
        // A picture of 12 kB alone takes 320 ms at 300 kbit/s.
        #expect(trial.longest < .milliseconds(700), "\(trial.longest)")
    }

    @Test("a path that becomes slow, and fast again, is followed")
    func change() throws {
        var trial = Trial(20_000_000)
        trial.run(seconds: 4, every: 33, byteCount: 12_000)
        #expect(trial.rate.target == nil)
        trial.path.rate = BitRate(bitsPerSecond: 1_000_000)
        trial.run(seconds: 2, every: 33, byteCount: 12_000)
        #expect(try #require(trial.rate.target).bitsPerSecond <= 1_000_000)
        trial.path.rate = BitRate(bitsPerSecond: 20_000_000)
        trial.run(seconds: 10, every: 33, byteCount: 12_000)
        #expect(trial.rate.estimate.bitsPerSecond > 2_500_000)
    }

    @Test("a short silence says nothing of the path; while it lasts, little is under way")
    func silence() {
        var trial = Trial(20_000_000)
        trial.run(seconds: 4, every: 33, byteCount: 12_000)
        let before = trial.rate.estimate
        trial.path.silentUntil = trial.now + .milliseconds(1_500)
        trial.run(seconds: 1, every: 33, byteCount: 12_000)
        #expect(trial.rate.unconfirmedBytes <= 12_000 * 9)
        #expect(!trial.rate.hasRoom(for: 1, now: trial.now))
        #expect(trial.rate.silence(now: trial.now) > .milliseconds(700))
        trial.run(seconds: 2, every: 33, byteCount: 12_000)
        #expect(trial.rate.target == nil && trial.rate.estimate >= before)
        #expect(trial.rate.silence(now: trial.now) < .milliseconds(100))
    }

    @Test("a longer way is taken for a queue only until the path has been left to drain")
    func longerWay() {
        var trial = Trial(5_000_000)
        trial.run(seconds: 4, every: 33, byteCount: 8_000)
        trial.path.roundTrip = .milliseconds(240)
        trial.run(seconds: 16, every: 33, byteCount: 8_000)
        #expect(trial.rate.roundTripTime ?? .zero > .milliseconds(200))
        #expect(trial.rate.estimate.bitsPerSecond > 1_900_000)
    }

    @Test("one picture always has room, however large; what was not sent, or is known, confirms nothing")
    func edges() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var rate = WholePictureBandwidthEstimator(now: start)
        #expect(rate.hasRoom(for: 8 << 20, now: start))
        rate.sent(1, byteCount: 8 << 20, now: start)
        #expect(!rate.hasRoom(for: 1, now: start))
        let begun = rate.confirm(through: 0, at: start + .milliseconds(30))
        #expect(begun && rate.roundTripTime == .milliseconds(30))
        #expect(rate.unconfirmedBytes == 8 << 20)
        let again = rate.confirm(through: 0, at: start + .milliseconds(40))
        #expect(!again)
        let beyond = rate.confirm(through: .max, at: start + .milliseconds(50))
        #expect(beyond && rate.unconfirmedBytes == 0)
        let nothing = rate.confirm(through: .max, at: start + .milliseconds(60))
        #expect(!nothing)
        #expect(rate.silence(now: start + .seconds(60)) == .zero, "there is nothing to confirm")
    }

    @Test("a viewer that confirms what it has not yet got makes no round trip shorter than none")
    func early() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var rate = WholePictureBandwidthEstimator(now: start)
        rate.sent(1, byteCount: 1000, now: start + .milliseconds(50))
        let isNew = rate.confirm(through: 1, at: start + .milliseconds(20))
        #expect(isNew && rate.roundTripTime == .zero && rate.queueDelay == .zero)
    }
}
