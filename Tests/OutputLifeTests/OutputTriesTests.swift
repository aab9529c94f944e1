import MediaTypes
import OutputLife
import Testing

@Suite("How often an output is tried again")
struct OutputTriesTests {
    private static let refused = OutputError("connection refused")

    @Test("without tries a failure is an error at once, before and after the connection")
    func noTries() {
        for isConnected in [false, true] {
            var course = OutputCourse()
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
        var course = OutputCourse(tries: 3)
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
        var course = OutputCourse(tries: 3)
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
        var course = OutputCourse(tries: 100)
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
            var course = OutputCourse(tries: 1)
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
            var course = OutputCourse(tries: tries)
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
        var course = OutputCourse(tries: 1)
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
        var course = OutputCourse(tries: 3)
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
        var course = OutputCourse(tries: 3)
        _ = course.happens(.start)
        let failure = OutputError("no such protocol", isFinal: true)
        #expect(course.happens(.failed(attempt: 1, failure)) == [.tell(.error, because: failure)])
    }
}
