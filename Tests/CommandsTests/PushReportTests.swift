import ByteCoding
import OutputLife
import Pushing
import Testing

@testable import Commands

@Suite("The pushes in a host's status")
struct PushReportTests {
    @Test("a reason is cut off, whatever its characters consist of, and for people it ends at a semicolon")
    func lengths() throws {
        let label = PushLabel(name: "desk", target: try PushTarget("whip:http://127.0.0.1:9/whip"))
        let accents = "x" + String(repeating: "\u{301}", count: 5000)
        let report = PushReport(number: 1, label: label, state: .error, reason: accents)
        #expect(report.object.text.unicodeScalars.count < 400)
        #expect(report.line.unicodeScalars.count < 400)
        let short = PushReport(number: 2, label: label, state: .autoReconnecting, reason: "no answer; again soon")
        #expect(short.line.hasSuffix(": tries again: no answer"))
        #expect(short.object.text.contains("no answer; again soon"))
    }
}
