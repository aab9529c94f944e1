/// A program with several commands (`screenrelay share`). Selects the command that a command line names.
public struct CommandSet: Sendable {
    /// The program's name.
    public var program: String
    /// The purpose of the program, in one or two sentences.
    public var summary: String
    /// The version that `--version` prints after the name.
    public var version: String
    /// The program's commands, in the order of `--help`.
    public var commands: [Command]
    /// The kinds of groups in its settings files that have names of their own.
    public var namedGroups: [NamedGroup]
    /// The names of the commands that people start with. Without arguments, the program prints an example of each.
    public var firstCommands: [String]

    /// A program with these properties.
    public init(
        program: String, summary: String, version: String, commands: [Command], namedGroups: [NamedGroup] = [],
        firstCommands: [String] = []
    ) {
        self.program = program
        self.summary = summary
        self.version = version
        self.commands = commands
        self.namedGroups = namedGroups
        self.firstCommands = firstCommands
    }

    /// The action that a command line requests.
    public enum Invocation: Sendable {
        /// Print this text (help or the version) to standard output and exit with 0.
        case print(String)
        /// Print this text to standard error and exit with 64, because the command line is empty.
        case explain(String)
        /// Run the command of this name.
        case run(name: String, options: ParsedOptions)
    }

    /// Parses a command line without the program's own name.
    ///
    /// `help COMMAND` means `COMMAND --help`. An empty command line asks for ``usageText``.
    ///
    /// - Throws: ``UsageError``, with the right way to write it.
    public func select(_ arguments: [String]) throws(UsageError) -> Invocation {
        guard let first = arguments.first else { return .explain(usageText) }
        var rest = Array(arguments.dropFirst())
        var name = first
        if first == "help" {
            guard let topic = rest.first else { return .print(helpText) }
            name = topic
            rest = ["--help"]
        }
        if name.hasPrefix("-") { return try globalOption(arguments) }
        let command = try command(named: name)
        return try command.select(
            rest, program: "\(program) \(command.name)", version: "\(program) \(version)")
    }

    /// The command with this name, or with this former name. Throws ``UsageError`` that names the nearest commands if
    /// there is none.
    public func command(named name: String) throws(UsageError) -> Command {
        if let command = commands.first(where: { ([$0.name] + $0.formerNames).contains(name) }) {
            return command
        }
        let near =
            nearest(to: name, among: commands.map(\.name) + [Self.help.name]).map { "did you mean \($0)? " } ?? ""
        throw UsageError("unknown command '\(printable(name))'; \(near)the commands are \(names)")
    }

    /// The text of the program's own `--help`.
    public var helpText: String {
        let entries: [(String, String)] =
            commands.map { ($0.name, $0.summary) } + [(Self.help.name, Self.help.summary)]
        let lines =
            introduction + ["", "Commands:"] + columns(entries)
            + ["", optionsHint] + exitStatusLines()
        return lines.joined(separator: "\n") + "\n"
    }

    /// The short text that the program prints without arguments: the first example of each command that people start
    /// with.
    public var usageText: String {
        let examples: [(String, String)] = firstCommands.compactMap { name in
            let example = commands.first { $0.name == name }?.examples.first
            return example.map { ($0.line, $0.meaning) }
        }
        let lines =
            introduction + (examples.isEmpty ? [] : ["", "Commands to start with:"] + columns(examples))
            + ["", "'\(program) --help' lists all commands.", optionsHint]
        return lines.joined(separator: "\n") + "\n"
    }

    private var optionsHint: String { "'\(program) COMMAND --help' shows a command's options." }

    private var introduction: [String] { ["Usage: \(program) COMMAND [OPTION]...", ""] + wrapped(summary) }

    /// The command `help`, which every program with commands has in addition.
    static let help = (name: "help", summary: "Shows this help, or the options of a command.")

    private var names: String { (commands.map(\.name) + [Self.help.name]).joined(separator: ", ") }

    private func globalOption(_ arguments: [String]) throws(UsageError) -> Invocation {
        let itself = Command(name: "", summary: summary)
        do throws(UsageError) {
            let parsed = try itself.parse(arguments, program: program)
            return .print(parsed.wantsHelp ? helpText : "\(program) \(version)\n")
        } catch {
            let word = arguments[0].prefix { $0 != "=" }
            let given = arguments.lazy.compactMap { name in commands.first { $0.name == name } }.first
            let known = commands.first { command in
                command.options.contains { word == "--\($0.long)" || word == $0.short.map { "-\($0)" } ?? "" }
            }
            guard let command = given ?? known else { throw error }
            throw UsageError(
                "\(printable(String(word))): the command comes first, for example '\(program) \(command.name) "
                    + "\(printable(String(word)))'")
        }
    }
}

extension Command {
    /// Parses the command line of a program that has only this command, or the arguments after the command's name.
    ///
    /// `version` is the whole line for `--version`, such as "screenrelay-capture 1.0".
    ///
    /// - Throws: ``UsageError`` that names the option and what would be right.
    public func select(
        _ arguments: [String], program: String, version: String
    ) throws(UsageError) -> CommandSet.Invocation {
        let parsed = try parse(arguments, program: program)
        if parsed.wantsHelp { return .print(helpText(program: program)) }
        if parsed.wantsVersion { return .print(version + "\n") }
        return .run(name: name, options: parsed)
    }
}
