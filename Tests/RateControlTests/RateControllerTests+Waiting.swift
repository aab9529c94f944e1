import MediaTypes
import RateControl
import Testing

/// When pictures may start.
extension RateControllerTests {
    @Test("the debt of a burst delays the next picture, and is gone after a rest")
    func debt() throws {
        var controller = Self.controller(1_000_000)
        controller.code(.change, macroblocks: Self.screen, qp: 30, byteCount: 75_000, now: .zero)
        // After so long a rest it is no part of a motion.
        let until = controller.start(.change, now: Self.at(300))
        #expect(until >= Self.at(560))
        #expect(until <= Self.at(600))
        let decision = try controller.requiredDecision(.change, macroblocks: Self.screen, now: Self.at(5_000))
        #expect(decision.qp <= 36)
    }

    @Test("a picture that wasn't coded, because nothing had changed, doesn't make the next page a part of a motion")
    func cancelled() throws {
        func qp(repaintedAt: Int64?, cancels: Bool = true) throws -> Int {
            var controller = Self.controller(4_000_000)
            let small = try controller.requiredDecision(.change, macroblocks: 4, now: .zero)
            controller.coded(small, qp: small.qp, byteCount: 200, now: .zero)
            if let repaintedAt {
                #expect(controller.start(.change, now: Self.at(repaintedAt)) == Self.at(repaintedAt))
                if cancels { controller.cancel() }
            }
            return try controller.requiredDecision(.change, macroblocks: Self.screen, now: Self.at(5_000)).qp
        }
        let undisturbed = try qp(repaintedAt: nil)
        #expect(try qp(repaintedAt: 100) == undisturbed)
        #expect(try qp(repaintedAt: 100, cancels: false) > undisturbed, "a page in a motion is coarser")
    }

    @Test("after four seconds of waiting a coarse picture comes, also where the rate fell and the debt is large")
    func timeout() {
        var controller = Self.controller(4_000_000)
        controller.code(.keyFrame, macroblocks: Self.screen, qp: 30, byteCount: 50_000, now: .zero)
        controller.bitRate = BitRate(bitsPerSecond: 100_000)
        var now = Self.at(33)
        for _ in 0..<100 {
            let until = controller.start(.change, now: now)
            if until <= now { break }
            #expect(until <= Self.at(4_033))
            now = until
        }
        #expect(now > Self.at(3_900) && now <= Self.at(4_033))
        #expect(controller.decide(.change, macroblocks: 4_000, now: now).qp >= 34)
    }

    @Test("the picture never stops for good at 10 kbit/s")
    func tinyRate() {
        var controller = Self.controller(10_000)
        controller.code(.keyFrame, macroblocks: Self.screen, qp: 51, byteCount: 60_000, now: .zero)
        var now = Self.at(33)
        var times: [MonotonicTime] = [.zero]
        while now < Self.at(120_000) {
            let until = controller.start(.change, now: now)
            if until > now {
                now = until
                continue
            }
            times.append(now)
            let decision = controller.decide(.change, macroblocks: Self.screen, now: now)
            controller.coded(decision, qp: decision.qp, byteCount: 3_000, now: now)
            now = now + Self.period
        }
        let longest = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .seconds(100)
        #expect(longest <= .seconds(11))
        #expect(times.count >= 24)
    }

    @Test("a change is not held up for long by refinement")
    func changeDuringRefinement() {
        var controller = Self.controller(1_000_000)
        var now = MonotonicTime.zero
        for _ in 0..<10 {
            let (macroblocks, waitUntil) = controller.refinementAllowance(now: now)
            if macroblocks == 0 {
                #expect(waitUntil > now)
                now = waitUntil
                continue
            }
            controller.code(
                .refinement, macroblocks: macroblocks, qp: 14, byteCount: macroblocks * 25, now: now)
            now = now + Self.period
        }
        let start = controller.start(.change, now: now)
        #expect(start <= now + .milliseconds(120))
    }

    @Test("refinement that had to wait doesn't make the next change coarse")
    func changeAfterHeldRefinement() throws {
        var controller = Self.controller(1_000_000)
        controller.code(.change, macroblocks: Self.screen, qp: 30, byteCount: 100_000, now: .zero)
        #expect(controller.refinementAllowance(now: Self.at(100)).macroblocks == 0)
        let decision = try controller.requiredDecision(.change, macroblocks: 4, now: Self.at(60_000))
        #expect(decision.qp == 14)
    }

    @Test("a clock that stands still or jumps by an hour is borne")
    func clock() {
        var controller = Self.controller(4_000_000)
        for _ in 0..<1_000 {
            let start = controller.start(.change, now: .zero)
            #expect(start >= .zero)
            controller.code(.change, macroblocks: Self.screen, qp: 30, byteCount: 1_000, now: .zero)
        }
        let later = MonotonicTime.zero + .seconds(3600)
        let start = controller.start(.change, now: later)
        #expect(start == later, "an hour later")
        controller.code(.change, macroblocks: Self.screen, qp: 30, byteCount: 1_000, now: .zero)
        let back = controller.start(.change, now: later)
        #expect(back == later, "with a clock that ran back")
    }
}
