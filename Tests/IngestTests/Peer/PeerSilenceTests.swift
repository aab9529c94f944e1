import MediaTypes
import Testing

@testable import Ingest

@Suite("the silence of a capture")
struct PeerSilenceTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let late = Interval.milliseconds(5001)

    private func running() -> PeerSilence {
        var silence = PeerSilence(timeout: .seconds(5))
        silence.heard(at: start - .seconds(60))
        silence.told(toRun: true, at: start)
        return silence
    }

    @Test("counts only while it is told to run, and from then on")
    func whileRunning() {
        var silence = PeerSilence(timeout: .seconds(5))
        #expect(silence.deadline == nil)
        #expect(!silence.isTooLong(start))
        silence = running()
        #expect(silence.deadline == start + late)
        #expect(!silence.isTooLong(start + .seconds(5)))
        #expect(silence.isTooLong(start + late))
        silence.told(toRun: false, at: start + .seconds(1))
        #expect(silence.deadline == nil)
        #expect(!silence.isTooLong(start + .seconds(100)))
    }

    @Test("starts again with each byte, but not where the capture is told once more to run")
    func heard() {
        var silence = running()
        silence.told(toRun: true, at: start + .seconds(3))
        #expect(silence.deadline == start + late)
        silence.heard(at: start + .seconds(4))
        #expect(silence.deadline == start + .seconds(4) + late)
        #expect(!silence.isTooLong(start + .seconds(9)))
    }

    @Test("is told once, and again where the capture has been heard since")
    func toldOnce() {
        var silence = running()
        let isEarly = silence.tellIfDue(start + .seconds(5))
        #expect(!isEarly)
        let isTold = silence.tellIfDue(start + late)
        #expect(isTold)
        #expect(silence.deadline == nil)
        let isRepeated = silence.tellIfDue(start + late)
        #expect(!isRepeated)
        // A capture that wants to take its place still finds that it hangs.
        #expect(silence.isTooLong(start + late))
        silence.heard(at: start + .seconds(6))
        let isToldAgain = silence.tellIfDue(start + .seconds(6) + late)
        #expect(isToldAgain)
    }

    @Test("does not count where we have been stopped ourselves")
    func stopped() {
        var silence = running()
        let awake = start + .seconds(60)
        let isTold = silence.tellIfDue(awake)
        #expect(!isTold)
        #expect(!silence.isTooLong(awake))
        #expect(silence.deadline == awake + late)
        let isToldLater = silence.tellIfDue(awake + late)
        #expect(isToldLater)
    }
}
