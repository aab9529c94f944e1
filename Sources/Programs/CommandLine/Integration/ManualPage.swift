extension CommandSet {
    /// The program's manual page for section 1 (troff with the macros of man(7)).
    public var manualPage: String {
        var page = ManualPage(title: program, version: "\(program) \(version)")
        page.name(program, summary)
        page.heading("SYNOPSIS")
        page.usage([program, "COMMAND"], "[OPTION]...")
        page.heading("COMMANDS")
        for command in commands {
            page.item("\\fB\(page.escaped(command.name))\\fR", command.summary)
        }
        page.item("\\fB\(Self.help.name)\\fR [\\fICOMMAND\\fR]", Self.help.summary)
        page.paragraph("'\(program) COMMAND --help' shows a command's options.")
        page.exitStatus()
        page.settings(of: self)
        page.heading("SEE ALSO")
        let pages = commands.map { "\\fB\(page.escaped(manualName(of: $0)))\\fR(1)" }
        page.raw(pages.joined(separator: ",\n"))
        return page.text
    }

    /// The manual page of one command.
    public func manualPage(of command: Command) -> String {
        let name = manualName(of: command)
        var page = ManualPage(title: name, version: "\(program) \(version)")
        page.name(name, command.summary)
        page.heading("SYNOPSIS")
        let operand = command.operands
        page.usage([program, command.name], command.argumentUsage)
        page.heading("DESCRIPTION")
        page.paragraph(command.summary)
        if !operand.help.isEmpty { page.item("\\fI\(page.escaped(operand.name))\\fR", operand.help) }
        page.heading("OPTIONS")
        let groups = command.optionGroups
        for group in groups {
            if groups.count > 1 { page.subheading(group.heading) }
            for option in group.options { page.item(page.head(of: option), page.help(for: option)) }
        }
        if !command.examples.isEmpty {
            page.heading("EXAMPLES")
            for example in command.examples { page.item("\\fB\(page.escaped(example.line))\\fR", example.meaning) }
        }
        page.exitStatus()
        if commandsWithSettings.contains(where: { $0.name == command.name }) { page.settings(of: self) }
        page.heading("SEE ALSO")
        page.raw("\\fB\(page.escaped(program))\\fR(1)")
        return page.text
    }

    /// The name of a command's manual page: `screenrelay-share`.
    public func manualName(of command: Command) -> String { "\(program)-\(command.name)" }
}

/// The part of troff that manual pages need (groff_man(7)).
private struct ManualPage {
    private(set) var text: String

    init(title: String, version: String) {
        text = ""
        text = ".TH \"\(escaped(title.uppercased()))\" 1 \"\" \"\(escaped(version))\" \"User Commands\"\n"
    }

    mutating func name(_ name: String, _ summary: String) {
        heading("NAME")
        // In one line, as apropos(1) expects.
        raw("\(escaped(name)) \\- \(escaped(summary.hasSuffix(".") ? String(summary.dropLast()) : summary))")
    }

    mutating func heading(_ words: String) { raw(".SH \(words)") }

    mutating func subheading(_ words: String) { raw(".SS \(words)") }

    mutating func usage(_ words: [String], _ rest: String) {
        let bold = words.map { "\\fB\(escaped($0))\\fR" }.joined(separator: " ")
        raw("\(bold) \(escaped(rest))")
    }

    mutating func paragraph(_ words: String) {
        raw(".PP")
        raw(escaped(words))
    }

    /// `head` is already troff.
    mutating func item(_ head: String, _ words: String) {
        raw(".TP")
        raw(head)
        raw(escaped(words))
    }

    mutating func exitStatus() {
        heading("EXIT STATUS")
        for code in ExitCode.allCases { item("\\fB\(code.rawValue)\\fR", code.meaning) }
    }

    mutating func settings(of set: CommandSet) {
        heading("FILES")
        item(
            "\\fI$XDG_CONFIG_HOME/\(set.program)/config\\fR, \\fI~/.config/\(set.program)/config\\fR",
            "Options by their long names, in a group for each command (such as [share]) and one for all commands ([all]). "
                + "The items of a list are separated by ';', and a switch is true or false. Options on the command line "
                + "override the file, and --SWITCH=false turns a switch off. '\(set.program) config' prints a file with "
                + "every option in it."
                + set.namedGroups.map { " A group [\($0.kind) NAME] is \($0.help)." }.joined())
    }

    func head(of option: Option) -> String {
        let short = option.short.map { "\\fB\(escaped("-\($0)"))\\fR, " } ?? ""
        let long = "\\fB\(escaped("--\(option.long)"))\\fR"
        switch option.value {
        case .none: return short + long
        case .required(let name): return short + long + "=\\fI\(escaped(name))\\fR"
        case .optional(let name): return short + long + "[=\\fI\(escaped(name))\\fR]"
        }
    }

    func help(for option: Option) -> String {
        let text = option.help + (option.default.map { " (default: \($0))" } ?? "")
        return text + (text.hasSuffix(".") ? "" : ".")
    }

    /// Appends a line that is already troff.
    mutating func raw(_ line: String) { text += line + "\n" }

    /// Escapes words so that troff takes none of them for a request or an escape, and prints a minus and not a hyphen.
    func escaped(_ words: String) -> String {
        var result = ""
        for character in printable(words) {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "\"": result += "\\(dq"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") ? "\\&" + result : result
    }
}
