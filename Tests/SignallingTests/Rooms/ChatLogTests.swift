import Testing

@testable import Signalling

@Suite("The messages that a room keeps")
struct ChatLogTests {
    private func append(_ text: String, to log: inout ChatLog) {
        log.append(text, from: "0123456789", name: "Ann", time: 0)
    }

    @Test("the last 200 are kept, with numbers without gaps")
    func count() {
        var log = ChatLog()
        #expect(log.summary == ChatSummary(last: 0, kept: 0) && log.messages(after: 0).isEmpty)
        for number in 1...1000 { append("\(number)", to: &log) }
        #expect(log.summary == ChatSummary(last: 1000, kept: 200))
        #expect(log.messages.map(\.number) == Array(801...1000) && log.messages.last?.text == "1000")
        #expect(log.messages(after: 0).count == 200 && log.messages(after: 998).map(\.number) == [999, 1000])
        #expect(log.messages(after: 1000).isEmpty && log.messages(after: 2000).isEmpty)
    }

    @Test("at most 64 KiB are kept, with names and identifiers")
    func bytes() {
        var log = ChatLog()
        let text = String(repeating: "👍", count: 500)
        for _ in 1...100 { append(text, to: &log) }
        // 2,013 bytes each.
        #expect(log.summary == ChatSummary(last: 100, kept: 32))
        for _ in 1...200 { append("x", to: &log) }
        #expect(log.summary == ChatSummary(last: 300, kept: 200))
        append(text, to: &log)
        #expect(log.summary == ChatSummary(last: 301, kept: 200))
    }

    @Test("what is cleared is gone, and its numbers aren't used again")
    func clear() {
        var log = ChatLog()
        for _ in 1...3 { append("x", to: &log) }
        log.clear()
        #expect(log.summary == ChatSummary(last: 3, kept: 0) && log.messages(after: 0).isEmpty)
        append("y", to: &log)
        #expect(log.messages(after: 0).map(\.number) == [4])
    }
}
