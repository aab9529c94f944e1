import CommandLine
import Testing

private let share = Command(
    name: "share", summary: "Shares the screen with whoever has the link.",
    options: [
        Option(long: "bitrate", short: "b", value: .required("RATE"), help: "most bits a second", default: "4M"),
        Option(long: "room", value: .required("NAME"), help: "the room's name"),
        Option(long: "lan", help: "listen on all addresses"),
        Option(long: "latency", help: "show the delay"),
        Option(long: "color", value: .optional("WHEN"), help: "colours in the output"),
        Option(long: "verbose", short: "v", help: "say more"),
    ],
    operands: Operands(name: "DISPLAY", count: 0...1, help: "the X display to share"),
    examples: [Example("screenrelay share --room demo", "Shares the screen in the room demo.")])

private let relay = CommandSet(
    program: "screenrelay", summary: "Shows this screen to browsers.", version: "1.2",
    commands: [share, Command(name: "host", summary: "Serves viewers."), Command(name: "snapshot", summary: "Saves.")],
    firstCommands: ["share"])

private func parse(_ arguments: String...) throws(UsageError) -> ParsedOptions {
    try share.parse(arguments, program: "screenrelay share")
}

private func complaint(_ arguments: String...) -> String? {
    do {
        _ = try share.parse(arguments, program: "screenrelay share")
        return nil
    } catch {
        return error.description
    }
}

@Suite("options")
struct OptionParsingTests {
    @Test("an option's value may stand behind '=', behind a space, or behind its letter")
    func spellings() throws {
        #expect(try parse("--bitrate=2M").value("bitrate") == "2M")
        #expect(try parse("--bitrate", "2M").value("bitrate") == "2M")
        #expect(try parse("-b2M").value("bitrate") == "2M")
        #expect(try parse("-vb", "2M").value("bitrate") == "2M")
        #expect(try parse("--bit=2M").value("bitrate") == "2M")
    }

