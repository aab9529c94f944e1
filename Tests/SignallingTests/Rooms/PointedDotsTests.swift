import MediaTypes
import Rooms
import Testing

@testable import Signalling

@Suite("What viewers are told of dots and lines")
struct PointedDotsTests {
    private let ann = MemberID("ann")
    private let bob = MemberID("bob")
    private let cid = MemberID("cid")
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    /// Dots whose messages are texts: `ann 0.5`, or `ann -` without a place, and then what was drawn: the `x` of each
    /// place, and `|` where another line begins.
    private func readableDots() -> PointedDots {
        PointedDots { pointed, path in
            let steps = path.map { step in step.map { " \($0.x)" } ?? " |" }
            let place = pointed.place.map { "\($0.x)" } ?? "-"
            return Array("\(pointed.member) \(place)\(steps.joined())".utf8)
        }
    }

    private func place(_ x: Double?) -> PicturePlace? { x.flatMap { PicturePlace(x: $0, y: 0) } }

    private func pointed(_ member: MemberID, _ x: Double, track: TrackName? = nil) -> PointedPlace {
        PointedPlace(member: member, name: nil, track: track, place: place(x))
    }

    @Test("of each member only the latest place is kept, in the order of time, and nobody gets its own")
    func latest() {
        var dots = readableDots()
        dots.set(pointed(ann, 0.1), at: start)
        dots.set(pointed(bob, 0.2), at: start)
        dots.set(pointed(ann, 0.3), at: start)
        #expect(dots.hasNews(for: cid))
        #expect(dots.news(for: cid) == ["bob 0.2", "ann 0.3"])
        #expect(!dots.hasNews(for: cid))
        #expect(dots.news(for: cid) == [])
        #expect(dots.news(for: ann) == ["bob 0.2"])
        dots.end(ann, at: start)
        #expect(dots.shown(ann) == nil && dots.shown(bob) != nil && !dots.hasNews(for: ann))
        #expect(dots.news(for: cid) == ["ann -"])
        #expect(dots.news(for: bob) == ["ann -"])
        dots.end(cid, at: start)
        #expect(!dots.hasNews(for: ann))
    }

    @Test("a dot is forgotten once pages no longer show it")
    func fading() {
        var dots = readableDots()
        dots.set(pointed(ann, 0.1), at: start)
        dots.set(pointed(bob, 0.2), at: start + .milliseconds(500))
        dots.removeFaded(at: start + .milliseconds(999))
        #expect(dots.shown(ann) != nil)
        dots.removeFaded(at: start + .seconds(1))
        #expect(dots.shown(ann) == nil && dots.shown(bob) != nil && !dots.isEmpty)
        #expect(dots.news(for: cid) == ["bob 0.2"])
        dots.removeFaded(at: start + .milliseconds(1500))
        #expect(dots.isEmpty && !dots.hasNews(for: cid))
    }

    @Test("a viewer that has left is forgotten")
    func leaving() {
        var dots = readableDots()
        dots.set(pointed(ann, 0.1), at: start)
        #expect(dots.news(for: cid) == ["ann 0.1"])
        dots.forget(cid)
        #expect(dots.news(for: cid) == ["ann 0.1"])
    }

    @Test("each viewer is sent each step of a line once, however seldom it reads, and also when the dot has ended")
    func lines() {
        var dots = readableDots()
        dots.set(pointed(ann, 0.2), path: [nil, place(0.1), place(0.2)], at: start)
        #expect(dots.news(for: bob) == ["ann 0.2 | 0.1 0.2"])
        dots.set(pointed(ann, 0.3), path: [place(0.3)], at: start)
        #expect(dots.news(for: bob) == ["ann 0.3 0.3"])
        dots.set(pointed(ann, 0.4), at: start)
        #expect(dots.news(for: bob) == ["ann 0.4"])
        dots.set(pointed(ann, 0.5), path: [nil, place(0.5)], at: start)
        dots.end(ann, at: start)
        #expect(dots.news(for: bob) == ["ann - | 0.5"])
        #expect(dots.news(for: cid) == ["ann - | 0.1 0.2 0.3 | 0.5"])
        #expect(dots.news(for: ann) == [])
        #expect(dots.news(for: cid) == [])
    }

