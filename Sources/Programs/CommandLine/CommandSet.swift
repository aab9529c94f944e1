/// A program with commands (`screenrelay share`), and which of them a command line selects.
public struct CommandSet: Sendable {
    /// What the program is called.
    public var program: String
    /// What it is for, in a sentence or two.
    public var summary: String
    /// What `--version` prints behind the name.
    public var version: String
    /// Its commands, in the order in which `--help` lists them.
    public var commands: [Command]

    /// A program made of its parts.
    public init(program: String, summary: String, version: String, commands: [Command]) {
        self.program = program
        self.summary = summary
        self.version = version
        self.commands = commands
    }

    /// What a command line asks for.
    public enum Invocation: Sendable {
        /// Print this to standard output and end with 0: help, or the version.
        case print(String)
        /// Run the command of this name.
        case run(name: String, options: ParsedOptions)
    }

    /// Reads a command line without the program's own name.
    ///
    /// `help COMMAND` is `COMMAND --help`; no argument at all is a usage error.
    public func select(_ arguments: [String]) throws(UsageError) -> Invocation {
        guard let first = arguments.first else {
            throw UsageError("a command is needed: \(names); '\(program) --help' tells more")
        }
        var rest = Array(arguments.dropFirst())
        var name = first
        if first == "help" {
            guard let topic = rest.first else { return .print(helpText) }
            name = topic
            rest = ["--help"]
        }
        if name.hasPrefix("-") { return try globalOption(arguments) }
        return try command(named: name).select(
            rest, program: "\(program) \(name)", version: "\(program) \(version)")
    }

    /// The command of this name.
    public func command(named name: String) throws(UsageError) -> Command {
        if let command = commands.first(where: { $0.name == name }) { return command }
        let near =
            nearest(to: name, among: commands.map(\.name) + [Self.help.name]).map { "did you mean \($0)? " } ?? ""
        throw UsageError("unknown command '\(printable(name))'; \(near)the commands are \(names)")
    }

    /// The text of the program's own `--help`.
    public var helpText: String {
        var lines = ["Usage: \(program) COMMAND [OPTION]...", ""] + wrapped(summary) + ["", "Commands:"]
        let column = 4 + (commands.map(\.name.count).max() ?? 0)
        for (name, summary) in commands.map({ ($0.name, $0.summary) }) + [Self.help] {
            var text = wrapped(summary, indent: column)
            let head = "  \(name)"
            if let first = text.first {
                text[0] = head + String(repeating: " ", count: column - head.count) + first.dropFirst(column)
            }
            lines += text
        }
        lines += ["", "'\(program) COMMAND --help' shows a command's options."] + exitStatusLines()
        return lines.joined(separator: "\n") + "\n"
    }

    /// What every program with commands has besides them.
    static let help = (name: "help", summary: "Shows this, or with a command's name behind it that command's options.")

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
                "\(printable(String(word))): the command comes first, as in '\(program) \(command.name) "
                    + "\(printable(String(word)))'")
        }
    }
}

extension Command {
    /// Reads the command line of a program that has only this command, or what follows the command's name.
    ///
    /// `version` is the whole line for `--version`, as "screenrelay-capture 1.0".
    public func select(
        _ arguments: [String], program: String, version: String
    ) throws(UsageError) -> CommandSet.Invocation {
        let parsed = try parse(arguments, program: program)
        if parsed.wantsHelp { return .print(helpText(program: program)) }
        if parsed.wantsVersion { return .print(version + "\n") }
        return .run(name: name, options: parsed)
    }
}
