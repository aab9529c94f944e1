import MediaTypes
import OutputLife
import TestSupport
import Testing

struct OutputLifeTests {
    private static let refused = OutputError("connection refused")

    /// A life and its time, so that a test reads as what happens.
    private struct Course {
        var life: OutputLife
        var now = MonotonicTime.zero + .seconds(100)
        var random = 0.5

        init(tries: Int = 0, hasTrack: Bool = true) {
            var settings = OutputLife.Settings()
            settings.tries = tries
            life = OutputLife(settings, hasTrack: hasTrack)
        }

        mutating func happens(_ event: OutputLife.Event) -> [OutputLife.Action] {
            life.handle(event, at: now, random: random)
        }

        /// Waits until something is due, and does it; returns how long that took.
        mutating func waits() -> (Interval, [OutputLife.Action]) {
            let before = now
            now = life.deadline
            return (now - before, life.poll(at: now, random: random))
        }
    }

    @Test("an output that is started and stopped tells each of four states once")
    func startAndStop() {
        var course = Course()
        #expect(course.life.state == .unknown)
        #expect(course.happens(.start) == [.tell(.connecting), .open(attempt: 1)])
        #expect(course.happens(.start) == [])
        #expect(course.happens(.opened(attempt: 1)) == [.tell(.connected)])
        #expect(course.life.deadline == .distantFuture)
        #expect(course.happens(.stop) == [.tell(.disconnecting), .close(attempt: 1)])
        #expect(course.happens(.stop) == [])
        #expect(course.happens(.closed(attempt: 1)) == [.tell(.disconnected)])
        #expect(course.happens(.start) == [.tell(.connecting), .open(attempt: 2)])
        // Nothing of the first attempt counts any more.
        #expect(course.happens(.failed(attempt: 1, Self.refused)) == [])
        #expect(course.happens(.opened(attempt: 1)) == [])
        #expect(course.life.state == .connecting)
    }

    @Test("without tries a failure is an error at once, before and after the connection")
    func noTries() {
        for isConnected in [false, true] {
            var course = Course()
            _ = course.happens(.start)
            if isConnected { _ = course.happens(.opened(attempt: 1)) }
            #expect(course.happens(.failed(attempt: 1, Self.refused)) == [.tell(.error, because: Self.refused)])
            #expect(course.life.state == .error)
            #expect(course.life.deadline == .distantFuture)
            #expect(course.happens(.start) == [.tell(.connecting), .open(attempt: 2)])
        }
    }

    @Test("three tries come after growing waits, and the error only after the last", arguments: [0, 0.5, 0.999])
    func tries(random: Double) {
        var course = Course(tries: 3)
        course.random = random
        _ = course.happens(.start)
        _ = course.happens(.opened(attempt: 1))
        for number in 1...3 {
            let told = course.happens(.failed(attempt: number, Self.refused))
            // It is told once that the output tries again.
            #expect(told == (number == 1 ? [.tell(.autoReconnecting, because: Self.refused)] : []))
            let (wait, actions) = course.waits()
            #expect(wait >= .seconds(2) * Int64(number - 1))
            #expect(wait <= (number == 1 ? .seconds(1) : .seconds(2) * Int64(number)))
            #expect(actions == [.open(attempt: number + 1)])
            #expect(course.life.state == .autoReconnecting)
        }
        #expect(course.happens(.failed(attempt: 4, Self.refused)) == [.tell(.error, because: Self.refused)])
        #expect(course.life.state == .error)
    }

    @Test("the reason of each try is told, but the same one only once")
    func reasons() {
        var course = Course(tries: 3)
        _ = course.happens(.start)
        let unreachable = OutputError("network is unreachable")
        for (number, (failure, isNews)) in [
            (Self.refused, true), (Self.refused, false), (unreachable, true),
        ].enumerated() {
            let told = course.happens(.failed(attempt: number + 1, failure))
            #expect(told == (isNews ? [.tell(.autoReconnecting, because: failure)] : []))
            _ = course.waits()
        }
        #expect(course.happens(.opened(attempt: 4)) == [.tell(.connected)])
        // Without a try left, the same reason is told as an error.
        #expect(course.happens(.failed(attempt: 4, unreachable)) == [.tell(.error, because: unreachable)])
    }

    @Test("more than three tries are not taken")
    func maxTries() {
        var course = Course(tries: 100)
        _ = course.happens(.start)
        for number in 1...3 {
            _ = course.happens(.failed(attempt: number, Self.refused))
            _ = course.waits()
        }
        #expect(course.happens(.failed(attempt: 4, Self.refused)) == [.tell(.error, because: Self.refused)])
    }

    @Test("a connection that lasted counts the tries anew, and one that ends at once doesn't")
    func lasting() {
        for lasts in [Interval.seconds(1), .seconds(10)] {
            var course = Course(tries: 1)
            _ = course.happens(.start)
            _ = course.happens(.failed(attempt: 1, Self.refused))
            _ = course.waits()
            #expect(course.happens(.opened(attempt: 2)) == [.tell(.connected)])
            course.now = course.now + lasts
            let isOver = course.happens(.failed(attempt: 2, Self.refused)) == [.tell(.error, because: Self.refused)]
            #expect(isOver == (lasts < .seconds(10)))
        }
    }

