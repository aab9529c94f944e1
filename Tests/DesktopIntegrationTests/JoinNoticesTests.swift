import MediaTypes
import Testing
import Threading

@testable import DesktopIntegration

@Suite("Notifications of viewers who join")
struct JoinNoticesTests {
    private let start = MonotonicTime(nanoseconds: 3_600_000_000_000)

    @Test("the first one is told at once, and those of the next 5 s are counted together")
    func spacing() {
        var notices = JoinNotices()
        #expect(notices.deadline == .distantFuture && notices.next(at: start) == nil)
        notices.joined("Ann")
        #expect(notices.deadline <= start)
        #expect(notices.next(at: start) == "Ann joined")
        #expect(notices.deadline == .distantFuture)
        for name in ["Bea", "Cy", nil] { notices.joined(name) }
        notices.joined(further: 7)
        #expect(notices.next(at: start + .milliseconds(4999)) == nil)
        #expect(notices.deadline == start + .seconds(5))
        #expect(notices.next(at: notices.deadline) == "Bea and 9 more joined")
        #expect(notices.next(at: start + .seconds(60)) == nil)
    }

    @Test(
        "a name has no characters that a message may not have, or that change the text around it",
        arguments: [
            ("Ann", "Ann"), (" Ann\n\tof  York ", "Ann of York"), ("a\u{FFFE}\u{1FFFF}", "a\u{FFFD}\u{FFFD}"),
            ("\u{202E}nnA\u{2069}", "nnA"), ("a\u{0}b\u{2028}c", "a b c"), ("👩‍💻", "👩‍💻"), ("\u{200F} ", "A viewer"),
            (String(repeating: "x", count: 61), String(repeating: "x", count: 60) + "…"),
        ])
    func names(name: String, shown: String) {
        #expect(JoinNotices.harmless(name) == shown)
    }

    @Test("a viewer without a name is a viewer")
    func unnamed() {
        #expect(JoinNotices.harmless(nil) == "A viewer")
    }

    @Test("the reasons why there are none are one line")
    func failures() {
        let lines = Lines()
        var notifications = Notifications(log: EventLog { lines.add($1) })
        notifications.failed("first")
        notifications.failed("second")
        #expect(lines.all == ["--notify: the desktop shows no notifications (first); sharing continues without them"])
    }

    @Test("viewers are counted once, those who leave no longer, and each who joins is reported once")
    func news() {
        let changes = Lines()
        let news = DesktopNews { changes.add("change") }
        news.joined("1", name: "Ann")
        news.joined("2", name: nil)
        news.joined("1", name: "Ann")
        news.left("2")
        news.left("3")
        var reading = news.read()
        #expect(reading.viewers == 1 && reading.joined == ["Ann", nil] && reading.furtherJoined == 0)
        #expect(changes.all.count >= 3)
        // A change of the name is reported as leaving and joining.
        for name in ["Anna", "Hannah"] {
            news.left("1")
            news.joined("1", name: name)
        }
        news.joined("4", name: "Bo")
        news.left("4")
        news.joined("4", name: "Bob")
        #expect(news.read().joined == ["Bob"])
        news.left("4")
        for number in 0..<150 { news.joined("n\(number)", name: "\(number)") }
        reading = news.read()
        #expect(reading.viewers == 151 && reading.joined.count == 100 && reading.furtherJoined == 50)
        reading = news.read()
        #expect(reading.viewers == 151 && reading.joined.isEmpty && reading.furtherJoined == 0)
    }
}
