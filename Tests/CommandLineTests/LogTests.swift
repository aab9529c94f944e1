import CommandLine
import Glibc
import Testing

@Suite("log")
struct LogTests {
    /// What `body` writes to the descriptor that it is given.
    private func written(_ body: (Int32) -> Void) -> String {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        body(ends[1])
        close(ends[1])
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = read(ends[0], &buffer, buffer.count)
        close(ends[0])
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("a line has the program, the monotonic time, the level and the message")
    func form() throws {
        let line = written { Log(program: "capture", descriptor: $0).warning("no display") }
        #expect(line.wholeMatch(of: /capture\[\d+\.\d{6}\] warning: no display\n/) != nil, "\(line)")
    }

    @Test("lines of less weight than the level are neither written nor built")
    func levels() {
        let text = written { descriptor in
            let log = Log(program: "p", level: .warning, descriptor: descriptor)
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

    @Test("a message with line ends stays one line")
    func oneLine() {
        let text = written { Log(program: "p", descriptor: $0).info("a\nb\u{1b}[0m") }
        #expect(text.hasSuffix("info: a\\nb\\u{1b}[0m\n"))
    }

    @Test("lines of several threads don't mix")
    func threads() async {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let log = Log(program: "p", descriptor: ends[1])
        await withTaskGroup(of: Void.self) { group in
            for letter in ["a", "b", "c", "d"] {
                group.addTask { for _ in 0..<50 { log.info(String(repeating: letter, count: 60)) } }
            }
        }
        close(ends[1])
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(ends[0], &buffer, buffer.count), count > 0 { text += buffer.prefix(count) }
        close(ends[0])
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 200)
        for line in lines { #expect(Set(line.suffix(60)).count == 1) }
    }
}
