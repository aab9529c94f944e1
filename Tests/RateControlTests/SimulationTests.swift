import MediaTypes
import RateControl
import TestSupport
import Testing

@Suite("Simulated sharing")
struct SimulationTests {
    static let rates = [500_000, 1_000_000, 2_000_000, 8_000_000]

    @Test("no sliding second of motion exceeds 110 % of the rate after the first", arguments: rates, 1...8)
    func limit(bitsPerSecond: Int, seed: Int) {
        for activity in [SimulatedScreen.Activity.steadyScroll, .scroll, .motion] {
            // A picture of that scroll may alone be more than 500 kbit/s carry in a second: see below.
            if activity == .scroll, bitsPerSecond < 1_000_000 { continue }
            var screen = SimulatedScreen(bitsPerSecond: bitsPerSecond, seed: UInt64(seed))
            screen.start()
            screen.run(activity, for: .seconds(20))
            #expect(screen.worstSecond(from: .zero, bitsPerSecond: bitsPerSecond) <= 1.1, "\(activity)")
            #expect(screen.pictures(.change).count >= 20, "\(activity): it goes on")
        }
    }

    @Test("a picture of 74 kB that nothing foretold is paid for by waiting, at 500 kbit/s", arguments: 1...8)
    func surprise(seed: Int) {
        var screen = SimulatedScreen(bitsPerSecond: 500_000, seed: UInt64(seed))
        screen.start()
        screen.run(.scroll, for: .seconds(20))
        var overfull = 0
        for second in 1..<20 {
            let begin = MonotonicTime.zero + .seconds(Int64(second))
            let bytes = screen.sent.reduce(0) {
                $1.time >= begin && $1.time < begin + .seconds(1) ? $0 + $1.byteCount : $0
            }
            if bytes * 8 > 550_000 { overfull += 1 }
        }
        #expect(overfull <= 1)
        #expect(screen.worstSecond(from: .zero, bitsPerSecond: 500_000) <= 1.5)
        let total = screen.pictures(.change).reduce(0) { $0 + $1.byteCount }
        #expect(total * 8 <= 20 * 500_000)
        #expect(screen.pictures(.change).count >= 20)
    }

    @Test(
        "a scroll stays readable at 1 Mbit/s and up: the frame rate falls",
        arguments: [1_000_000, 2_000_000, 4_000_000])
    func scroll(bitsPerSecond: Int) {
        var screen = SimulatedScreen(bitsPerSecond: bitsPerSecond, seed: 3)
        screen.start()
        screen.run(.scroll, for: .seconds(20))
        let pictures = screen.pictures(.change)
        let quantizers = pictures.map(\.quantizer).sorted()
        #expect(quantizers[quantizers.count / 2] <= 32)
        #expect(quantizers.last ?? 51 <= 34, "with pictures of 57 kB in between")
        #expect(pictures.count >= 80, "four pictures a second at the least")
    }

    @Test("a steady scroll stays at QP 32 or finer at 1 Mbit/s")
    func steadyScroll() {
        var screen = SimulatedScreen(bitsPerSecond: 1_000_000, seed: 4)
        screen.start()
        screen.run(.steadyScroll, for: .seconds(20))
        let pictures = screen.pictures(.change)
        #expect(pictures.allSatisfy { $0.quantizer <= 32 })
        #expect(pictures.count > 120)
        #expect(screen.worstSecond(from: .zero, bitsPerSecond: 1_000_000) <= 1.1)
    }

    @Test("the quantizer moves by 2 at most from picture to picture in steady motion", arguments: rates)
    func steadiness(bitsPerSecond: Int) {
        for activity in [SimulatedScreen.Activity.scroll, .motion] {
            var screen = SimulatedScreen(bitsPerSecond: bitsPerSecond, seed: 5)
            screen.start()
            screen.run(activity, for: .seconds(20))
            let pictures = screen.pictures(.change, from: .zero + .seconds(5))
            let steps = zip(pictures, pictures.dropFirst()).map { abs($0.quantizer - $1.quantizer) }
            #expect(steps.max() ?? 0 <= 2, "\(activity)")
        }
    }