    @Test("of what a slow viewer has missed only the end is kept, which doesn't continue the line that it has")
    func longLine() {
        var dots = readableDots()
        dots.set(pointed(ann, 0), path: [nil, place(0)], at: start)
        #expect(dots.news(for: bob) == ["ann 0.0 | 0.0"])
        for _ in 1...1000 { dots.set(pointed(ann, 1), path: Array(repeating: place(1), count: 16), at: start) }
        let end = String(repeating: " 1.0", count: PointedDots.longestPath)
        #expect(dots.news(for: bob) == ["ann 1.0 |" + end])
        dots.set(pointed(ann, 0.5), path: [place(0.5)], at: start)
        #expect(dots.news(for: bob) == ["ann 0.5 0.5"])
        // One that lacks exactly what is kept goes on with its line.
        for step in 1...PointedDots.longestPath {
            dots.set(pointed(ann, 1), path: [place(1)], at: start)
            if step == 1 { #expect(dots.news(for: cid).first?.hasPrefix("ann 1.0 | 1.0") == true) }
        }
        #expect(dots.news(for: bob) == ["ann 1.0" + end])
    }

    @Test("nobody is owed steps that are older than a second")
    func oldSteps() {
        var dots = readableDots()
        dots.set(pointed(ann, 0.1), path: [nil, place(0.1)], at: start)
        #expect(dots.news(for: bob) == ["ann 0.1 | 0.1"])
        dots.set(pointed(ann, 0.2), path: [place(0.2)], at: start + .milliseconds(100))
        dots.set(pointed(ann, 0.3), path: [place(0.3)], at: start + .milliseconds(900))
        dots.removeFaded(at: start + .milliseconds(1100))
        #expect(dots.news(for: bob) == ["ann 0.3 | 0.3"])
        dots.removeFaded(at: start + .milliseconds(1899))
        #expect(dots.news(for: cid) == ["ann 0.3 | 0.3"])
        dots.removeFaded(at: start + .milliseconds(1900))
        #expect(dots.isEmpty)
    }

    @Test("a member's lines are those of the track at which it points")
    func otherTrack() {
        var dots = readableDots()
        dots.set(pointed(ann, 0.1, track: .screen), path: [nil, place(0.1)], at: start)
        dots.set(pointed(ann, 0.2, track: TrackName("desk2")), path: [nil, place(0.2)], at: start)
        dots.set(pointed(ann, 0.3, track: TrackName("desk2")), path: [place(0.3)], at: start)
        #expect(dots.news(for: bob) == ["ann 0.3 | 0.2 0.3"])
        dots.set(pointed(ann, 0.4, track: .screen), at: start)
        #expect(dots.news(for: bob) == ["ann 0.4"])
        // What it drew on the other track is gone, so a line that begins without a sign of it continues none.
        #expect(dots.news(for: cid) == ["ann 0.4 |"])
    }

    @Test("only a short message in the page's form is dropped without decoding")
    func form() {
        let message = "{\"eventName\":\"__point\",\"data\":{\"x\":0.5,\"y\":0.5}}"
        #expect(PointRequest.begins(message))
        #expect(!PointRequest.begins(" " + message))
        #expect(!PointRequest.begins(message + String(repeating: " ", count: 512)))
    }

    @Test("an allowance is a rate on average and a burst after a quiet time")
    func allowance() {
        var allowance = MessageAllowance(perSecond: 40, burst: .milliseconds(500))
        func taken(_ count: Int, at time: MonotonicTime) -> Int {
            (0..<count).count { _ in allowance.take(at: time) }
        }
        #expect(taken(500, at: start) == 20)
        #expect(taken(500, at: start + .milliseconds(24)) == 0)
        #expect(taken(500, at: start + .milliseconds(25)) == 1)
        #expect(taken(500, at: start + .seconds(60)) == 20)
        // 500 per second for ten seconds.
        let passed = (1...5000).count { step in
            allowance.take(at: start + .seconds(60) + .milliseconds(2) * Int64(step))
        }
        #expect(passed == 400)
    }
}

extension PointedDots {
    /// The messages for `viewer`, as texts.
    fileprivate mutating func news(for viewer: MemberID) -> [String] {
        takeNews(for: viewer).map { String(decoding: $0, as: UTF8.self) }
    }
}
