import CommandLine
import Glibc
import TestSupport
import Testing
import Threading

@Suite("log")
struct LogTests {
    /// What `body` writes to the descriptor that it is given.
    private func written(isJournal: Bool = false, _ body: (LineWriter) -> Void) throws -> String {
        let ends = try makePipe()
        let output = LineWriter(descriptor: ends.writing, isJournal: isJournal) { "\($0) missing" }
        body(output)
        output.flush()
        close(ends.writing)
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = read(ends.reading, &buffer, buffer.count)
        close(ends.reading)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("a line has the program, the time of day, the level and the message")
    func form() throws {
        let line = try written { EventLog.standardError(program: "capture", output: $0).warning("no display") }
        #expect(line.wholeMatch(of: /capture\[\d{2}:\d{2}:\d{2}\.\d{3}\] warning: no display\n/) != nil, "\(line)")
    }

    @Test("lines of less weight than the level are neither written nor built")
    func levels() throws {
        let text = try written { output in
            let log = EventLog.standardError(program: "p", level: .warning, output: output)
            func build() -> String {
                Issue.record("built in vain")
                return ""
            }
            log.info(build())
            log.debug(build())
            log.error("one")
        }
        #expect(text.hasSuffix("error: one\n"))
        #expect(text.split(separator: "\n").count == 1)
    }

    @Test("the journal gets the level of each line in front of it")
    func journal() throws {
        let text = try written(isJournal: true) { output in
            let log = EventLog.standardError(program: "p", level: .debug, output: output)
            log.error("one")
            log.warning("two")
            log.info("three")
            log.debug("four")
        }
        let lines = text.split(separator: "\n")
        #expect(lines.map { $0.prefix(5) } == ["<3>p[", "<4>p[", "<6>p[", "<7>p["])
    }

    @Test("the journal is the descriptor whose device and file its variable names")
    func journalStream() throws {
        let ends = try makePipe()
        defer {
            close(ends.reading)
            close(ends.writing)
        }
        var status = stat()
        try #require(fstat(ends.writing, &status) == 0)
        let stream = "\(status.st_dev):\(status.st_ino)"
        func isJournal(_ descriptor: Int32, _ value: String?) -> Bool {
            StandardStreams.isJournal(descriptor, environment: { $0 == "JOURNAL_STREAM" ? value : nil })
        }
        #expect(isJournal(ends.writing, stream))
        #expect(!isJournal(ends.writing, nil) && !isJournal(ends.writing, "0:0") && !isJournal(-1, stream))
    }

    @Test("a message with line ends stays one line")
    func oneLine() throws {
        let text = try written { EventLog.standardError(program: "p", output: $0).info("a\nb\u{1b}[0m") }
        #expect(text.hasSuffix("info: a\\nb\\u{1b}[0m\n"))
    }

    @Test("lines of several threads don't mix")
    func threads() async throws {
        let ends = try makePipe()
        let output = LineWriter(descriptor: ends.writing) { "\($0) missing" }
        let log = EventLog.standardError(program: "p", output: output)
        await withTaskGroup(of: Void.self) { group in
            for letter in ["a", "b", "c", "d"] {
                group.addTask { for _ in 0..<50 { log.info(String(repeating: letter, count: 60)) } }
            }
        }
        output.flush()
        close(ends.writing)
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(ends.reading, &buffer, buffer.count), count > 0 { text += buffer.prefix(count) }
        close(ends.reading)
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 200)
        for line in lines { #expect(Set(line.suffix(60)).count == 1) }
    }

    @Test("lines that are held come later, in their order, or at the end of the program")
    func held() throws {
        let ends = try makePipe()
        let output = LineWriter(descriptor: ends.writing) { "\($0) missing" }
        output.hold()
        output.write("one")
        output.write("two")
        var entry = pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, 0) == 0)
        output.resume()
        output.write("three")
        output.flush()
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = read(ends.reading, &buffer, buffer.count)
        #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "one\ntwo\nthree\n")
        close(ends.writing)
        close(ends.reading)

        let atEnd = try written { output in
            output.hold()
            output.write("one")
        }
        #expect(atEnd == "one\n")
        // A thread that runs isn't held.
        let late = try written { output in
            output.write("one")
            output.hold()
            output.write("two")
        }
        #expect(late == "one\ntwo\n")
    }

    @Test("where nobody reads, writing doesn't wait, and what is missing is counted")
    func nobodyReads() throws {
        let ends = try makePipe()
        let output = LineWriter(descriptor: ends.writing) { "\($0) missing" }
        let log = EventLog.standardError(program: "p", output: output)
        let count = 20_000
        for number in 0..<count { log.info("line \(number)") }
        // All of it is taken without anybody reading. Now somebody does.
        var text: [UInt8] = []
        let read = try eventually("the end") {
            var buffer = [UInt8](repeating: 0, count: 65536)
            let taken = Glibc.read(ends.reading, &buffer, buffer.count)
            text += buffer.prefix(max(0, taken))
            return String(decoding: text, as: UTF8.self).contains("missing\n") ? text : nil
        }
        let lines = String(decoding: read, as: UTF8.self).split(separator: "\n")
        let missing = try #require(lines.last { $0.hasSuffix(" missing") }?.prefix { $0 != " " })
        #expect(lines.count - 1 + (Int(missing) ?? 0) == count)
        #expect(lines.first?.hasSuffix("info: line 0") == true)
        close(ends.writing)
        close(ends.reading)
    }
}