    @Test(
        "where its name may be in use, it tries again every few seconds for 45 s, and then as often as it is set to",
        arguments: [0, 0.5, 0.999])
    func nameInUse(random: Double) {
        let held = OutputError("the stream name is in use", nameMayBeInUse: true)
        for tries in [0, 3] {
            var course = Course(tries: tries)
            course.random = random
            let begin = course.now
            _ = course.happens(.start)
            var attempt = 1
            while course.now - begin < .seconds(45) {
                let told = course.happens(.failed(attempt: attempt, held))
                #expect(told == (attempt == 1 ? [.tell(.autoReconnecting, because: held)] : []))
                let (wait, actions) = course.waits()
                #expect(wait >= .seconds(1) && wait <= .seconds(3))
                attempt += 1
                #expect(actions == [.open(attempt: attempt)])
            }
            for _ in 0..<tries {
                #expect(course.happens(.failed(attempt: attempt, held)) == [])
                _ = course.waits()
                attempt += 1
            }
            #expect(course.happens(.failed(attempt: attempt, held)) == [.tell(.error, because: held)])
        }
    }

    @Test("each name that it finds in use has its own 45 s, and a connection keeps its tries")
    func nameInUseAgain() {
        let held = OutputError("the stream name is in use", nameMayBeInUse: true)
        var course = Course(tries: 1)
        _ = course.happens(.start)
        for attempt in [1, 3] {
            _ = course.happens(.failed(attempt: attempt, held))
            course.now = course.now + .seconds(44)
            _ = course.waits()
            #expect(course.happens(.opened(attempt: attempt + 1)) == [.tell(.connected)])
            // The first of these is the only try.
            let told = course.happens(.failed(attempt: attempt + 1, Self.refused))
            #expect(told == [.tell(attempt == 1 ? .autoReconnecting : .error, because: Self.refused)])
            _ = course.waits()
        }
    }

    @Test("where it may be the token or the name, it asks seldom, until a connection has shown that the token is right")
    func tokenOrName() {
        let either = OutputError("refused", isFinal: true, nameMayBeInUse: true)
        var course = Course(tries: 3)
        let begin = course.now
        _ = course.happens(.start)
        var attempt = 1
        while course.now - begin < .seconds(45) {
            let told = course.happens(.failed(attempt: attempt, either))
            #expect(told == (attempt == 1 ? [.tell(.autoReconnecting, because: either)] : []))
            #expect(course.waits().0 == .seconds(10))
            attempt += 1
        }
        #expect(attempt == 6)
        #expect(course.happens(.failed(attempt: attempt, either)) == [.tell(.error, because: either)])
        _ = course.happens(.start)
        _ = course.happens(.opened(attempt: attempt + 1))
        _ = course.happens(.failed(attempt: attempt + 1, Self.refused))
        _ = course.waits()
        _ = course.happens(.failed(attempt: attempt + 2, either))
        #expect(course.waits().0 == .seconds(2))
    }

    @Test("a failure that another try can't mend is an error at once")
    func final() {
        var course = Course(tries: 3)
        _ = course.happens(.start)
        let failure = OutputError("no such protocol", isFinal: true)
        #expect(course.happens(.failed(attempt: 1, failure)) == [.tell(.error, because: failure)])
    }

    @Test("an attempt that nobody answers is given up after its time")
    func timeout() {
        let late = OutputError("no answer within 10 s")
        var course = Course(tries: 1)
        _ = course.happens(.start)
        // It may wait for the first picture for any time.
        #expect(course.life.deadline == .distantFuture)
        #expect(course.happens(.dialled(attempt: 1)) == [])
        let (wait, actions) = course.waits()
        #expect(wait == .seconds(10))
        #expect(actions == [.abandon(attempt: 1), .tell(.autoReconnecting, because: late)])
        _ = course.waits()
        #expect(course.happens(.dialled(attempt: 1)) == [])
        #expect(course.life.deadline == .distantFuture)
        _ = course.happens(.dialled(attempt: 2))
        #expect(course.waits().1 == [.abandon(attempt: 2), .tell(.error, because: late)])
    }

    @Test("a stop ends an attempt and a wait at once, and what waits is sent for a while only")
    func stopping() {
        var opening = Course()
        _ = opening.happens(.start)
        #expect(opening.happens(.stop) == [.tell(.disconnecting), .abandon(attempt: 1), .tell(.disconnected)])
        var waiting = Course(tries: 3)
        _ = waiting.happens(.start)
        _ = waiting.happens(.failed(attempt: 1, Self.refused))
        #expect(waiting.happens(.stop) == [.tell(.disconnecting), .tell(.disconnected)])
        #expect(waiting.life.deadline == .distantFuture)
        var slow = Course()
        _ = slow.happens(.start)
        _ = slow.happens(.opened(attempt: 1))
        _ = slow.happens(.stop)
        let (wait, actions) = slow.waits()
        #expect(wait == .seconds(3))
        #expect(actions == [.abandon(attempt: 1), .tell(.disconnected)])
        var failing = Course(tries: 3)
        _ = failing.happens(.start)
        _ = failing.happens(.opened(attempt: 1))
        _ = failing.happens(.stop)
        #expect(failing.happens(.failed(attempt: 1, Self.refused)) == [.tell(.disconnected)])
    }

