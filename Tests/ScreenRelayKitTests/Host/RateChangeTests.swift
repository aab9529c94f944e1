import CaptureLink
import MediaTypes
import ScreenRelayKit
import Signalling
import Testing
import TrackHub

@Suite("A change of a source's limits")
struct RateChangeTests {
    private typealias Change = ControlCommand.RateChange

    @Test("a change of one limit leaves the other")
    func change() {
        var limits = Change(framesPerSecond: .atMost(10)).applied(to: SourceLimits())
        limits = Change(bitsPerSecond: .atMost(20_000)).applied(to: limits)
        #expect(
            limits
                == SourceLimits(
                    frameRate: FrameRate(framesPerSecond: 10), bitRate: BitRate(bitsPerSecond: 20_000)))
        limits = Change(framesPerSecond: .unlimited).applied(to: limits)
        #expect(limits == SourceLimits(bitRate: BitRate(bitsPerSecond: 20_000)))
    }

    @Test("no limit goes above what the capture was started with")
    func ceiling() {
        let most = SourceLimits(
            frameRate: FrameRate(framesPerSecond: 30), bitRate: BitRate(bitsPerSecond: 4_000_000))
        let change = Change(framesPerSecond: .atMost(60), bitsPerSecond: .atMost(600_000))
        let limits = change.applied(to: SourceLimits(), most: most)
        #expect(limits.frameRate == most.frameRate && limits.bitRate == BitRate(bitsPerSecond: 600_000))
        #expect(
            Change(framesPerSecond: .unlimited, bitsPerSecond: .unlimited).applied(to: limits, most: most)
                == SourceLimits())
    }
}
