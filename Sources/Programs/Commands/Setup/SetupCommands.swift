import CommandLine
import Glibc

/// `screenrelay config`, `man`, `completion` and `systemd-unit`: files that integrate the program into a system,
/// generated from the option tables.
enum SetupCommands {
    static let commands = [
        Command(
            name: "config",
            summary: "Prints a template of the settings file with every option, commented out.",
            operands: Operands(
                name: "COMMAND", count: 0...1,
                help: "only the options of this command. Options on the command line override the file, and "
                    + "--SWITCH=false turns off a switch of the file",
                choices: Program.commandsWithSettings.map(\.name)),
            examples: [
                Example(
                    "screenrelay config > ~/.config/screenrelay/config",
                    "Creates a settings file; remove the # in front of a setting to use it.")
            ]),
        Command(
            name: "man",
            summary: "Prints a manual page, or writes all of them.",
            options: [
                Option(
                    long: "output", short: "o", value: .required("FOLDER"),
                    help: "write all pages into this folder, for example ~/.local/share/man/man1")
            ],
            operands: Operands(
                name: "COMMAND", count: 0...1,
                help: "the command whose page is printed; without it, the program's page"),
            examples: [
                Example("screenrelay man share | man -l -", "Reads a page that isn't installed."),
                Example("screenrelay man -o /usr/local/share/man/man1", "Installs all pages."),
            ]),
        Command(
            name: "completion",
            summary: "Prints a script that lets a shell complete command lines.",
            operands: Operands(
                name: "SHELL", count: 1...1, help: "bash, zsh or fish",
                choices: CompletionShell.allCases.map(\.rawValue)),
            examples: [
                Example(
                    "screenrelay completion bash > ~/.bash_completion",
                    "For new shells. Replaces the contents of that file.")
            ]),
        Command(
            name: "systemd-unit",
            summary: "Prints a systemd unit that shares the screen while a user is logged in.",
            examples: [
                Example(
                    "screenrelay systemd-unit > ~/.config/systemd/user/screenrelay.service",
                    "Installs it; 'systemctl --user enable --now screenrelay' starts it.")
            ]),
    ]

    /// Runs one of these commands. Returns nil if `name` is another command.
    static func run(_ name: String, _ options: ParsedOptions) throws(UsageError) -> Int32? {
        switch name {
        case "config":
            let command = try namedCommand(options)
            if let command, !Program.commands.takesSettings(command.name) {
                throw UsageError("'\(command.name)' reads no settings file")
            }
            return Program.answer(Program.commands.settingsTemplate(for: command?.name))
        case "man":
            let command = try namedCommand(options)
            if let folder = try options.value("output", as: .text) {
                if let command { throw UsageError("--output writes all pages; leave '\(command.name)' out") }
                return try writePages(to: folder)
            }
            return Program.answer(command.map { Program.commands.manualPage(of: $0) } ?? Program.commands.manualPage)
        case "completion":
            let shell = try ValueFormat<CompletionShell>.choice.read(options.operands.first ?? "", option: "completion")
            return Program.answer(Program.commands.completion(for: shell))
        case "systemd-unit":
            guard let path = Program.path else {
                return Program.fail("the program's own path is unknown: /proc is not available", .system)
            }
            return Program.answer(ServiceUnit.text(program: path))
        default: return nil
        }
    }

    private static func namedCommand(_ options: ParsedOptions) throws(UsageError) -> Command? {
        guard let name = options.operands.first else { return nil }
        return try Program.commands.command(named: name)
    }

    private static func writePages(to folder: String) throws(UsageError) -> Int32 {
        if let problem = UsageError.missing(folder: folder, option: "--output \(folder)") { throw problem }
        let set = Program.commands
        var pages = [(set.program, set.manualPage)]
        pages += set.commands.map { (set.manualName(of: $0), set.manualPage(of: $0)) }
        for (name, page) in pages {
            let path = "\(folder)/\(name).1"
            if !writeFile(Array(page.utf8), to: path) {
                let reason = errno
                return Program.fail(
                    "--output \(folder): \(path): \(String(cString: strerror(reason)))", ExitCode(writing: reason))
            }
        }
        return ExitCode.success.rawValue
    }
}
