import MediaTypes
import Testing

@testable import WebRTC

@Suite("What an overloaded host does")
struct LoopLoadTests {
    private static let start = MonotonicTime(nanoseconds: 5_000_000_000_000)

    private var load = LoopLoad(now: start)
    private var now = start
    private var worked = Interval.zero
    private var lines: [String] = []

    /// Lets turns of `work` follow each other, each after `rest`, for at least `time`, and decides after each turn.
    private mutating func run(_ work: Interval, after rest: Interval = .zero, for time: Interval) {
        let end = now + time
        while now < end {
            load.lag.turnBegan(at: now + rest)
            now = now + rest + work
            worked = worked + work
            let time = worked
            load.lag.turnEnded(at: now, next: .distantFuture, cpuTime: time)
            load.update(now: now)
            if let line = load.takeLine(viewers: 300, now: now) { lines.append(line) }
        }
    }

    @Test("there are fewer frames, step by step, while it is late, and not fewer than a quarter")
    mutating func thinning() {
        run(.milliseconds(20), after: .milliseconds(20), for: .seconds(10))
        #expect(load.frameShare == 100 && !load.isOverloaded(at: now))
        run(.milliseconds(60), for: .seconds(4))
        #expect(load.frameShare == 75 && load.isOverloaded(at: now))
        run(.milliseconds(60), for: .seconds(3))
        #expect(load.frameShare == 56)
        run(.milliseconds(60), for: .seconds(30))
        #expect(load.frameShare == 25)
    }

    @Test("frames return once there is room for them, and viewers when all frames are back")
    mutating func returning() {
        run(.milliseconds(60), for: .seconds(4))
        // On time, but a third more would be too much.
        run(.milliseconds(30), after: .milliseconds(20), for: .seconds(20))
        #expect(load.frameShare == 75 && load.isOverloaded(at: now))
        run(.milliseconds(20), after: .milliseconds(20), for: .seconds(5))
        #expect(load.frameShare == 100 && !load.isOverloaded(at: now))
    }

    @Test("from the least share, all frames are back within half a minute of rest")
    mutating func allSteps() {
        run(.milliseconds(60), for: .seconds(30))
        run(.milliseconds(1), after: .milliseconds(99), for: .seconds(30))
        #expect(load.frameShare == 100)
    }

    @Test("a source that is too much at all of its frames, and little at fewer, gets them back less and less often")
    mutating func relapses() {
        var rises = 0
        let end = now + .seconds(200)
        while now < end {
            let before = load.frameShare
            if before == 100 {
                run(.milliseconds(60), for: .milliseconds(60))
            } else {
                run(.milliseconds(10), after: .milliseconds(30), for: .milliseconds(40))
            }
            if load.frameShare > before { rises += 1 }
        }
        #expect((3...10).contains(rises))
        // After it was on time with all frames, the first pause is short again.
        run(.milliseconds(10), after: .milliseconds(30), for: .seconds(90))
        #expect(load.frameShare == 100)
        run(.milliseconds(60), for: .seconds(4))
        #expect(load.frameShare == 75)
        run(.milliseconds(10), after: .milliseconds(30), for: .seconds(5))
        #expect(load.frameShare == 100)
    }

    @Test("without viewers there is no load, even if the thread had no turn that says so")
    mutating func forgotten() {
        run(.milliseconds(60), for: .seconds(10))
        #expect(load.isOverloaded(at: now) && load.isOverloaded(at: now + .seconds(4)))
        now = now + .seconds(5)
        #expect(!load.isOverloaded(at: now))
        load.update(now: now)
        #expect(load.frameShare == 100)
    }

    @Test("the log says so once a minute")
    mutating func lateLines() {
        run(.milliseconds(83), for: .seconds(55))
        #expect(lines.count == 1)
        let text = "the host is late by 83 ms for 300 viewers: their media thread works "
        #expect(lines.first?.hasPrefix(text) == true, "\(lines)")
        #expect(lines.first?.hasSuffix("sources make 75 % of their frames") == true)
        run(.milliseconds(83), for: .seconds(70))
        #expect(lines.count == 2 || lines.count == 3)
        run(.milliseconds(10), after: .milliseconds(30), for: .seconds(200))
        #expect(lines.count <= 3)
    }
}
