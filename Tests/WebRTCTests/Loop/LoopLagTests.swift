import MediaTypes
import Testing

@testable import WebRTC

@Suite("How late the media thread is")
struct LoopLagTests {
    private static let start = MonotonicTime(nanoseconds: 5_000_000_000_000)

    private var lag = LoopLag(now: start)
    private var now = start
    private var worked = Interval.zero

    /// Lets turns of `work` follow each other, each after `rest`, for at least `time`.
    /// Other programs have the processor for `waiting` of each.
    private mutating func run(
        _ work: Interval, after rest: Interval = .zero, waiting: Interval = .zero, for time: Interval
    ) {
        let end = now + time
        while now < end {
            lag.turnBegan(at: now + rest)
            now = now + rest + work
            worked = worked + work - waiting
            let time = worked
            lag.turnEnded(at: now, next: .distantFuture, cpuTime: time)
        }
    }

    @Test("a turn makes viewers late by its work, and by how late it began")
    mutating func deadline() {
        let time = worked
        lag.turnEnded(at: now, next: now + .milliseconds(10), cpuTime: time)
        lag.turnBegan(at: now + .milliseconds(14))
        now = now + .milliseconds(20)
        lag.turnEnded(at: now, next: .distantFuture, cpuTime: time)
        #expect(lag.worst(at: now) == .milliseconds(10))
    }

    @Test("a deadline in the past asks for another turn at once, and one that isn't reached makes nothing late")
    mutating func atOnce() {
        let time = worked
        lag.turnEnded(at: now, next: .zero, cpuTime: time)
        lag.turnBegan(at: now + .milliseconds(1))
        now = now + .milliseconds(3)
        lag.turnEnded(at: now, next: now + .seconds(60), cpuTime: time)
        #expect(lag.worst(at: now) == .milliseconds(3))
        run(.milliseconds(2), after: .seconds(3), for: .seconds(1))
        #expect(lag.worst(at: now) == .milliseconds(2))
    }

    @Test("the longest turn is forgotten after two seconds, and all of them when the thread rests")
    mutating func forgetting() {
        run(.milliseconds(80), for: .milliseconds(80))
        run(.milliseconds(1), after: .milliseconds(9), for: .milliseconds(800))
        #expect(lag.worst(at: now) == .milliseconds(80))
        run(.milliseconds(1), after: .milliseconds(9), for: .milliseconds(1300))
        #expect(lag.worst(at: now) == .milliseconds(1))
        #expect(lag.worst(at: now + .seconds(3)) == .zero)
    }

    @Test("the share of work is that of the last seconds")
    mutating func busyShare() {
        run(.milliseconds(30), after: .milliseconds(10), for: .seconds(10))
        #expect(abs(lag.busyShare - 0.75) < 0.02)
        run(.milliseconds(1), after: .milliseconds(99), for: .seconds(10))
        #expect(lag.busyShare < 0.02)
        run(.milliseconds(90), for: .seconds(10))
        #expect(lag.busyShare > 0.98)
    }

    @Test("a thread is too late after two seconds of late turns, and on time two seconds after the last one")
    mutating func late() {
        // It takes 1.5 s until the share of work shows that the thread is busy.
        run(.milliseconds(60), for: .seconds(3))
        #expect(!lag.isLate(at: now))
        run(.milliseconds(60), for: .seconds(1))
        #expect(lag.isLate(at: now))
        run(.milliseconds(10), after: .milliseconds(30), for: .milliseconds(1900))
        #expect(lag.isLate(at: now))
        run(.milliseconds(10), after: .milliseconds(30), for: .milliseconds(200))
        #expect(!lag.isLate(at: now))
    }

    @Test("long turns with pauses between them are not too late: the thread keeps up")
    mutating func manyViewers() {
        run(.milliseconds(60), after: .milliseconds(60), for: .seconds(30))
        #expect(!lag.isLate(at: now))
    }

    @Test("a thread that other programs keep from the processor is late, but not because of its viewers")
    mutating func otherPrograms() {
        run(.milliseconds(200), waiting: .milliseconds(100), for: .seconds(30))
        #expect(lag.worst(at: now) == .milliseconds(200))
        #expect(!lag.isLate(at: now))
    }

    @Test("a busy thread with a long turn now and then is not too late, nor is one that was stopped for long")
    mutating func single() {
        for _ in 0..<50 {
            run(.milliseconds(10), for: .milliseconds(550))
            run(.milliseconds(60), for: .milliseconds(60))
            #expect(!lag.isLate(at: now))
        }
        run(.milliseconds(10), for: .seconds(1))
        run(.seconds(30), for: .seconds(1))
        #expect(lag.worst(at: now) == .seconds(30))
        #expect(!lag.isLate(at: now))
    }
}
