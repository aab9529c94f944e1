extension CommandSet {
    /// The completion script for bash 4.4 and later, with or without the package bash-completion.
    var bashCompletion: String {
        let function = "_" + program.map { $0.isLetter || $0.isNumber ? "\($0)" : "_" }.joined()
        let first = (commands.map(\.name) + ["help", "--help", "--version"]).joined(separator: " ")
        var lines = [
            "# Completion of \(program) for bash; for one user: ~/.local/share/bash-completion/completions/\(program)",
            "\(function)() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}",
            "    local options= values= files=",
            "    if [ \"$COMP_CWORD\" -eq 1 ]; then",
            "        mapfile -t COMPREPLY < <(compgen -W \(shellQuoted(first)) -- \"$word\")",
            "        return",
            "    fi",
            "    # To bash --option=value is three words.",
            "    if [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi",
            "    if [ \"$word\" = = ]; then before=${COMP_WORDS[COMP_CWORD-1]} word=; fi",
            "    case ${COMP_WORDS[1]} in",
            "        help) values=\(shellQuoted(commands.map(\.name).joined(separator: " "))) ;;",
        ]
        for command in commands { lines += bashCase(of: command) }
        lines += [
            "    esac",
            "    if [ -n \"$files\" ] && [ \"${word:0:1}\" != - ]; then",
            "        compopt -o filenames 2>/dev/null",
            "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")",
            "        return",
            "    fi",
            "    mapfile -t COMPREPLY < <(compgen -W \"$options $values\" -- \"$word\")",
            "}",
            "complete -F \(function) \(program)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private func bashCase(of command: Command) -> [String] {
        let all = command.shownOptions
        var lines = ["        \(command.name))"]
        lines.append("            options=\(shellQuoted(all.map(\.spelling).joined(separator: " ")))")
        lines += assignments(for: completion(of: command.operands)).map { "            \($0)" }
        lines.append("            case $before in")
        for option in all where option.isRequired {
            let set = ["options= values= files="] + assignments(for: option.completedValue ?? .nothing)
            let pattern = option.spellings.joined(separator: "|")
            lines.append("                \(pattern)) \(set.joined(separator: "; ")) ;;")
        }
        return lines + ["            esac", "            ;;"]
    }

    private func assignments(for word: CompletedWord) -> [String] {
        switch word {
        case .nothing: []
        case .files: ["files=1"]
        case .words(let words): ["values=\(shellQuoted(words.joined(separator: " ")))"]
        }
    }
}

/// The text as one shell word, in single quotes.
public func shellQuoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
