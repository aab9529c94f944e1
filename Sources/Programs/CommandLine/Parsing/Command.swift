/// A command (`screenrelay share`) with its options and operands: the table for both parsing and `--help`.
public struct Command: Sendable {
    /// The command's name, or empty if the program has only this command.
    public var name: String
    /// The effect of the command, in one sentence that begins with a capital letter and ends with a full stop.
    public var summary: String
    /// The command's options, in the order of `--help`. `--help` and `--version` are added.
    public var options: [Option]
    /// The arguments after the options.
    public var operands: Operands
    /// Examples, shown at the end of `--help`.
    public var examples: [Example]
    /// Groups of long option names of which only one may be given. One on the command line overrides the others in a
    /// settings file.
    public var alternatives: [[String]]
    /// The other command whose settings this one reads in settings files, because it takes the same options.
    public var settingsOf: String?
    /// Older names, which still work. `--help`, manual pages and completion leave them out.
    public var formerNames: [String]

    /// A command with these properties.
    public init(
        name: String, summary: String, options: [Option] = [], operands: Operands = .none, examples: [Example] = [],
        alternatives: [[String]] = [], settingsOf: String? = nil, formerNames: [String] = []
    ) {
        self.name = name
        self.summary = summary
        self.options = options
        self.operands = operands
        self.examples = examples
        self.alternatives = alternatives
        self.settingsOf = settingsOf
        self.formerNames = formerNames
    }
}

/// One option, GNU style: `--bitrate=RATE`, `--bitrate RATE`, `-b RATE`.
public struct Option: Sendable {
    /// The value that may follow an option.
    public enum Argument: Sendable {
        /// Nothing: the option is a switch.
        case none
        /// A value. The name is the placeholder in `--help`.
        case required(String)
        /// A value after `=`, or nothing.
        case optional(String)
    }

    /// The long name, without the dashes.
    public var long: String
    /// The one-letter name (ASCII).
    public var short: Character?
    /// The option's argument.
    public var value: Argument
    /// The effect of the option, without a full stop at the end.
    public var help: String
    /// The value if the option isn't given. Shown by `--help` and returned by `ParsedOptions.value`.
    public var `default`: String?
    /// Whether all of several values count, and not only the last one. In a settings file they are a list.
    public var repeats: Bool
    /// The possible or most likely values, for completion.
    public var choices: [String]
    /// Other names under which people look for this option. Error messages lead from them to it.
    public var alsoSoughtAs: [String]
    /// Older long names, which still work on command lines and in settings files. `--help`, manual pages and completion
    /// leave them out.
    public var formerNames: [String]
    /// Whether `--help`, manual pages, completion and the settings template leave it out, because only our own tools
    /// use it.
    public var isHidden: Bool
    /// Whether its values may have secrets. A settings file that has the option must be readable only by the file's
    /// owner.
    public var isSecret: Bool
    /// The heading over it in `--help` and manual pages, or nil for the last group. Set by ``under(_:)``.
    public internal(set) var heading: OptionHeading?

    /// An option with these properties.
    public init(
        long: String, short: Character? = nil, value: Argument = .none, help: String, default: String? = nil,
        repeats: Bool = false, choices: [String] = [], alsoSoughtAs: [String] = [],
        formerNames: [String] = [], isHidden: Bool = false, isSecret: Bool = false
    ) {
        self.long = long
        self.short = short
        self.value = value
        self.help = help
        self.default = `default`
        self.repeats = repeats
        self.choices = choices
        self.alsoSoughtAs = alsoSoughtAs
        self.formerNames = formerNames
        self.isHidden = isHidden
        self.isSecret = isSecret
    }
}

/// The arguments that a command accepts after its options.
public struct Operands: Sendable {
    /// The placeholder in `--help`, such as `FILE`.
    public var name: String
    /// How many operands there may be.
    public var count: ClosedRange<Int>
    /// The description of the operands. May be empty.
    public var help: String
    /// The possible or most likely values, for completion.
    public var choices: [String]

    /// Operands with this name.
    public init(name: String, count: ClosedRange<Int>, help: String = "", choices: [String] = []) {
        self.name = name
        self.count = count
        self.help = help
        self.choices = choices
    }

    /// No operands.
    public static let none = Operands(name: "", count: 0...0)
}

/// An example of how to use a command.
public struct Example: Sendable {
    /// The line to type.
    public var line: String
    /// The effect of the line.
    public var meaning: String

    /// An example with a line to type and its meaning.
    public init(_ line: String, _ meaning: String) {
        self.line = line
        self.meaning = meaning
    }
}
