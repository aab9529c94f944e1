import MediaTypes
import Testing
import TrackHub

@testable import WebRTC

@Suite("Which layer of a track a session gets")
struct LayerSelectorTests {
    private let selector = Tried()

    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test("a single large picture, or one that the path carries soon, changes nothing")
    func largePicture() {
        var now: Int64 = 0
        for wait in [900, 700, 500, 320, 200, 0] {
            #expect(!selector.leavesSource(wait: .milliseconds(Int64(wait)), frames: wait / 30, now: time(now)))
            now += 120
        }
        #expect(!selector.leavesSource(wait: .seconds(9), frames: 1, now: time(now)))
        #expect(selector.layer == .source)
    }

    @Test("frames that stay late, or wait for more than a second, bring the low layer", arguments: [false, true])
    func late(_ isMuch: Bool) {
        #expect(selector.leavesSource(wait: .milliseconds(isMuch ? 1100 : 400), frames: 9, now: time(0)) == isMuch)
        guard !isMuch else { return }
        #expect(!selector.leavesSource(wait: .milliseconds(400), frames: 12, now: time(499)))
        #expect(selector.leavesSource(wait: .milliseconds(400), frames: 12, now: time(500)))
        #expect(selector.layer == .low)
    }

    @Test("the source layer comes back when the path has carried what the source sends for a second, without a break")
    func comesBack() {
        let source = BitRate(bitsPerSecond: 1_000_000)
        #expect(selector.leavesSource(wait: .seconds(2), frames: 9, now: time(0)))
        #expect(!selector.wantsSource(target: BitRate(bitsPerSecond: 1_049_999), sourceRate: source, now: time(0)))
        #expect(!selector.wantsSource(target: BitRate(bitsPerSecond: 1_050_000), sourceRate: source, now: time(100)))
        #expect(!selector.wantsSource(target: BitRate(bitsPerSecond: 900_000), sourceRate: source, now: time(900)))
        #expect(!selector.wantsSource(target: BitRate(bitsPerSecond: 1_050_000), sourceRate: source, now: time(1000)))
        #expect(!selector.wantsSource(target: BitRate(bitsPerSecond: 1_050_000), sourceRate: source, now: time(1999)))
        #expect(selector.wantsSource(target: BitRate(bitsPerSecond: 1_050_000), sourceRate: source, now: time(2000)))
    }

    @Test("the path's end is looked for while less is sent than the source has, and for five seconds after")
    func search() {
        #expect(!selector.mayProbe(now: time(0)))
        #expect(selector.leavesSource(wait: .seconds(2), frames: 9, now: time(0)))
        #expect(selector.mayProbe(now: time(60_000)))
        selector.returnToSource(now: time(60_000))
        #expect(selector.mayProbe(now: time(64_999)))
        #expect(!selector.mayProbe(now: time(65_000)))
    }

    @Test("what the session begins with again may take a moment, and who falls back soon waits twice as long")
    func relapse() {
        let (source, target) = (BitRate(bitsPerSecond: 1_000_000), BitRate(bitsPerSecond: 2_000_000))
        /// When the session may return, after it left at `start`.
        func returnDelay(from start: Int64) -> Int64? {
            stride(from: start, to: start + 60_000, by: 500).first {
                selector.wantsSource(target: target, sourceRate: source, now: time($0))
            }
        }
        #expect(selector.leavesSource(wait: .seconds(2), frames: 9, now: time(0)))
        #expect(returnDelay(from: 0) == 1000)
        selector.returnToSource(now: time(1000))
        #expect(!selector.leavesSource(wait: .seconds(2), frames: 60, now: time(1001)))
        #expect(selector.leavesSource(wait: .seconds(2), frames: 60, now: time(1501)))
        #expect(returnDelay(from: 1501) == 3501)
        selector.returnToSource(now: time(3501))
        #expect(!selector.leavesSource(wait: .zero, frames: 0, now: time(3600)))
        #expect(selector.leavesSource(wait: .seconds(2), frames: 9, now: time(64_000)))
        #expect(returnDelay(from: 64_000) == 65_000)
    }
}

/// A selector that is tried out.
private final class Tried {
    private var selector = LayerSelector()

    var layer: Layer { selector.layer }

    func leavesSource(wait: Interval, frames: Int, now: MonotonicTime) -> Bool {
        selector.leavesSource(wait: wait, frames: frames, now: now)
    }

    func wantsSource(target: BitRate, sourceRate: BitRate, now: MonotonicTime) -> Bool {
        selector.wantsSource(target: target, sourceRate: sourceRate, now: now)
    }

    func mayProbe(now: MonotonicTime) -> Bool { selector.mayProbe(now: now) }

    func returnToSource(now: MonotonicTime) { selector.returnToSource(now: now) }
}
