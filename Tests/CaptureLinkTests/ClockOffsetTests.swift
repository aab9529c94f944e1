import CaptureLink
import MediaTypes
import TestSupport
import Testing

@Suite("The clock of a capture on another machine")
struct ClockOffsetTests {
    /// Two machines: a host's clock that the test moves, and a capture's beside it.
    struct Machines {
        var estimator = ClockOffsetEstimator()
        var host = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var ahead: Interval
        /// In millionths.
        var drift: Int64 = 0

        init(ahead: Interval) {
            self.ahead = ahead
        }

        var capture: MonotonicTime { host + ahead }

        mutating func pass(_ time: Interval) {
            host = host + time
            ahead = ahead + Interval(nanoseconds: time.nanoseconds * drift / 1_000_000)
        }

        /// A ping and its answer, with these ways.
        mutating func ask(out: Interval, back: Interval, kept: Interval = .microseconds(200)) {
            let asked = host
            pass(out)
            let received = capture
            pass(kept)
            let sent = capture
            pass(back)
            estimator.add(ClockEcho(asked: asked, received: received, sent: sent), arrival: host)
        }

        mutating func expectFault(_ condition: (Interval) -> Bool, sourceLocation: SourceLocation = #_sourceLocation)
            throws
        {
            let fault = try fault()
            #expect(condition(fault), "off by \(fault)", sourceLocation: sourceLocation)
        }

        /// How far off the estimate is now.
        mutating func fault() throws -> Interval {
            let known = estimator.offset(at: host)
            let offset = try #require(known)
            let fault = offset - ahead
            return fault < .zero ? .zero - fault : fault
        }
    }

    @Test("is known to half of what the two ways differ, however far the clocks are apart")
    func oneSample() throws {
        for seconds in [-3_000_000_000, -5, 0, 7, 4_000_000_000] as [Int64] {
            var machines = Machines(ahead: .seconds(seconds))
            let unknown = machines.estimator.offset(at: machines.host)
            #expect(unknown == nil)
            machines.ask(out: .milliseconds(3), back: .milliseconds(1))
            let fault = try machines.fault()
            #expect(fault <= .microseconds(1001))
            #expect(machines.estimator.roundTrip == .milliseconds(4))
        }
    }

    @Test("is told by the fastest answers, where most wait in a queue on one way")
    func asymmetric() throws {
        var machines = Machines(ahead: .milliseconds(123_456))
        var random = SeededRandom(seed: 5)
        for index in 0..<40 {
            let queue: Interval = index % 8 == 3 ? .zero : .microseconds(Int64.random(in: 500...40_000, using: &random))
            machines.ask(out: .microseconds(300), back: .microseconds(300) + queue)
            machines.pass(.seconds(1))
        }
        try machines.expectFault { $0 < .milliseconds(2) }
        #expect(machines.estimator.jumps == 0)
    }

    @Test("is followed where one clock runs faster, and never by more than a hundredth of the time that passes")
    func drift() throws {
        for drift in [-180, 180] as [Int64] {
            var machines = Machines(ahead: .seconds(-40))
            machines.drift = drift
            machines.ask(out: .microseconds(400), back: .microseconds(400))
            let first = machines.estimator.offset(at: machines.host)
            var last = try #require(first)
            for _ in 0..<3600 {
                machines.ask(out: .microseconds(400), back: .microseconds(500))
                machines.pass(.seconds(1))
                let known = machines.estimator.offset(at: machines.host)
                let next = try #require(known)
                let step = next - last
                #expect(step < .milliseconds(11) && step > .milliseconds(-11))
                last = next
                try machines.expectFault { $0 < .milliseconds(2) }
            }
            #expect(machines.estimator.jumps == 0)
        }
    }

    @Test("that jumps, because a machine slept, is taken anew from the next answer on")
    func jump() throws {
        var machines = Machines(ahead: .seconds(12))
        for _ in 0..<20 {
            machines.ask(out: .microseconds(400), back: .microseconds(400))
            machines.pass(.seconds(1))
        }
        machines.ahead = .seconds(-900)
        machines.ask(out: .milliseconds(5), back: .milliseconds(1))
        #expect(machines.estimator.jumps == 1)
        try machines.expectFault { $0 < .milliseconds(3) }
        machines.ahead = machines.ahead + .milliseconds(20)
        machines.ask(out: .microseconds(400), back: .microseconds(400))
        #expect(machines.estimator.jumps == 2)
        // A small one is made up for gradually.
        try machines.expectFault { $0 > .milliseconds(15) }
        for _ in 0..<300 {
            machines.pass(.milliseconds(10))
            _ = machines.estimator.offset(at: machines.host)
        }
        try machines.expectFault { $0 < .milliseconds(1) }
    }

    @Test("keeps the distances of the times that are shifted by it")
    func smooth() throws {
        var machines = Machines(ahead: .seconds(1))
        var random = SeededRandom(seed: 6)
        var last: MonotonicTime?
        for index in 0..<2000 {
            if index % 30 == 0 {
                let out = Interval.microseconds(Int64.random(in: 200...30_000, using: &random))
                machines.ask(out: out, back: .microseconds(200))
            }
            machines.pass(.milliseconds(33))
            let known = machines.estimator.offset(at: machines.host)
            let offset = try #require(known)
            let shifted = machines.capture - offset
            if let last { #expect(shifted > last) }
            last = shifted
        }
        #expect(machines.estimator.jumps == 0)
    }

    @Test("is not told by answers whose times can't be, nor by very late ones")
    func nonsense() {
        var estimator = ClockOffsetEstimator()
        let base = MonotonicTime(nanoseconds: 1 << 50)
        func answer(
            asked: MonotonicTime, received: MonotonicTime, sent: MonotonicTime, arrival: MonotonicTime
        ) -> Bool {
            estimator.add(ClockEcho(asked: asked, received: received, sent: sent), arrival: arrival)
        }
        func refuse(asked: MonotonicTime, received: MonotonicTime, sent: MonotonicTime, arrival: MonotonicTime) {
            let isTaken = answer(asked: asked, received: received, sent: sent, arrival: arrival)
            #expect(!isTaken)
        }
        refuse(asked: base, received: base, sent: base, arrival: base - .milliseconds(1))
        refuse(asked: base, received: base, sent: base - .milliseconds(1), arrival: base + .milliseconds(1))
        refuse(asked: base, received: base, sent: base + .seconds(1), arrival: base + .milliseconds(1))
        refuse(asked: base, received: base, sent: base, arrival: base + .seconds(3))
        let unknown = estimator.offset(at: base)
        #expect(unknown == nil)
        var random = SeededRandom(seed: 7)
        for _ in 0..<2000 {
            func any() -> MonotonicTime {
                MonotonicTime(
                    nanoseconds: Int64.random(in: .min ... .max, using: &random)
                        >> Int64.random(in: 0...40, using: &random))
            }
            _ = answer(asked: any(), received: any(), sent: any(), arrival: any())
            _ = estimator.offset(at: any())
        }
        _ = answer(asked: .zero, received: .distantFuture, sent: .distantFuture, arrival: .zero)
        _ = estimator.offset(at: .distantFuture)
    }
}
