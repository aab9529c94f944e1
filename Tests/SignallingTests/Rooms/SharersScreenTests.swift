import MediaTypes
import Rooms
import Testing

@testable import Signalling

@Suite("What the sharer's own screen shows of many viewers")
struct SharersScreenTests {
    private let ann = MemberID("ann")
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)
    private let place = PicturePlace(x: 0.5, y: 0.5)

    @Test("a thousand viewers who point get a thousand messages per second together, and each dot that is shown ends")
    func limit() {
        var screen = SharersScreen()
        let members = (0..<1000).map { MemberID("\($0)") }
        var shown: Set<MemberID> = []
        var count = 0
        // 30 positions per second of each, for two seconds.
        for step in 0..<60 {
            let now = start + .milliseconds(33) * Int64(step)
            for member in members where screen.show(member, path: [place], at: now) != nil {
                shown.insert(member)
                count += 1
            }
        }
        #expect((1900...2300).contains(count), "\(count)")
        let ended = members.filter { screen.end($0) != nil }
        #expect(Set(ended) == shown && !shown.isEmpty)
        // The second end of a dot is no news.
        let again = members.filter { screen.end($0) != nil }
        #expect(again.isEmpty)
        for member in members { screen.forget(member) }
        #expect(screen.isEmpty)
    }

    @Test("a line of which a part was dropped goes on as another line")
    func interruptedLine() {
        var screen = SharersScreen()
        #expect(screen.show(ann, path: [nil, place], at: start) == [nil, place])
        while screen.show(ann, path: [place], at: start) != nil {}
        let later = start + .seconds(1)
        #expect(screen.show(ann, path: [], at: later) == [])
        #expect(screen.show(ann, path: [place], at: later) == [nil, place])
        #expect(screen.show(ann, path: [place], at: later) == [place])
        while screen.show(ann, path: [place], at: later) != nil {}
        #expect(screen.show(ann, path: [nil, place], at: start + .seconds(2)) == [nil, place])
    }
}
