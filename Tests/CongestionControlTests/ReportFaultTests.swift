import CongestionControl
import MediaTypes
import RTP
import TestSupport
import Testing

/// A path that carries all, to a peer whose reports the test makes up: 200 packets of 375 bytes a second, whose numbers
/// wrap after 150 s.
private struct CleanPath {
    private(set) var controller = CongestionController(
        limits: .init(initial: BitRate(bitsPerSecond: 20_000_000)), probes: false, at: .zero)
    private var milliseconds: Int64 = 0
    /// The number of the last packet, with its wraps.
    private(set) var last = 35_535

    private var now: MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    /// Lets some seconds pass, in each of which a sender report and a reception report come.
    ///
    /// - Parameters:
    ///   - late: how late the peer handles what it gets, in milliseconds, for each second.
    ///   - hasSenderReport: whether the reports name a sender report.
    ///   - highest: the number reported, given the last one that the peer has handled.
    mutating func run(
        _ seconds: Int, late: () -> Int64 = { 0 }, hasSenderReport: Bool = true, highest: (Int) -> Int
    ) -> BitRate {
        var least = BitRate(bitsPerSecond: .max)
        for _ in 0..<seconds {
            let (atSenderReport, lateness) = (milliseconds, late())
            let reported = atSenderReport + 900
            var handled = last
            while milliseconds < reported {
                milliseconds += 5
                controller.packetSent(byteCount: 375, at: now)
                last += 1
                if milliseconds <= reported - lateness - 20 { handled = last }
            }
            milliseconds = reported
            // The sender report arrived 20 ms later, and was handled when the packets around it were.
            let report = ReceptionReport(
                ssrc: SSRC(2), highestSequenceNumber: UInt32(truncatingIfNeeded: highest(handled)),
                lastSenderReport: hasSenderReport ? UInt32(atSenderReport) : 0,
                delaySinceLastSenderReport: hasSenderReport ? UInt32((860 - lateness) * 65536 / 1000) : 0)
            controller.receive(
                report, lastSent: SequenceNumber(UInt16(truncatingIfNeeded: last)),
                roundTripTime: hasSenderReport ? .milliseconds(40 + lateness) : nil, at: now)
            least = min(least, controller.plan(waiting: 0, at: now).estimate)
            while milliseconds < atSenderReport + 1000 {
                milliseconds += 5
                controller.packetSent(byteCount: 375, at: now)
                last += 1
            }
        }
        return least
    }
}

@Suite("Reception reports that say nothing about a queue")
struct ReportFaultTests {
    private let full = BitRate(bitsPerSecond: 20_000_000)

    @Test(
        "a peer that always reports the number 0 keeps its rate over a wrap, and its fault is named",
        arguments: [true, false])
    func alwaysZero(hasSenderReport: Bool) {
        var path = CleanPath()
        #expect(path.run(500, hasSenderReport: hasSenderReport) { _ in 0 } == full)
        #expect(path.last > 2 * 65_536)
        #expect(path.controller.reportFault?.contains("sequence number 0") == true)
    }

    @Test(
        "reports about packets that were never sent, or that stand still, are ignored and named",
        arguments: [true, false])
    func impossible(hasSenderReport: Bool) {
        var path = CleanPath()
        #expect(path.run(5, hasSenderReport: hasSenderReport) { $0 } == full)
        #expect(path.controller.reportFault == nil)
        #expect(path.run(30, hasSenderReport: hasSenderReport) { $0 + 900 } == full)
        #expect(path.controller.reportFault?.contains("was not sent") == true)
        var queueingDelay = CleanPath()
        #expect(queueingDelay.run(30, hasSenderReport: hasSenderReport) { _ in 35_600 } == full)
        #expect(queueingDelay.controller.reportFault?.contains("stand still") == true)
    }

    @Test("a peer that is busy answers late now and then, which is no queue", arguments: UInt64(1)...5)
    func busyPeer(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var path = CleanPath()
        var seconds = 0
        let late = {
            seconds += 1
            // Now and then it stands still for most of a second.
            return seconds % 8 == 0 ? 700 : Int64.random(in: 0..<300, using: &random)
        }
        let least = path.run(300, late: late) { $0 }
        #expect(least.bitsPerSecond >= 600_000, "what the path has carried")
        #expect(least.bitsPerSecond >= 10_000_000)
        #expect(path.controller.reportFault == nil)
    }
}
