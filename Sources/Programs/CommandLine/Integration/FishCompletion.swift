extension CommandSet {
    /// The completion script for fish.
    var fishCompletion: String {
        let begin = "complete -c \(program)"
        var lines = [
            "# Completion of \(program) for fish; for one user: ~/.config/fish/completions/\(program).fish",
            "\(begin) -f",
            "\(begin) -n __fish_use_subcommand -l help -s h -d 'show help and exit'",
            "\(begin) -n __fish_use_subcommand -l version -d 'show the version and exit'",
        ]
        for command in commands {
            lines.append(
                "\(begin) -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))")
        }
        let names = commands.map(\.name).joined(separator: " ")
        lines.append("\(begin) -n '__fish_seen_subcommand_from help' -a \(quoted(names))")
        for command in commands {
            let condition = "\(begin) -n '__fish_seen_subcommand_from \(command.name)'"
            for option in command.shownOptions {
                let short = option.short.map { " -s \($0)" } ?? ""
                lines.append(
                    "\(condition) -l \(option.long)\(short)\(value(of: option)) -d \(quoted(option.help))")
            }
            switch completion(of: command.operands) {
            case .nothing: break
            case .files: lines.append("\(condition) -F")
            case .words(let words): lines.append("\(condition) -a \(quoted(words.joined(separator: " ")))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func value(of option: Option) -> String {
        guard option.isRequired, let completed = option.completedValue else { return "" }
        switch completed {
        case .nothing: return " -x"
        case .files: return " -r -F"
        case .words(let words): return " -x -a \(quoted(words.joined(separator: " ")))"
        }
    }

    /// In fish's single quotes, a backslash escapes only quotes and backslashes.
    private func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "'"
    }
}
