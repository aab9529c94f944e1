import CommandLine
import Testing

@Suite("Headings over options")
struct OptionHeadingTests {
    private static let plain = Option(long: "check", help: "check it")
    private static let command = Command(
        name: "share", summary: "Shares.",
        options: [
            Option(long: "room", value: .required("NAME"), help: "the name").under(.access), plain,
            Option(long: "fps", help: "how often").under(.quality),
            Option(long: "lan", help: "let others in").under(.access),
            Option(long: "secret", help: "for us").under(.sound).hidden,
        ])

    /// The lines of a text that are a heading of options or begin with an option's long name.
    private func outline(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            if line.hasSuffix(":"), !line.hasPrefix(" ") { return String(line) }
            let option = line.dropFirst("  -h, ".count)
            return option.hasPrefix("--") ? String(option.prefix { $0 != "=" && $0 != " " }) : nil
        }
    }

    @Test("help lists a command's options under their headings, in the order of the table, and the others last")
    func help() {
        #expect(
            outline(Self.command.helpText(program: "prog share")) == [
                "Quality:", "--fps", "Access:", "--room", "--lan", "Other options:", "--check", "--help", "--version",
                "Exit status:",
            ])
    }

    @Test("options with one heading or none are one list in the order of the table")
    func oneList() {
        let all = ["Options:", "--room", "--check", "--lan", "--help", "--version", "Exit status:"]
        var command = Self.command
        command.options.removeAll { ["fps", "secret"].contains($0.long) }
        #expect(outline(command.helpText(program: "prog share")) == all)
    }

    @Test("a manual page has the same headings, with the same options below each")
    func manualPage() {
        let set = CommandSet(program: "prog", summary: "Does it.", version: "1", commands: [Self.command])
        let lines = set.manualPage(of: Self.command).split(separator: "\n").map(String.init)
        let parts = lines.filter { $0.hasPrefix(".S") || $0.contains("\\fB\\-\\-") }
        #expect(
            parts == [
                ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS", ".SS Quality", "\\fB\\-\\-fps\\fR",
                ".SS Access", "\\fB\\-\\-room\\fR=\\fINAME\\fR", "\\fB\\-\\-lan\\fR", ".SS Other options",
                "\\fB\\-\\-check\\fR", "\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "\\fB\\-\\-version\\fR", ".SH EXIT STATUS",
                ".SH SEE ALSO",
            ])
    }
}

extension Option {
    fileprivate var hidden: Option {
        var option = self
        option.isHidden = true
        return option
    }
}
