extension CommandSet {
    /// The completion script for zsh, a file `_program` in a folder of its `fpath`.
    var zshCompletion: String {
        var lines = [
            "#compdef \(program)",
            "# Completion of \(program) for zsh: a file _\(program) in a folder that $fpath names.",
            "_\(program)() {",
            "    local -a commands=(",
        ]
        for command in commands {
            let summary = escaped(command.summary, ":")
            lines.append("        \(shellQuoted("\(command.name):\(summary)"))")
        }
        lines += [
            "    )",
            "    if (( CURRENT == 2 )); then",
            "        _describe command commands",
            "        return",
            "    fi",
            "    shift words",
            "    (( CURRENT-- ))",
            "    case $words[1] in",
            "        help) _describe command commands ;;",
        ]
        for command in commands {
            lines.append("        \(command.name))")
            let specifications = command.shownOptions.map(specification) + operands(of: command)
            lines.append("            _arguments -s -S \\")
            for (index, text) in specifications.enumerated() {
                lines.append("                \(text)" + (index + 1 < specifications.count ? " \\" : ""))
            }
            lines.append("            ;;")
        }
        lines += ["    esac", "}", "_\(program) \"$@\""]
        return lines.joined(separator: "\n") + "\n"
    }

    /// `'(-f --fps)'{-f+,--fps=}'[help]:NUMBER:'` (zshcompsys(1), `_arguments`).
    private func specification(of option: Option) -> String {
        let spellings: [String]
        let value: String
        switch option.value {
        case .none:
            spellings = option.spellings
            value = ""
        case .required(let name):
            spellings = (option.short.map { ["-\($0)+"] } ?? []) + ["\(option.spelling)="]
            value = ":\(escaped(name, ":")):\(action(for: option.completedValue ?? .nothing))"
        case .optional(let name):
            spellings = ["\(option.spelling)=-"]
            value = "::\(escaped(name, ":")):\(action(for: option.completedValue ?? .nothing))"
        }
        let exclusion = option.repeats ? "*" : "(\(option.spellings.joined(separator: " ")))"
        let tail = shellQuoted("[\(escaped(option.help, "[]"))]\(value)")
        let names = spellings.count > 1 ? "{\(spellings.joined(separator: ","))}" : spellings.joined()
        return shellQuoted(exclusion) + names + tail
    }

    private func operands(of command: Command) -> [String] {
        let operands = command.operands
        if operands.count.upperBound == 0 { return [] }
        let count = operands.count.upperBound > 1 ? "*" : operands.count.lowerBound > 0 ? "1" : "1:"
        return [shellQuoted("\(count):\(escaped(operands.name, ":")):\(action(for: completion(of: operands)))")]
    }

    private func action(for word: CompletedWord) -> String {
        switch word {
        case .nothing: ""
        case .files: "_files"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
    }

    private func escaped(_ text: String, _ special: String) -> String {
        text.map { special.contains($0) || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
    }
}