    @Test("a restart by hand starts again in every state but the first")
    func restart() {
        var course = Course(tries: 1)
        #expect(course.happens(.restart) == [])
        _ = course.happens(.start)
        #expect(course.happens(.restart) == [.abandon(attempt: 1), .open(attempt: 2)])
        _ = course.happens(.opened(attempt: 2))
        #expect(course.happens(.restart) == [.abandon(attempt: 2), .tell(.connecting), .open(attempt: 3)])
        _ = course.happens(.failed(attempt: 3, Self.refused))
        #expect(course.happens(.restart) == [.tell(.connecting), .open(attempt: 4)])
        // The tries are counted anew.
        #expect(course.happens(.failed(attempt: 4, Self.refused)) == [.tell(.autoReconnecting, because: Self.refused)])
        _ = course.waits()
        #expect(course.happens(.failed(attempt: 5, Self.refused)) == [.tell(.error, because: Self.refused)])
        #expect(course.happens(.restart) == [.tell(.connecting), .open(attempt: 6)])
    }

    @Test("when the network changes, the user decides whether it goes on")
    func networkChange() {
        var course = Course()
        #expect(course.happens(.networkChanged(goesOn: true)) == [])
        _ = course.happens(.start)
        _ = course.happens(.opened(attempt: 1))
        #expect(
            course.happens(.networkChanged(goesOn: true))
                == [.abandon(attempt: 1), .tell(.connecting), .open(attempt: 2)])
        _ = course.happens(.opened(attempt: 2))
        #expect(course.happens(.networkChanged(goesOn: false)) == [.abandon(attempt: 2), .tell(.disconnected)])
        #expect(course.happens(.networkChanged(goesOn: true)) == [])
    }

    @Test("an output waits for its track, ends with it after its queue, and connects again when the track returns")
    func track() {
        var course = Course(hasTrack: false)
        #expect(course.happens(.start) == [.tell(.waiting)])
        #expect(course.life.deadline == .distantFuture)
        #expect(course.happens(.restart) == [] && course.happens(.networkChanged(goesOn: true)) == [])
        for attempt in 1...2 {
            #expect(course.happens(.trackCame) == [.tell(.connecting), .open(attempt: attempt)])
            #expect(course.happens(.opened(attempt: attempt)) == [.tell(.connected)])
            #expect(course.happens(.trackLeft) == [.tell(.disconnecting), .close(attempt: attempt)])
            #expect(course.happens(.closed(attempt: attempt)) == [.tell(.waiting)])
        }
        #expect(course.happens(.stop) == [.tell(.disconnecting), .tell(.disconnected)])
        #expect(course.happens(.trackCame) == [])
        #expect(course.happens(.trackLeft) == [])
    }

    @Test("a track that ends before the connection ends the attempt or the wait, and its return has all tries")
    func trackWithoutConnection() {
        var opening = Course()
        _ = opening.happens(.start)
        #expect(opening.happens(.trackLeft) == [.abandon(attempt: 1), .tell(.waiting)])
        var retrying = Course(tries: 1)
        _ = retrying.happens(.start)
        for attempt in [1, 2] {
            let told = retrying.happens(.failed(attempt: attempt, Self.refused))
            #expect(told == [.tell(.autoReconnecting, because: Self.refused)])
            #expect(retrying.happens(.trackLeft) == [.tell(.waiting)])
            #expect(retrying.happens(.trackCame) == [.tell(.connecting), .open(attempt: attempt + 1)])
        }
        var failed = Course()
        _ = failed.happens(.start)
        _ = failed.happens(.failed(attempt: 1, Self.refused))
        #expect(failed.happens(.trackLeft) == [] && failed.happens(.trackCame) == [])
        #expect(failed.life.state == .error)
    }

    @Test("a track that returns while the rest is sent has another connection after that, unless there is a stop")
    func trackReturnsEarly() {
        func leaving() -> Course {
            var course = Course()
            _ = course.happens(.start)
            _ = course.happens(.opened(attempt: 1))
            _ = course.happens(.trackLeft)
            #expect(course.happens(.trackCame) == [])
            return course
        }
        var closed = leaving()
        #expect(closed.happens(.closed(attempt: 1)) == [.tell(.connecting), .open(attempt: 2)])
        var failed = leaving()
        #expect(failed.happens(.failed(attempt: 1, Self.refused)) == [.tell(.connecting), .open(attempt: 2)])
        var slow = leaving()
        let (wait, actions) = slow.waits()
        #expect(wait == .seconds(3))
        #expect(actions == [.abandon(attempt: 1), .tell(.connecting), .open(attempt: 2)])
        var stopped = leaving()
        #expect(stopped.happens(.stop) == [])
        #expect(stopped.happens(.closed(attempt: 1)) == [.tell(.disconnected)])
    }
}