    @Test("a page jump is legible at 1 Mbit/s, and paid for before the next picture")
    func pageJump() throws {
        var screen = SimulatedScreen(bitsPerSecond: 1_000_000, seed: 6)
        screen.start()
        screen.run(.stillness, for: .seconds(10))
        let begin = screen.now
        screen.run(.pageJump, for: .milliseconds(10))
        let jump = try #require(screen.pictures(.change, from: begin).first)
        #expect(jump.time == begin, "at once")
        #expect(jump.quantizer <= 34)
        screen.run(.scroll, for: .seconds(2))
        let next = try #require(screen.pictures(.change, from: jump.time + .milliseconds(1)).first)
        let lineTime = Double(jump.byteCount) * 8 / 1e6
        #expect((next.time - jump.time).seconds >= lineTime - 0.034)
        #expect(screen.worstSecond(from: begin - .seconds(1), bitsPerSecond: 1_000_000) <= 1.1)
    }

    @Test("typing is coded at QP 14 without waiting at 600 kbit/s")
    func typing() {
        var screen = SimulatedScreen(bitsPerSecond: 600_000, seed: 7)
        screen.start()
        screen.run(.stillness, for: .seconds(10))
        let (begin, waits) = (screen.now, screen.waits)
        screen.run(.typing, for: .seconds(10))
        let pictures = screen.pictures(.change, from: begin)
        #expect(pictures.count >= 300)
        #expect(pictures.allSatisfy { $0.quantizer == 14 })
        #expect(screen.waits == waits)
    }

    @Test("a new rate in the middle of a scroll is obeyed within a second", arguments: [(8, 1), (4, 1), (1, 8)])
    func rateChange(before: Int, after: Int) {
        var screen = SimulatedScreen(bitsPerSecond: before * 1_000_000, seed: 8)
        screen.start()
        screen.run(.motion, for: .seconds(5))
        let change = screen.now
        screen.controller.bitRate = BitRate(bitsPerSecond: after * 1_000_000)
        screen.run(.motion, for: .seconds(5))
        #expect(screen.worstSecond(from: change, bitsPerSecond: after * 1_000_000) <= 1.1)
        let early = screen.pictures(.change, from: change).filter { $0.time < change + .seconds(2) }
        #expect(!early.isEmpty, "the picture doesn't stop")
        if after > before {
            let late = screen.pictures(.change, from: change + .seconds(1))
            #expect(late.reduce(0) { $0 + $1.byteCount } > 4 * after * 125_000 * 6 / 10, "the new rate is used")
        }
    }

    @Test("all is at QP 14 soon after a scroll of two seconds", arguments: [(4_000_000, 1.0), (1_000_000, 3.0)])
    func refinement(bitsPerSecond: Int, seconds: Double) throws {
        for seed in UInt64(1)...8 {
            var screen = SimulatedScreen(bitsPerSecond: bitsPerSecond, seed: seed)
            screen.start()
            screen.run(.stillness, for: .seconds(10))
            let begin = screen.now
            screen.run(.scroll, for: .seconds(2))
            let end = try #require(screen.pictures(.change).last).time
            screen.run(.stillness, for: .seconds(5))
            #expect(screen.quality.refinementDue(to: 14) == nil)
            let last = try #require(screen.pictures(.refinement).last)
            #expect((last.time - end).seconds <= seconds)
            #expect(screen.worstSecond(from: begin, bitsPerSecond: bitsPerSecond) <= 1.1)
        }
    }

    @Test("an hour of stillness and motion leaves no drift")
    func hour() {
        var screen = SimulatedScreen(bitsPerSecond: 2_000_000, seed: 9)
        screen.start()
        var first: [SimulatedScreen.Sent] = []
        for minute in 0..<60 {
            let begin = screen.now
            screen.run(.scroll, for: .seconds(3))
            screen.run(.stillness, for: .seconds(27))
            screen.run(.typing, for: .seconds(1))
            screen.run(.motion, for: .seconds(2))
            screen.run(.stillness, for: .seconds(27))
            let scroll = screen.pictures(.change, from: begin).filter { $0.time < begin + .seconds(3) }
            if minute == 1 { first = scroll }
            if minute == 59 {
                #expect(abs(scroll.count - first.count) <= first.count / 4)
                let quantizers = (scroll.map(\.quantizer).max() ?? 51, first.map(\.quantizer).max() ?? 51)
                #expect(abs(quantizers.0 - quantizers.1) <= 3)
                #expect(screen.quality.refinementDue(to: 14) == nil)
            }
        }
        #expect(screen.worstSecond(from: .zero, bitsPerSecond: 2_000_000) <= 1.1)
        #expect(screen.now - .zero >= .seconds(3600))
    }
}
