import MediaTypes
import Testing

@testable import WaylandCapture

@Suite("pace of comparisons with the last picture")
struct ComparisonPaceTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: (10_000 + milliseconds) * 1_000_000)
    }

    @Test("the first picture, each one within 100 ms of a change, and one after a rest are compared at once")
    func atOnce() {
        var pace = ComparisonPace()
        #expect(pace.due(time(0)) == time(0))
        pace.foundChange(at: time(0))
        for step: Int64 in [1, 50, 99] { #expect(pace.due(time(step)) == time(step)) }
        #expect(pace.due(time(199)) == time(199))
        #expect(pace.due(time(500)) == time(500))
    }

    @Test(
        "while pictures follow each other without a change, each waits 100 ms for the next, and a change ends that",
        arguments: [17, 33, 67] as [Int64])
    func waits(interval: Int64) {
        var pace = ComparisonPace()
        #expect(pace.due(time(0)) == time(0))
        let steps = stride(from: interval, to: 500, by: Int64.Stride(interval))
        for step in steps { #expect(pace.due(time(step)) == time(step + 100)) }
        // The last one's time has come.
        #expect(pace.due(time(600)) == time(600))
        #expect(pace.due(time(610)) == time(710))
        pace.foundChange(at: time(610))
        #expect(pace.due(time(627)) == time(627))
    }
}
