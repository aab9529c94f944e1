/// Generates plain English text of any length, the same each time.
struct SceneProse: Sendable {
    private static let sentences = [
        "The morning train was late again, so everyone on the platform had time to talk.",
        "She kept the old map because the new one left out the bridges.",
        "Nobody could say when the clock in the square had stopped, only that it had.",
        "Most of the work was done before lunch, and the rest was left for the rain.",
        "A good recipe begins with patience and ends with an empty plate.",
        "They painted the door blue, then green, and in the end they painted it blue once more.",
        "The library opens at nine, closes at six, and smells of paper all day long.",
        "He wrote three letters that evening and sent none of them.",
        "Seven boats came back with the tide, and the eighth came back with the moon.",
        "If the wind turns before noon we shall have the washing dry by supper.",
        "The children counted every step to the lighthouse and could not agree on the number.",
        "There is a small garden behind the bakery where the swallows build their nests.",
        "Her brother repaired radios, bicycles and, when nobody was looking, his own mistakes.",
        "It took the better part of a year to learn the names of all the neighbours.",
        "The museum keeps a stone that is said to be warm in winter.",
        "We walked along the river until the houses ended and the fields began.",
        "Some people collect stamps; my aunt collected reasons to be early.",
        "The report was short and clear, which made several people nervous.",
        "On market days the streets are full before the sun has found the roofs.",
        "A quiet engine is either very well made or not running at all.",
    ]

    private var state: UInt32

    /// Creates the text that `seed` selects.
    init(seed: UInt32) {
        state = seed &* 2_654_435_761 | 1
    }

    /// The next sentence.
    mutating func sentence() -> String {
        state = state &* 1_664_525 &+ 1_013_904_223
        return Self.sentences[Int(state >> 16) % Self.sentences.count]
    }

    /// Returns `count` lines, each at most `width` pixels wide; an empty line ends each paragraph of a few sentences.
    mutating func lines(_ count: Int, width: Int, in font: BakedFont) -> [String] {
        var lines: [String] = []
        while lines.count < count {
            var line = ""
            for word in (0..<5).flatMap({ _ in sentence().split(separator: " ") }) {
                let longer = line.isEmpty ? String(word) : line + " " + word
                if font.width(of: longer) <= width {
                    line = longer
                } else {
                    lines.append(line)
                    line = String(word)
                }
            }
            lines += [line, ""]
        }
        return Array(lines.prefix(count))
    }
}
