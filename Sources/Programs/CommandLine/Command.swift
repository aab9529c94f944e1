/// What one command (`screenrelay share`) takes: the table that both parsing and `--help` are made from.
public struct Command: Sendable {
    /// The word that selects it; empty where the program has only this one.
    public var name: String
    /// What it does, in one sentence that begins with a capital letter and ends with a full stop.
    public var summary: String
    /// What it takes, in the order in which `--help` shows it. `--help` and `--version` are added.
    public var options: [Option]
    /// What stands behind the options.
    public var operands: Operands
    /// Ways to use it, shown at the end of `--help`.
    public var examples: [Example]
    /// Long names of options of which only one can hold: one that is given puts away those of a settings file.
    public var alternatives: [[String]]

    /// A command made of its parts.
    public init(
        name: String, summary: String, options: [Option] = [], operands: Operands = .none, examples: [Example] = [],
        alternatives: [[String]] = []
    ) {
        self.name = name
        self.summary = summary
        self.options = options
        self.operands = operands
        self.examples = examples
        self.alternatives = alternatives
    }
}

/// One option, GNU style: `--bitrate=RATE`, `--bitrate RATE`, `-b RATE`.
public struct Option: Sendable {
    /// What may follow an option.
    public enum Argument: Sendable {
        /// Nothing: the option is a switch.
        case none
        /// A value, under the name that `--help` calls it by.
        case required(String)
        /// A value behind `=` or nothing.
        case optional(String)
    }

    /// The long name, without the dashes.
    public var long: String
    /// The one-letter name (ASCII).
    public var short: Character?
    /// What may follow.
    public var value: Argument
    /// What it does; no full stop at the end.
    public var help: String
    /// What holds where it isn't given; shown by `--help`, and given by `ParsedOptions.value`.
    public var `default`: String?
    /// Whether all of several values count, and not the last alone: a list in a settings file.
    public var repeats: Bool
    /// The words that the value is one of, or that are most likely meant; for completion.
    public var choices: [String]
    /// Names under which people look for it and which no option has: errors lead from them to this one.
    public var alsoSoughtAs: [String]

    /// An option made of its parts.
    public init(
        long: String, short: Character? = nil, value: Argument = .none, help: String, default: String? = nil,
        repeats: Bool = false, choices: [String] = [], alsoSoughtAs: [String] = []
    ) {
        self.long = long
        self.short = short
        self.value = value
        self.help = help
        self.default = `default`
        self.repeats = repeats
        self.choices = choices
        self.alsoSoughtAs = alsoSoughtAs
    }
}

/// What a command takes behind its options.
public struct Operands: Sendable {
    /// What `--help` calls one, as `FILE`.
    public var name: String
    /// How many there may be.
    public var count: ClosedRange<Int>
    /// What they are; may be empty.
    public var help: String
    /// The words that one of them is; empty for any.
    public var choices: [String]

    /// Operands under a name.
    public init(name: String, count: ClosedRange<Int>, help: String = "", choices: [String] = []) {
        self.name = name
        self.count = count
        self.help = help
        self.choices = choices
    }

    /// No operands.
    public static let none = Operands(name: "", count: 0...0)
}

/// A way to use a command.
public struct Example: Sendable {
    /// The line to type.
    public var line: String
    /// What it does.
    public var meaning: String

    /// A line to type and what it does.
    public init(_ line: String, _ meaning: String) {
        self.line = line
        self.meaning = meaning
    }
}
