import MediaTypes
import Testing

@testable import WaylandCapture

@Suite("Asking a compositor for a picture again")
struct ResumptionTests {
    @Test("gives a slow one more time with each attempt, and never ends paused")
    func steps() {
        let start = MonotonicTime.zero + .seconds(1)
        var resumption = Resumption(at: start)
        var steps: [String] = []
        var now = start
        #expect(!resumption.hasPaused)
        loop: while true {
            switch resumption.step(now) {
            case .wait:
                #expect(resumption.hasPaused == !steps.isEmpty)
                now = resumption.nextStep
            case .pause: steps.append("pause \((now - start).milliseconds)")
            case .goOn: steps.append("go on \((now - start).milliseconds)")
            case .giveUp:
                steps.append("give up \((now - start).milliseconds)")
                break loop
            }
        }
        #expect(
            steps == [
                "pause 150", "go on 200", "pause 500", "go on 550", "pause 1150", "go on 1200", "pause 2400",
                "go on 2450",
                "give up 3000",
            ])
    }
}
