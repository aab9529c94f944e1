import MediaTypes
import Testing

@testable import WebRTC

@Suite("Whether a viewer is still there")
struct ViewerPresenceTests {
    /// Sends frames, `interval` apart, to a viewer that is heard `roundTripTime` after each question, and every
    /// `period` besides. Returns how often it was asked, and how often it was gone.
    private func watch(
        for time: Interval, frames interval: Interval = .milliseconds(33), roundTripTime: Interval,
        heard period: Interval? = nil, answers: Bool = true
    ) -> (questions: Int, gone: Int) {
        var presence = ViewerPresence()
        let start = MonotonicTime.zero + .seconds(100)
        var (lastHeard, answer) = (start, MonotonicTime.distantFuture)
        var (questions, gone) = (0, 0)
        var now = start
        while now < start + time {
            now = now + interval
            if let period {
                lastHeard = max(lastHeard, start + period * ((now - start).nanoseconds / period.nanoseconds))
            }
            if answer <= now { (lastHeard, answer) = (max(lastHeard, answer), .distantFuture) }
            if presence.asks(lastHeard: lastHeard, now: now) {
                questions += 1
                if answers, answer == .distantFuture { answer = now + roundTripTime }
            }
            if case .gone = presence.state(lastHeard: lastHeard, roundTripTime: roundTripTime, now: now) { gone += 1 }
        }
        return (questions, gone)
    }

    @Test("one that is heard each second isn't asked, and one that only answers is asked and never gone")
    func present() {
        #expect(watch(for: .seconds(30), roundTripTime: .milliseconds(50), heard: .milliseconds(900)) == (0, 0))
        for roundTripTime in [Interval.milliseconds(10), .milliseconds(600), .milliseconds(1_500)] {
            let found = watch(for: .seconds(60), roundTripTime: roundTripTime, heard: .seconds(5))
            #expect(found.questions > 10 && found.gone == 0, "\(roundTripTime)")
        }
    }

    @Test("frames a few seconds apart, each after a question that was lost, don't make it gone")
    func rareFrames() {
        let found = watch(
            for: .seconds(60), frames: .milliseconds(2_500), roundTripTime: .milliseconds(50), heard: .seconds(10),
            answers: false)
        #expect(found.questions > 10 && found.gone == 0)
    }

    @Test("a question before a pause doesn't make it gone, even if the session looks each second, for its reports")
    func pause() {
        var presence = ViewerPresence()
        let heard = MonotonicTime.zero + .seconds(100)
        let asked = heard + .seconds(2)
        let asks = presence.asks(lastHeard: heard, now: asked)
        #expect(asks)
        for second in 0...20 as ClosedRange<Int64> {
            let state = presence.state(
                lastHeard: heard, roundTripTime: .milliseconds(50), now: asked + .seconds(second))
            #expect(state == .doubted)
        }
    }

    @Test("one that is silent is gone two seconds later, and asked on")
    func gone() {
        let found = watch(for: .seconds(12), roundTripTime: .milliseconds(100), answers: false)
        // 30 frames per second for 9.9 s, and one question per 300 ms for 11 s.
        #expect((290...300).contains(found.gone) && (30...38).contains(found.questions), "\(found)")
    }
}