    @Test("an option may stand behind the one that it is for, which may be repeated")
    func details() throws {
        let command = Command(
            name: "x", summary: "Sends.",
            options: [
                Option(long: "to", value: .required("URL"), help: "where to", repeats: true),
                Option(long: "how", value: .required("NAME"), help: "how", repeats: true),
            ])
        func read(_ words: String...) throws -> [String] {
            try command.parse(words, program: "x").values("to", withDetail: "how").map {
                "\($0.value) \($0.detail ?? "-")"
            }
        }
        #expect(try read() == [])
        #expect(try read("--to", "a", "--to=b") == ["a -", "b -"])
        #expect(
            try read("--to", "a", "--how", "small", "--to=b", "--to", "c", "--how=big") == ["a small", "b -", "c big"])
        #expect(try read("--to", "a", "--how", "small", "--how", "big") == ["a big"])
        let error = #expect(throws: UsageError.self) { try read("--how", "small", "--to", "a") }
        #expect(error?.description == "--how: must follow the --to that it is for")
        #expect(throws: UsageError.self) { try read("--how", "small") }
    }

    @Test("a default holds where the option isn't given, and doesn't count as given")
    func defaults() throws {
        let parsed = try parse("--lan")
        #expect(parsed.value("bitrate") == "4M")
        #expect(!parsed.has("bitrate"))
        #expect(parsed.has("lan"))
        #expect(parsed.value("room") == nil)
    }

    @Test("the last of several values holds, and all can be had")
    func repeated() throws {
        let parsed = try parse("--room", "a", "--room", "b")
        #expect(parsed.value("room") == "b")
        #expect(parsed.values("room") == ["a", "b"])
    }

    @Test("an optional value is empty where only the name stands")
    func optionalValue() throws {
        #expect(try parse("--color").value("color") == "")
        #expect(try parse("--color=never").value("color") == "never")
    }

    @Test("operands may stand among options, and '--' makes everything behind it an operand")
    func operands() throws {
        #expect(try parse(":1", "--lan").operands == [":1"])
        #expect(try parse("--", "--lan").operands == ["--lan"])
        #expect(complaint(":1", ":2") == "unexpected argument ':2'; see 'screenrelay share --help'")
    }

    @Test("an unknown option is named, with what was likely meant")
    func unknown() {
        let list = "'screenrelay share --help' lists them"
        #expect(complaint("--foo") == "unknown option --foo; \(list)")
        #expect(complaint("--bitrat3=4M") == "unknown option --bitrat3; did you mean --bitrate? \(list)")
        #expect(complaint("--rom", "x") == "unknown option --rom; did you mean --room? \(list)")
        #expect(complaint("-x") == "unknown option -x; \(list)")
        #expect(complaint("-vx") == "unknown option -x; \(list)")
        #expect(complaint("--la") == "--la could be --lan or --latency; write it out")
    }

    @Test("a missing or superfluous value is named")
    func values() {
        #expect(complaint("--bitrate") == "--bitrate needs a value: --bitrate=RATE")
        #expect(complaint("-b") == "--bitrate needs a value: --bitrate=RATE")
        #expect(complaint("--lan=yes") == "--lan takes no value")
    }

    @Test("control characters in what the user typed don't reach the terminal")
    func controlCharacters() {
        #expect(complaint("--\u{1b}[2Jfoo\n")?.contains("--\\u{1b}[2Jfoo\\n;") == true)
    }

    @Test("a scan that failed inside a cluster of letters leaves nothing behind for the next")
    func globalState() throws {
        #expect(complaint("-vxb2M") != nil)
        let parsed = try parse("-b", "3M")
        #expect(parsed.value("bitrate") == "3M")
        #expect(!parsed.has("verbose"))
    }

    @Test("scans on several threads at once don't disturb each other")
    func threads() async {
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let parsed = try? parse("--room", "r\(number)", "-v", ":\(number)")
                    return parsed?.value("room") == "r\(number)" && parsed?.operands == [":\(number)"]
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

@Suite("commands")
struct CommandSetTests {
    private func printed(_ arguments: String...) throws -> String? {
        if case .print(let text) = try relay.select(arguments) { return text }
        return nil
    }

    private func complaint(_ arguments: String...) -> UsageError? {
        do {
            _ = try relay.select(arguments)
            return nil
        } catch {
            return error
        }
    }

    @Test("the first word selects the command, the rest are its options")
    func selects() throws {
        guard case .run(let name, let options) = try relay.select(["share", "--room", "demo"]) else {
            Issue.record("not run")
            return
        }
        #expect(name == "share")
        #expect(options.value("room") == "demo")
    }

    @Test("an unknown command is named, with what was likely meant")
    func unknown() {
        #expect(
            complaint("shrae")?.description
                == "unknown command 'shrae'; did you mean share? the commands are share, host, snapshot, help")
        #expect(complaint("--frob")?.description.hasPrefix("unknown option --frob") == true)
        #expect(complaint("nonsense")?.exitCode == .usage)
    }

    @Test("an empty command line explains the commands to start with, with the first example of each")
    func usage() throws {
        guard case .explain(let text) = try relay.select([]) else {
            Issue.record("not explained")
            return
        }
        #expect(
            text == """
                Usage: screenrelay COMMAND [OPTION]...

                Shows this screen to browsers.

                Commands to start with:
                  screenrelay share --room demo  Shares the screen in the room demo.

                'screenrelay --help' lists all commands.
                'screenrelay COMMAND --help' shows a command's options.

                """)
    }

    @Test("help and version are printed for the program and for each command")
    func helpAndVersion() throws {
        #expect(try printed("--version") == "screenrelay 1.2\n")
        #expect(try printed("share", "--version") == "screenrelay 1.2\n")
        let help = try printed("--help")
        #expect(help?.contains("\n  share     Shares the screen with whoever has the link.\n") == true)
        #expect(try printed("help") == help)
        #expect(try printed("share", "--help") == share.helpText(program: "screenrelay share"))
        #expect(try printed("help", "share") == share.helpText(program: "screenrelay share"))
        // Whoever asks for help is not told off for what else is wrong with the line's operands.
        #expect(try printed("share", "a", "b", "--help") != nil)
    }

    @Test("a command's help shows every option with its default, examples and exit codes within 80 columns")
    func helpText() throws {
        let help = share.helpText(program: "screenrelay share")
        #expect(help.hasPrefix("Usage: screenrelay share [OPTION]... [DISPLAY]\n\nShares the screen"))
        #expect(help.contains("\n  -b, --bitrate=RATE      most bits a second (default: 4M)\n"))
        #expect(help.contains("\n      --color[=WHEN]      colours in the output\n"))
        #expect(help.contains("\n  -h, --help              show this help and exit\n"))
        #expect(help.contains("\nExamples:\n  screenrelay share --room demo\n      Shares the screen"))
        #expect(help.contains("\n  64  the command line or the settings file is wrong\n"))
        for line in help.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    @Test("long texts are wrapped, and options too long for their column keep a line of their own")
    func wrapping() {
        let text = Array(repeating: "word", count: 60).joined(separator: " ")
        let command = Command(
            name: "x", summary: text,
            options: [Option(long: "very-long-option-name", value: .required("VALUE"), help: text)])
        let help = command.helpText(program: "x")
        #expect(help.contains("\n      --very-long-option-name=VALUE\n                          word word"))
        for line in help.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }
}
