import Glibc
import MediaTypes
import RateControl
import TestSupport
import Testing

@Suite("Rate controller")
struct RateControllerTests {
    static let period = Interval.microseconds(33_333)
    static let screen = 8160

    static func controller(_ bitsPerSecond: Int, constant: Int? = nil) -> RateController {
        RateController(
            bitRate: BitRate(bitsPerSecond: bitsPerSecond), period: period, constantQP: constant)
    }

    static func at(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test("a constant quantizer is given at once, whatever the rate, and nothing is refined")
    func constant() {
        var controller = Self.controller(10_000, constant: 23)
        for _ in 0..<10 {
            guard let decision = controller.startedDecision(.change, macroblocks: Self.screen, now: .zero) else {
                Issue.record("held back")
                return
            }
            #expect(decision.qp == 23)
            controller.coded(decision, qp: 23, byteCount: 1_000_000, now: .zero)
        }
        let allowance = controller.refinementAllowance(now: Self.at(100_000))
        #expect(allowance.macroblocks == 0)
        #expect(allowance.waitUntil == .distantFuture)
    }

    @Test("a small change is coded at QP 14 at once, one in motion that takes its share of the link at 20 or coarser")
    func range() throws {
        var controller = Self.controller(4_000_000)
        let small = try controller.requiredDecision(.change, macroblocks: 4, now: .zero)
        #expect(small.qp == 14)
        controller.coded(small, qp: 14, byteCount: 200, now: .zero)
        var now = MonotonicTime.zero
        for picture in 0..<20 {
            now = now + Self.period
            let decision = try controller.requiredDecision(.change, macroblocks: Self.screen, now: now)
            #expect(picture < 12 ? decision.qp >= 20 : decision.qp == 20)
            controller.coded(decision, qp: decision.qp, byteCount: 14_000, now: now)
        }
    }

    @Test("a scroll in a small window stays as fine as it began, however many pages turn in it")
    func smallScroll() {
        var controller = Self.controller(4_000_000)
        var coarsest = 0
        for number in 0..<1_800 {
            // Thirty pictures a second; each page is another one after two seconds.
            let now = Self.at(Int64(number) * 33)
            let isPage = number % 60 == 0
            guard
                let decision = controller.startedDecision(
                    .change, macroblocks: isPage ? 900 : 60, now: now)
            else { continue }
            let bytes = isPage ? 900 * 15.0 * pow(1.06, Double(28 - decision.qp)) : 900
            controller.coded(decision, qp: decision.qp, byteCount: Int(bytes), now: now)
            if number > 60, !isPage { coarsest = max(coarsest, decision.qp) }
        }
        #expect(coarsest <= 22)
    }

    @Test("what is not due but would be coded as well is paid for")
    func rest() {
        func qp(_ rest: [Int]) -> Int {
            var controller = Self.controller(1_000_000)
            controller.code(.keyFrame, macroblocks: Self.screen, qp: 28, byteCount: 20_000, now: .zero)
            controller.code(.change, macroblocks: 400, qp: 28, byteCount: 4_000, now: Self.at(500))
            #expect(controller.start(.change, now: Self.at(533)) == Self.at(533))
            return controller.decide(.change, macroblocks: 400, rest: rest, now: Self.at(533)).qp
        }
        let alone = qp([])
        // Five thousand others have QP 28.
        let coarse = qp([Int](repeating: 5_000, count: 28) + [Int](repeating: 0, count: 24))
        #expect(alone < 28 && coarse == 28)
    }

    @Test("a picture of another scene is to be coded again if it makes two others late")
    func sceneCut() throws {
        var controller = Self.controller(4_000_000)
        var now = MonotonicTime.zero
        var last = try controller.requiredDecision(.change, macroblocks: Self.screen, now: now)
        for _ in 0..<60 {
            guard let decision = controller.startedDecision(.change, macroblocks: Self.screen, now: now) else {
                now = now + .milliseconds(1)
                continue
            }
            controller.coded(decision, qp: decision.qp, byteCount: 16_000, now: now)
            now = now + Self.period
            last = decision
        }
        let good = controller.retryQP(for: last, byteCount: 30_000)
        #expect(good == nil)
        let coarser = controller.retryQP(for: last, byteCount: 160_000)
        let again = try #require(coarser)
        #expect(again >= last.qp + 8)
    }

    @Test("a picture that differs far more than usual from the one before is coded coarsely at once")
    func announcedCut() throws {
        func decision(_ difference: Double) throws -> RateController.Decision {
            var controller = Self.controller(4_000_000)
            var now = MonotonicTime.zero
            for _ in 0..<60 {
                now = now + .milliseconds(40)
                let decision = try controller.requiredDecision(
                    .change, macroblocks: 4_000, difference: 8, now: now)
                controller.coded(decision, qp: decision.qp, byteCount: 16_000, now: now)
            }
            now = now + .milliseconds(40)
            return try controller.requiredDecision(.change, macroblocks: 4_000, difference: difference, now: now)
        }
        let usual = try decision(8)
        #expect(try decision(15).qp == usual.qp)
        #expect(try decision(2).qp == usual.qp)
        // Four times the bytes need far more than two of the steps that divide them by 1.4 at most.
        #expect(try decision(32).qp >= usual.qp + 4)
    }

    @Test("a clock beside a film doesn't make it coarser")
    func clockBesideFilm() throws {
        func qp(hasClock: Bool) throws -> Int {
            var controller = Self.controller(4_000_000)
            var now = MonotonicTime.zero
            var last = 0
            for number in 0..<200 {
                now = now + .milliseconds(20)
                let isFilm = number % 2 == 0
                if !isFilm, !hasClock { continue }
                guard let decision = controller.startedDecision(.change, macroblocks: isFilm ? 8_000 : 4, now: now)
                else { continue }
                let bytes = isFilm ? 16_000 * pow(1.1, Double(28 - decision.qp)) : 160
                controller.coded(decision, qp: decision.qp, byteCount: Int(bytes), now: now)
                if isFilm { last = decision.qp }
            }
            return last
        }
        #expect(try qp(hasClock: true) <= qp(hasClock: false) + 2)
    }

    @Test("the estimate follows a change of the cost by the factor 5 within five pictures, in both directions")
    func learning() throws {
        var controller = Self.controller(4_000_000)
        var now = MonotonicTime.zero
        func errors(of bytesAt28: Double) throws -> [Double] {
            try (0..<8).map { _ in
                now = max(now + Self.period, controller.start(.change, now: now))
                while case let start = controller.start(.change, now: now), start > now { now = start }
                let decision = controller.decide(.change, macroblocks: Self.screen, now: now)
                let bytes = bytesAt28 * pow(1.07, Double(28 - decision.qp))
                controller.coded(decision, qp: decision.qp, byteCount: Int(bytes), now: now)
                let expected = try #require(Self.expected(controller.lastDecisionDescription))
                return max(expected / bytes, bytes / expected)
            }
        }
        for bytes in [20_000.0, 100_000, 20_000] { #expect(try errors(of: bytes)[5...].allSatisfy { $0 < 1.3 }) }
    }

    @Test("the few macroblocks of a window that moves teach little about the thousand of one that is coded")
    func draggedWindow() throws {
        var controller = Self.controller(4_000_000)
        var now = MonotonicTime.zero
        var worst = 1.0
        for number in 0..<120 {
            now = now + Self.period
            while case let start = controller.start(.change, now: now), start > now { now = start }
            let isWhole = number % 6 == 0
            let decision = controller.decide(.change, macroblocks: isWhole ? 1_000 : 15, now: now)
            // What a few cost says nothing about their quantizer.
            let bytes = isWhole ? 44_000 * pow(1.06, Double(35 - decision.qp)) : number % 2 == 0 ? 300 : 2_000
            controller.coded(decision, qp: decision.qp, byteCount: Int(bytes), now: now)
            let expected = try #require(Self.expected(controller.lastDecisionDescription))
            if isWhole, number > 24 { worst = max(worst, bytes / expected) }
        }
        #expect(worst < 1.5)
    }

    /// The expected size in a line of the log.
    private static func expected(_ line: String) -> Double? {
        line.split(separator: " ").drop { $0 != "expected" }.dropFirst().first.flatMap { Double($0) }
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
                minQP: numbers.randomElement(using: &random) ?? 0)
            var now = MonotonicTime.zero
            for _ in 0..<100 {
                let kind = [PictureKind.keyFrame, .change, .refinement].randomElement(using: &random) ?? .keyFrame
                let macroblocks = numbers.randomElement(using: &random) ?? 0
                if random.next() % 2 == 0 { _ = controller.start(kind, now: now) }
                let decision = controller.decide(
                    kind, macroblocks: macroblocks, rest: [numbers.randomElement(using: &random) ?? 0], now: now)
                #expect((0...51).contains(decision.qp))
                if let again = controller.retryQP(
                    for: decision, byteCount: numbers.randomElement(using: &random) ?? 0)
                {
                    #expect((0...51).contains(again))
                }
                controller.coded(
                    decision, qp: numbers.randomElement(using: &random) ?? 0,
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
        controller.code(.change, macroblocks: 1, qp: 14, byteCount: .max, now: .zero)
        #expect(controller.start(.change, now: Self.at(15_000)) == Self.at(15_000), "it doesn't stop for good")
    }

    @Test("the last decision is told in one line")
    func description() {
        var controller = Self.controller(4_000_000)
        #expect(controller.lastDecisionDescription == "no picture yet")
        let decision = controller.decide(.change, macroblocks: 4, now: .zero)
        controller.coded(decision, qp: 14, byteCount: 135, now: .zero)
        let text = controller.lastDecisionDescription
        #expect(text.hasPrefix("change, 4 macroblocks (first): QP 14, expected "))
        #expect(text.hasSuffix(" bytes, got 135, debt 0 ms"))
        controller.code(.change, macroblocks: 4, qp: 14, byteCount: 100_000, now: .zero)
        _ = controller.start(.change, now: Self.at(100))
        #expect(controller.lastDecisionDescription == "change: wait until 166 ms, debt 100 ms")
    }
}

extension RateController {
    /// The decision for a picture that may start; nil if it has to wait.
    mutating func startedDecision(
        _ kind: PictureKind, macroblocks: Int, difference: Double? = nil, now: MonotonicTime
    ) -> Decision? {
        if start(kind, now: now) > now { return nil }
        return decide(kind, macroblocks: macroblocks, difference: difference, now: now)
    }

    mutating func requiredDecision(
        _ kind: PictureKind, macroblocks: Int, difference: Double? = nil, now: MonotonicTime
    ) throws -> Decision {
        let decision = startedDecision(kind, macroblocks: macroblocks, difference: difference, now: now)
        return try #require(decision)
    }

    /// Codes a picture whose quantizer is given.
    mutating func code(
        _ kind: PictureKind, macroblocks: Int, qp: Int, byteCount: Int, now: MonotonicTime
    ) {
        if kind != .refinement { _ = start(kind, now: now) }
        coded(
            given(kind, macroblocks: macroblocks, qp: qp), qp: qp, byteCount: byteCount,
            now: now)
    }
}
