import MediaTypes
import Testing

@testable import Ingest

@Suite("The silence of a capture of sound")
struct AudioSilenceTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func running() -> AudioSilence {
        var silence = AudioSilence(timeout: .seconds(10))
        silence.told(toRun: true, at: start)
        return silence
    }

    @Test("means a question after a minute while somebody listens, and a report if no answer comes in ten seconds")
    func asked() {
        var silence = running()
        #expect(silence.deadline == start + .seconds(60))
        let isEarly = silence.asksIfDue(start + .seconds(59))
        #expect(!isEarly)
        let asks = silence.asksIfDue(start + .seconds(60))
        #expect(asks)
        #expect(silence.deadline == start + .seconds(70))
        let isRepeated = silence.asksIfDue(start + .seconds(61))
        let isHasty = silence.tellIfDue(start + .seconds(69))
        #expect(!isRepeated && !isHasty && !silence.isTooLong(start + .seconds(69)))
        let isTold = silence.tellIfDue(start + .seconds(70))
        #expect(isTold && silence.isTooLong(start + .seconds(70)))
        #expect(silence.deadline == nil)
        let isToldTwice = silence.tellIfDue(start + .seconds(71))
        #expect(!isToldTwice)
    }

    @Test("is over with each byte, and doesn't count while nobody listens")
    func heard() {
        var silence = running()
        silence.heard(at: start + .seconds(50))
        #expect(silence.deadline == start + .seconds(110))
        _ = silence.asksIfDue(start + .seconds(110))
        silence.heard(at: start + .seconds(111))
        #expect(silence.deadline == start + .seconds(171))
        silence.told(toRun: false, at: start + .seconds(112))
        #expect(silence.deadline == nil)
    }

    @Test("means a question at once where another capture comes")
    func another() {
        var silence = AudioSilence(timeout: .seconds(10))
        let asks = silence.asksForAnother(start)
        let asksTwice = silence.asksForAnother(start + .seconds(2))
        #expect(asks && !asksTwice && !silence.isTooLong(start + .seconds(9)))
        #expect(silence.isTooLong(start + .seconds(10)))
        silence.heard(at: start + .seconds(11))
        #expect(!silence.isTooLong(start + .seconds(30)))
    }

    @Test("doesn't count where this process was stopped itself")
    func stopped() {
        var silence = running()
        _ = silence.asksIfDue(start + .seconds(60))
        let isTold = silence.tellIfDue(start + .seconds(600))
        #expect(!isTold && !silence.isTooLong(start + .seconds(609)))
        let isToldThen = silence.tellIfDue(start + .seconds(610))
        #expect(isToldThen)
    }
}
