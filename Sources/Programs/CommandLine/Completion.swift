/// A shell that completes command lines.
public enum CompletionShell: String, CaseIterable, Sendable {
    case bash, zsh, fish
}

extension CommandSet {
    /// A script by which the shell completes the program's command lines: commands, options, the words of those that are
    /// one of a few, and file names.
    public func completion(for shell: CompletionShell) -> String {
        switch shell {
        case .bash: bashCompletion
        case .zsh: zshCompletion
        case .fish: fishCompletion
        }
    }

    /// What an operand is completed by.
    func completion(of operands: Operands) -> CompletedWord {
        if operands.count.upperBound == 0 { return .nothing }
        if !operands.choices.isEmpty { return .words(operands.choices) }
        return operands.name == "COMMAND" ? .words(commands.map(\.name)) : CompletedWord(named: operands.name)
    }
}

/// What the value of an option, or an operand, is completed by.
enum CompletedWord {
    case nothing
    case files
    case words([String])
}

extension Option {
    /// What its value is completed by; nil where it takes none.
    var completedValue: CompletedWord? {
        switch value {
        case .none: nil
        case .required(let name), .optional(let name):
            choices.isEmpty ? CompletedWord(named: name) : .words(choices)
        }
    }

    /// `-b`, `--bitrate`
    var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + [spelling] }

    var isRequired: Bool {
        if case .required = value { true } else { false }
    }
}

extension CompletedWord {
    /// By what `--help` calls it.
    fileprivate init(named name: String) {
        self = name == "FILE" || name == "FOLDER" ? .files : .nothing
    }
}
