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
    func change() throws {
        var limits = try #require(Change(framesPerSecond: .atMost(10))).applied(to: SourceLimits())
        limits = try #require(Change(bitsPerSecond: .atMost(20_000))).applied(to: limits)
        #expect(
            limits
                == SourceLimits(
                    frameRate: FrameRate(framesPerSecond: 10), bitRate: BitRate(bitsPerSecond: 20_000)))
        limits = try #require(Change(framesPerSecond: .unlimited)).applied(to: limits)
        #expect(limits == SourceLimits(bitRate: BitRate(bitsPerSecond: 20_000)))
    }

    @Test("no limit goes above what the capture was started with")
    func ceiling() throws {
        let most = SourceLimits(
            frameRate: FrameRate(framesPerSecond: 30), bitRate: BitRate(bitsPerSecond: 4_000_000))
        let change = try #require(Change(framesPerSecond: .atMost(60), bitsPerSecond: .atMost(600_000)))
        let limits = change.applied(to: SourceLimits(), most: most)
        #expect(limits.frameRate == most.frameRate && limits.bitRate == BitRate(bitsPerSecond: 600_000))
        let removal = try #require(Change(framesPerSecond: .unlimited, bitsPerSecond: .unlimited))
        #expect(removal.applied(to: limits, most: most) == SourceLimits())
    }
}
