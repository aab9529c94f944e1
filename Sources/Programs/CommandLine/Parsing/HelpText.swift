extension Command {
    /// The text of `--help`, at most 80 columns wide. `program` is what the user typed (`screenrelay share`).
    public func helpText(program: String) -> String {
        var lines = ["Usage: \(program) \(argumentUsage)", ""] + wrapped(summary, width: 80)
        if !operands.help.isEmpty { lines += [""] + entry("  \(operands.name)", operands.help) }
        for group in optionGroups { lines += ["", "\(group.heading):"] + group.options.flatMap(help) }
        if !examples.isEmpty {
            lines += ["", "Examples:"]
            for example in examples {
                lines.append("  \(example.line)")
                lines += wrapped(example.meaning, indent: 6)
            }
        }
        lines += exitStatusLines()
        return lines.joined(separator: "\n") + "\n"
    }

    /// What follows the command: `[OPTION]... [FILE]`.
    var argumentUsage: String {
        if operands.count.upperBound == 0 { return "[OPTION]..." }
        let one = operands.count.lowerBound > 0 ? operands.name : "[\(operands.name)]"
        return "[OPTION]... \(one)\(operands.count.upperBound > 1 ? "..." : "")"
    }
}

/// `  -b, --bitrate=RATE  text`, with the text on the next line if the option is long.
private func help(for option: Option) -> [String] {
    entry(
        "  " + (option.short.map { "-\($0), " } ?? "    ") + option.usage,
        option.help + (option.default.map { " (default: \($0))" } ?? ""))
}

/// Names and their meanings in two columns, of which the first is as wide as the longest name.
func columns(_ entries: [(String, String)]) -> [String] {
    let column = 4 + (entries.map(\.0.count).max() ?? 0)
    return entries.flatMap { entry("  \($0.0)", $0.1, column: column) }
}

/// A name and its meaning, in two columns.
private func entry(_ head: String, _ text: String, column: Int = 26) -> [String] {
    var lines = wrapped(text, indent: column)
    if head.count > column - 2 { return [head] + lines }
    if let first = lines.first {
        lines[0] = head + String(repeating: " ", count: column - head.count) + first.dropFirst(column)
    }
    return lines
}

func exitStatusLines() -> [String] {
    ["", "Exit status:"]
        + ExitCode.allCases.map { code in "  \(code.rawValue < 10 ? " " : "")\(code.rawValue)  \(code.meaning)" }
}

/// The text in lines of at most `width` columns, broken at spaces and indented by `indent` spaces.
func wrapped(_ text: String, indent: Int = 0, width: Int = 80) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
        if !line.isEmpty && indent + line.count + 1 + word.count > width {
            lines.append(margin + line)
            line = ""
        }
        line += (line.isEmpty ? "" : " ") + word
    }
    if !line.isEmpty { lines.append(margin + line) }
    return lines
}
