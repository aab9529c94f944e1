/// The text of the desktop's terminal: commands, typed letter by letter, and their output, over and over.
struct TerminalText {
    /// A line and its kind, which decides its colour.
    struct Line: Hashable {
        var text: String
        var isCommand: Bool
    }

    private static let typingTime = 55
    private static let thinkingTime = 420
    private static let answerTime = 110
    private static let restTime = 900

    private static let script: [(command: String, answer: [String])] = [
        ("date", ["Tue 14 May 09:41:07 UTC"]),
        ("ls pictures", ["harbour.png  hills.png   lake.jpg", "lighthouse.jpg  meadow.png  snow.jpg"]),
        (
            "ping -c 5 printer",
            [
                "64 bytes from printer: seq=1 time=0.41 ms", "64 bytes from printer: seq=2 time=0.38 ms",
                "64 bytes from printer: seq=3 time=0.44 ms", "64 bytes from printer: seq=4 time=0.39 ms",
                "64 bytes from printer: seq=5 time=0.40 ms", "5 sent, 5 received, 0% lost",
            ]
        ),
        (
            "make",
            [
                "[ 1/6] reading rules", "[ 2/6] compiling reader.c", "[ 3/6] compiling writer.c",
                "[ 4/6] compiling main.c", "[ 5/6] linking letter", "[ 6/6] checking: 128 passed, 0 failed", "done.",
            ]
        ),
        (
            "cat morning.txt",
            [
                "The tide comes in, the boats go out,", "the gulls have news to talk about;",
                "a kettle hums, a window glows,", "and down the lane the baker goes.",
            ]
        ),
        ("wc -l letter.txt", ["42 letter.txt"]),
        ("df -h /home", ["size 512G  used 187G  free 325G  37%"]),
    ]

    /// The last `count` lines after `milliseconds`; the last one is empty or being typed.
    static func lines(after milliseconds: Int, last count: Int) -> [Line] {
        let length = script.reduce(0) { $0 + duration(of: $1) }
        var left = milliseconds % length
        // From the second round on, the previous one is still visible above.
        var lines = milliseconds >= length ? script.flatMap { wholeEntry($0) } : []
        for entry in script {
            let time = duration(of: entry)
            if left < time {
                lines += part(of: entry, after: left)
                break
            }
            left -= time
            lines += wholeEntry(entry)
        }
        return lines.suffix(count)
    }

    private static func duration(of entry: (command: String, answer: [String])) -> Int {
        entry.command.count * typingTime + thinkingTime + entry.answer.count * answerTime + restTime
    }

    private static func wholeEntry(_ entry: (command: String, answer: [String])) -> [Line] {
        [Line(text: entry.command, isCommand: true)] + entry.answer.map { Line(text: $0, isCommand: false) }
    }

    private static func part(of entry: (command: String, answer: [String]), after milliseconds: Int) -> [Line] {
        let typed = min(entry.command.count, milliseconds / typingTime)
        var lines = [Line(text: String(entry.command.prefix(typed)), isCommand: true)]
        let answering = milliseconds - entry.command.count * typingTime - thinkingTime
        if answering >= 0 {
            let shown = min(entry.answer.count, answering / answerTime)
            lines += entry.answer.prefix(shown).map { Line(text: $0, isCommand: false) }
            if shown == entry.answer.count { lines.append(Line(text: "", isCommand: true)) }
        }
        return lines
    }
}
