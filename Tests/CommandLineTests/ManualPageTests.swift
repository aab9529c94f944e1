import CommandLine
import Glibc
import Processes
import TestSupport
import Testing

@Suite("Manual pages")
struct ManualPageTests {
    private static let command = Command(
        name: "share", summary: "Shares what's there.",
        options: [
            Option(
                long: "fps", short: "f", value: .required("NUMBER"), help: ".5 or C:\\x 'y' \"z\" ^~`", default: "30"),
            Option(long: "log", value: .optional("LEVEL"), help: "how much", choices: ["error", "debug"]),
        ],
        operands: Operands(name: "FILE", count: 0...2, help: "what to read"),
        examples: [Example("prog share --fps 3", "Few pictures.")])
    private static let set = CommandSet(
        program: "prog", summary: "Does it.", version: "1.2",
        commands: [command.withSettings, Command(name: "stop", summary: "Stops.")])

    /// The page as man(1) shows it, and what groff has to say about it.
    private func shown(_ page: String) throws -> (text: String, warnings: String) {
        let folder = try TemporaryFolder()
        let path = try folder.write("page.1", Array(page.utf8))
        var launch = Launch("/usr/bin/man", ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", path])
        launch.environment = ["MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": nil, "GROFF_NO_SGR": "1"]
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 1 << 20)
        let (status, text, warnings) = try ChildProcess.run(launch, within: .seconds(90))
        #expect(status == .exited(0), "\(warnings)")
        // Bold is a letter twice in the same place, italics one over a line.
        var plain = ""
        for scalar in text.unicodeScalars {
            if scalar == "\u{8}" { plain.unicodeScalars.removeLast() } else { plain.unicodeScalars.append(scalar) }
        }
        return (plain, warnings)
    }

    @Test("man shows them without a warning, and every word as it is in the table", .enabled(if: hasMan))
    func rendering() throws {
        for page in [Self.set.manualPage, Self.set.manualPage(of: Self.command)] {
            let (text, warnings) = try shown(page)
            #expect(warnings.isEmpty, "\(warnings)")
            #expect(text.contains("NAME") && text.contains("EXIT STATUS") && text.contains("SEE ALSO"))
        }
        let text = try shown(Self.set.manualPage(of: Self.command)).text
        let words = text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        for expected in [
            "prog-share - Shares what's there", "prog share [OPTION]... [FILE]...", "-f, --fps=NUMBER",
            ".5 or C:\\x 'y' \"z\" ^~` (default: 30).", "--log[=LEVEL]", "--help", "prog share --fps 3", "64",
        ] {
            #expect(words.contains(expected), "\(expected) in: \(words)")
        }
    }

    @Test("a page has nothing that troff would take for a request of its own")
    func escaping() {
        let page = Self.set.manualPage(of: Self.command)
        #expect(page.hasPrefix(".TH \"PROG\\-SHARE\" 1"))
        for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
            #expect([".TH", ".SH", ".PP", ".TP"].contains(String(line.prefix(3))), "\(line)")
        }
    }
}

private let hasMan = access("/usr/bin/man", X_OK) == 0 && access("/usr/bin/groff", X_OK) == 0
