/// A shell for which a completion script can be made.
public enum CompletionShell: String, CaseIterable, Sendable {
    case bash, zsh, fish
}

extension CommandSet {
    /// A script with which the shell completes commands, options, values from a fixed list, and file names.
    public func completion(for shell: CompletionShell) -> String {
        switch shell {
        case .bash: bashCompletion
        case .zsh: zshCompletion
        case .fish: fishCompletion
        }
    }

    /// The completion for an operand.
    func completion(of operands: Operands) -> CompletedWord {
        if operands.count.upperBound == 0 { return .nothing }
        if !operands.choices.isEmpty { return .words(operands.choices) }
        return operands.name == "COMMAND" ? .words(commands.map(\.name)) : CompletedWord(named: operands.name)
    }
}

/// The completion for an operand or for an option's value.
enum CompletedWord {
    case nothing
    case files
    case words([String])
}

extension Option {
    /// The completion for the option's value, or nil if it takes none.
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
    /// The completion for a value with this placeholder in `--help`.
    fileprivate init(named name: String) {
        self = name == "FILE" || name == "FOLDER" ? .files : .nothing
    }
}
