import MediaTypes
import Testing

@testable import X11Capture

@Suite("when the overlay leaves the screen for a moment")
struct OverlayRestTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test("the screen beside it is looked at only after something was painted there, four times per second at most")
    func looks() {
        var rest = OverlayRest()
        #expect(rest.due == .distantFuture)
        rest.touched()
        #expect(rest.due <= start)
        rest.postpone(start)
        #expect(rest.due == start + .milliseconds(250))
        rest.foundNothing(start + .milliseconds(250))
        #expect(rest.due == .distantFuture)
        rest.touched()
        #expect(rest.due == start + .milliseconds(500))
    }

    @Test("a rest takes 500 ms at most, and the next one begins a second later; twice as long each time for nothing")
    func periods() {
        var rest = OverlayRest()
        var time = start
        /// Has a rest, and returns when the next one may begin.
        func next(changes: Bool) -> Interval {
            rest.begin(time)
            #expect(rest.end == time + .milliseconds(500) && rest.due == .distantFuture)
            // It may be over before, once all tiles were read.
            if changes { rest.foundChange() }
            rest.finish()
            rest.touched()
            #expect(rest.end == nil)
            let due = rest.due
            defer { time = due }
            return due - time
        }
        for _ in 0..<3 { #expect(next(changes: true) == .seconds(1)) }
        for seconds in [2, 4, 8, 16, 30, 30] as [Int64] { #expect(next(changes: false) == .seconds(seconds)) }
        #expect(next(changes: true) == .seconds(1))
        // Any other drawing ends nothing.
        rest.finish()
        #expect(rest.due == time)
    }
}
