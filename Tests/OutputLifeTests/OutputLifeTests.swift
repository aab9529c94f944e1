import MediaTypes
import OutputLife
import TestSupport
import Testing

struct OutputLifeTests {
    private static let refused = OutputError("connection refused")

    @Test("an output that is started and stopped tells each of four states once")
    func startAndStop() {
        var course = OutputCourse()
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

    @Test("an attempt that nobody answers is given up after its time")
    func timeout() {
        let late = OutputError("no answer within 10 s")
        var course = OutputCourse(tries: 1)
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
        var opening = OutputCourse()
        _ = opening.happens(.start)
        #expect(opening.happens(.stop) == [.tell(.disconnecting), .abandon(attempt: 1), .tell(.disconnected)])
        var waiting = OutputCourse(tries: 3)
        _ = waiting.happens(.start)
        _ = waiting.happens(.failed(attempt: 1, Self.refused))
        #expect(waiting.happens(.stop) == [.tell(.disconnecting), .tell(.disconnected)])
        #expect(waiting.life.deadline == .distantFuture)
        var slow = OutputCourse()
        _ = slow.happens(.start)
        _ = slow.happens(.opened(attempt: 1))
        _ = slow.happens(.stop)
        let (wait, actions) = slow.waits()
        #expect(wait == .seconds(3))
        #expect(actions == [.abandon(attempt: 1), .tell(.disconnected)])
        var failing = OutputCourse(tries: 3)
        _ = failing.happens(.start)
        _ = failing.happens(.opened(attempt: 1))
        _ = failing.happens(.stop)
        #expect(failing.happens(.failed(attempt: 1, Self.refused)) == [.tell(.disconnected)])
    }

    @Test("a restart by hand starts again in every state but the first")
    func restart() {
        var course = OutputCourse(tries: 1)
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
        var course = OutputCourse()
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
        var course = OutputCourse(hasTrack: false)
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
        var opening = OutputCourse()
        _ = opening.happens(.start)
        #expect(opening.happens(.trackLeft) == [.abandon(attempt: 1), .tell(.waiting)])
        var retrying = OutputCourse(tries: 1)
        _ = retrying.happens(.start)
        for attempt in [1, 2] {
            let told = retrying.happens(.failed(attempt: attempt, Self.refused))
            #expect(told == [.tell(.autoReconnecting, because: Self.refused)])
            #expect(retrying.happens(.trackLeft) == [.tell(.waiting)])
            #expect(retrying.happens(.trackCame) == [.tell(.connecting), .open(attempt: attempt + 1)])
        }
        var failed = OutputCourse()
        _ = failed.happens(.start)
        _ = failed.happens(.failed(attempt: 1, Self.refused))
        #expect(failed.happens(.trackLeft) == [] && failed.happens(.trackCame) == [])
        #expect(failed.life.state == .error)
    }

    @Test("a track that returns while the rest is sent has another connection after that, unless there is a stop")
    func trackReturnsEarly() {
        func leaving() -> OutputCourse {
            var course = OutputCourse()
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
