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
        pace.compared(at: time(0), foundChange: true)
        for step: Int64 in [1, 50, 99] {
            #expect(pace.due(time(step)) == time(step))
            pace.compared(at: time(step), foundChange: false)
        }
        #expect(pace.due(time(500)) == time(500))
    }

    @Test("while nothing changes, a picture waits until 100 ms after the last comparison, and a change ends that")
    func waits() {
        var pace = ComparisonPace()
        pace.compared(at: time(0), foundChange: true)
        pace.compared(at: time(120), foundChange: false)
        #expect(pace.due(time(121)) == time(220))
        #expect(pace.due(time(219)) == time(220))
        #expect(pace.due(time(220)) == time(220))
        pace.compared(at: time(150), foundChange: true)
        #expect(pace.due(time(160)) == time(160))
    }
}
