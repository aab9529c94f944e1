import Glibc
import MediaTypes
import RateControl
import TestSupport
import Testing

@Suite("Rate controller")
struct RateControllerTests {
    private static let period = Interval.microseconds(33_333)
    private static let screen = 8160

    private static func controller(_ bitsPerSecond: Int, constant: Int? = nil) -> RateController {
        RateController(
            bitRate: BitRate(bitsPerSecond: bitsPerSecond), period: period, constantQuantizer: constant)
    }

    private static func at(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test("a constant quantizer is given at once, whatever the rate, and nothing is refined")
    func constant() {
        var controller = Self.controller(10_000, constant: 23)
        for _ in 0..<10 {
            #expect(controller.decide(.change, macroblocks: Self.screen, now: .zero) == .encode(quantizer: 23))
            controller.coded(
                .change, macroblocks: Self.screen, quantizer: 23, byteCount: 1_000_000, now: .zero)
        }
        let allowance = controller.refinementAllowance(now: Self.at(100_000))
        #expect(allowance.macroblocks == 0)
        #expect(allowance.waitUntil == .distantFuture)
    }

    @Test("a picture that codes nothing is never held back")
    func keepAlive() {
        var controller = Self.controller(10_000)
        controller.coded(.keyFrame, macroblocks: Self.screen, quantizer: 51, byteCount: 1_000_000, now: .zero)
        guard case .encode = controller.decide(.change, macroblocks: 0, now: .zero) else {
            Issue.record("held back: \(controller.lastDecisionDescription)")
            return
        }
    }

    @Test("the debt of a burst delays the next picture, and is gone after a rest")
    func debt() throws {
        var controller = Self.controller(1_000_000)
        controller.coded(.change, macroblocks: Self.screen, quantizer: 30, byteCount: 75_000, now: .zero)
        // After so long a rest it is no part of a motion.
        let decision = controller.decide(.change, macroblocks: Self.screen, now: Self.at(300))
        guard case .wait(let until) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(until >= Self.at(560))
        #expect(until <= Self.at(1_010))
        guard case .encode(let quantizer) = controller.decide(.change, macroblocks: Self.screen, now: Self.at(5_000))
        else {
            Issue.record("held back after a rest: \(controller.lastDecisionDescription)")
            return
        }
        #expect(quantizer <= 36)
    }

    @Test("a small change is coded at QP 14 at once, a large one in motion at 20 or coarser")
    func range() {
        var controller = Self.controller(100_000_000)
        #expect(controller.decide(.change, macroblocks: 4, now: .zero) == .encode(quantizer: 14))
        controller.coded(.change, macroblocks: 4, quantizer: 14, byteCount: 200, now: .zero)
        var now = MonotonicTime.zero
        for picture in 0..<20 {
            now = now + Self.period
            guard case .encode(let quantizer) = controller.decide(.change, macroblocks: Self.screen, now: now) else {
                Issue.record("held back: \(controller.lastDecisionDescription)")
                return
            }
            if picture > 0 { #expect(quantizer == 20) }
            controller.coded(.change, macroblocks: Self.screen, quantizer: quantizer, byteCount: 5_000, now: now)
        }
    }

    @Test("a scroll in a small window stays as fine as it began, however many pages turn in it")
    func smallScroll() {
        var controller = Self.controller(4_000_000)
        let macroblocks = 900
        var coarsest = 0
        for number in 0..<1_800 {
            // Thirty pictures a second; each page is another one after two seconds.
            let now = Self.at(Int64(number) * 33)
            guard case .encode(let quantizer) = controller.decide(.change, macroblocks: macroblocks, now: now) else {
                continue
            }
            let isPage = number % 60 == 0
            let bytes = isPage ? 900 * 15.0 * pow(1.06, Double(28 - quantizer)) : 900
            controller.coded(
                .change, macroblocks: macroblocks, quantizer: quantizer, byteCount: Int(bytes), isMoved: !isPage,
                now: now)
            if number > 60 { coarsest = max(coarsest, quantizer) }
        }
        #expect(coarsest <= 22)
    }

    @Test("after two seconds of waiting the coarsest picture comes, also where the rate fell and the debt is large")
    func patience() {
        var controller = Self.controller(4_000_000)
        controller.coded(.keyFrame, macroblocks: Self.screen, quantizer: 30, byteCount: 90_000, now: .zero)
        controller.bitRate = BitRate(bitsPerSecond: 100_000)
        var now = Self.at(33)
        for _ in 0..<100 {
            guard case .wait(let until) = controller.decide(.change, macroblocks: 40, now: now) else { break }
            #expect(until > now)
            #expect(until <= Self.at(2_033))
            now = until
        }
        #expect(now == Self.at(2_033))
        #expect(controller.decide(.change, macroblocks: 40, now: now) == .encode(quantizer: 51))
    }

    @Test("the picture never stops for good at 10 kbit/s")
    func tinyRate() {
        var controller = Self.controller(10_000)
        controller.coded(.keyFrame, macroblocks: Self.screen, quantizer: 51, byteCount: 60_000, now: .zero)
        var now = Self.at(33)
        var times: [MonotonicTime] = [.zero]
        while now < Self.at(120_000) {
            switch controller.decide(.change, macroblocks: Self.screen, now: now) {
            case .wait(let until):
                #expect(until > now)
                now = until
            case .encode(let quantizer):
                times.append(now)
                controller.coded(.change, macroblocks: Self.screen, quantizer: quantizer, byteCount: 3_000, now: now)
                now = now + Self.period
            }
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
            guard case .encode(let quantizer) = controller.decide(.refinement, macroblocks: macroblocks, now: now)
            else {
                Issue.record("allowed and then refused: \(controller.lastDecisionDescription)")
                return
            }
            #expect(quantizer == 14)
            controller.coded(
                .refinement, macroblocks: macroblocks, quantizer: 14, byteCount: macroblocks * 15, now: now)
            now = now + Self.period
        }
        guard case .wait(let until) = controller.decide(.change, macroblocks: 4, now: now) else { return }
        #expect(until <= now + .milliseconds(120))
    }

    @Test("refinement that had to wait doesn't make the next change coarse")
    func changeAfterHeldRefinement() {
        var controller = Self.controller(1_000_000)
        controller.coded(.change, macroblocks: Self.screen, quantizer: 30, byteCount: 100_000, now: .zero)
        guard case .wait = controller.decide(.refinement, macroblocks: 500, now: Self.at(100)) else {
            Issue.record("\(controller.lastDecisionDescription)")
            return
        }
        #expect(controller.decide(.change, macroblocks: 4, now: Self.at(60_000)) == .encode(quantizer: 14))
    }

    @Test("absurd values neither trap nor stop the picture for good")
    func absurd() {
        var random = SeededRandom(seed: 11)
        let numbers = [0, 1, -1, 8160, Int.max, Int.min, 1 << 40, 300]
        let times: [Int64] = [0, 0, 1, 3_600_000, -3_600_000, 33, .max / 1_000_000, .min / 1_000_000]
        for round in 0..<200 {
            var controller = RateController(
                bitRate: BitRate(bitsPerSecond: numbers.randomElement(using: &random) ?? 0),
                period: Interval(nanoseconds: times.randomElement(using: &random) ?? 0),
                finest: numbers.randomElement(using: &random) ?? 0)
            var now = MonotonicTime.zero
            for _ in 0..<100 {
                let kind = [PictureKind.keyFrame, .change, .refinement].randomElement(using: &random) ?? .keyFrame
                let macroblocks = numbers.randomElement(using: &random) ?? 0
                if case .encode(let quantizer) = controller.decide(kind, macroblocks: macroblocks, now: now) {
                    #expect((0...51).contains(quantizer))
                }
                controller.coded(
                    kind, macroblocks: numbers.randomElement(using: &random) ?? 0,
                    quantizer: numbers.randomElement(using: &random) ?? 0,
                    byteCount: numbers.randomElement(using: &random) ?? 0, now: now)
                #expect(controller.refinementAllowance(now: now).macroblocks >= 0)
                #expect(!controller.lastDecisionDescription.isEmpty)
                if round % 2 == 0 {
                    controller.bitRate = BitRate(bitsPerSecond: numbers.randomElement(using: &random) ?? 0)
                }
                now = now + .milliseconds(times.randomElement(using: &random) ?? 0)
            }
        }
        var controller = Self.controller(1_000_000)
        controller.coded(.change, macroblocks: 1, quantizer: 14, byteCount: .max, now: .zero)
        guard case .encode = controller.decide(.change, macroblocks: Self.screen, now: Self.at(15_000)) else {
            Issue.record("stopped for good: \(controller.lastDecisionDescription)")
            return
        }
    }

    @Test("a clock that stands still or jumps by an hour is borne")
    func clock() {
        var controller = Self.controller(4_000_000)
        for _ in 0..<1_000 {
            if case .wait(let until) = controller.decide(.change, macroblocks: Self.screen, now: .zero) {
                #expect(until > .zero)
            }
            controller.coded(.change, macroblocks: Self.screen, quantizer: 30, byteCount: 1_000, now: .zero)
        }
        let later = MonotonicTime.zero + .seconds(3600)
        guard case .encode = controller.decide(.change, macroblocks: Self.screen, now: later) else {
            Issue.record("an hour later: \(controller.lastDecisionDescription)")
            return
        }
        controller.coded(.change, macroblocks: Self.screen, quantizer: 30, byteCount: 1_000, now: .zero)
        guard case .encode = controller.decide(.change, macroblocks: Self.screen, now: later) else {
            Issue.record("with a clock that ran back: \(controller.lastDecisionDescription)")
            return
        }
    }

    @Test("the last decision is told in one line")
    func description() {
        var controller = Self.controller(4_000_000)
        #expect(controller.lastDecisionDescription == "no picture yet")
        _ = controller.decide(.change, macroblocks: 4, now: .zero)
        controller.coded(.change, macroblocks: 4, quantizer: 14, byteCount: 135, now: .zero)
        let text = controller.lastDecisionDescription
        #expect(text.hasPrefix("change, 4 macroblocks: QP 14, expected "))
        #expect(text.hasSuffix(" bytes, got 135, debt 0 ms (preference)"))
    }
}
