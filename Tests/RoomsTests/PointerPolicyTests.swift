import MediaTypes
import Rooms
import TestSupport
import Testing

private func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
}

@Suite("Who draws the pointer")
struct PointerPolicyTests {
    private func audience(pages: Int = 0, plain: Int = 0, source: Bool = true) -> PointerPolicy.Audience {
        var audience = PointerPolicy.Audience()
        audience.hasPointerSource = source
        audience.pages = pages
        audience.plainReaders = plain
        return audience
    }

    /// A macro can't call what mutates.
    private final class Decider {
        private var policy = PointerPolicy()
        var isDrawn: Bool { policy.isDrawn }
        var due: MonotonicTime? { policy.due }

        func decide(for audience: PointerPolicy.Audience, at now: MonotonicTime) -> Bool {
            policy.decide(for: audience, at: now)
        }
    }

    @Test("pictures carry it until a source can tell it apart, and then pages draw it")
    func source() {
        let policy = Decider()
        #expect(policy.isDrawn)
        #expect(policy.decide(for: audience(pages: 3, source: false), at: at(0)) == false)
        #expect(policy.decide(for: audience(pages: 3), at: at(10)) == true)
        #expect(!policy.isDrawn)
        #expect(policy.decide(for: audience(pages: 3, source: false), at: at(2000)) == true)
        #expect(policy.isDrawn)
    }

    @Test("one who can't draw it brings it into the pictures for all, for as long as he stays")
    func plainReader() {
        let policy = Decider()
        #expect(policy.decide(for: audience(pages: 1), at: at(0)) == true)
        #expect(policy.decide(for: audience(pages: 1, plain: 1), at: at(1000)) == true)
        #expect(policy.isDrawn)
        #expect(policy.decide(for: audience(pages: 1), at: at(2000)) == true)
        #expect(!policy.isDrawn)
    }

    @Test("past 100 pages it is drawn, and apart again below 90")
    func manyPages() {
        let policy = Decider()
        let pages = [1, 100, 101, 100, 90, 89, 95, 100, 101]
        var drawn: [Bool] = []
        for (index, count) in pages.enumerated() {
            _ = policy.decide(for: audience(pages: count), at: at((Int64(index) + 1) * 1000))
            drawn.append(policy.isDrawn)
        }
        #expect(drawn == [false, false, true, true, true, false, false, false, true])
    }

    @Test("a change waits for half a second after the last one, and is forgotten where it is no longer wanted")
    func pause() {
        let policy = Decider()
        #expect(policy.decide(for: audience(), at: at(1000)) == true)
        #expect(policy.decide(for: audience(plain: 1), at: at(1100)) == false)
        #expect(policy.due == at(1500))
        #expect(policy.decide(for: audience(), at: at(1200)) == false)
        #expect(policy.due == nil)
        #expect(policy.decide(for: audience(plain: 1), at: at(1499)) == false)
        #expect(policy.decide(for: audience(plain: 1), at: at(1500)) == true)
        #expect(policy.isDrawn && policy.due == nil)
    }

    @Test("whoever comes and goes, it changes at most twice a second and ends where it should")
    func random() {
        var random = SeededRandom(seed: 17)
        let policy = Decider()
        var time = MonotonicTime.zero
        var changes: [MonotonicTime] = []
        var last = audience()
        for _ in 0..<5000 {
            time = time + .microseconds(Int64.random(in: 0...200_000, using: &random))
            last = audience(
                pages: Int.random(in: 80...110, using: &random), plain: Int.random(in: 0...1, using: &random),
                source: Int.random(in: 0...9, using: &random) > 0)
            if policy.decide(for: last, at: time) { changes.append(time) }
            #expect(policy.due.map { $0 > time && $0 <= time + PointerPolicy.pause } ?? true)
        }
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $1 - $0 >= PointerPolicy.pause })
        last = audience(pages: 1)
        _ = policy.decide(for: last, at: time)
        if let due = policy.due { _ = policy.decide(for: last, at: due) }
        #expect(!policy.isDrawn)
    }
}
