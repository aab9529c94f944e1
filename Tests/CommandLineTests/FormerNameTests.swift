import CommandLine
import TestSupport
import Testing

@Suite("Former names")
struct FormerNameTests {
    private static let host = Command(
        name: "host", summary: "Hosts.",
        options: [
            Option(long: "key", value: .required("FILE"), help: "the key", formerNames: ["token"]),
            Option(long: "lan", help: "let others in", formerNames: ["open"]),
        ]
    ).withSettings
    private static let set = CommandSet(
        program: "prog", summary: "Does it.", version: "1",
        commands: [host, Command(name: "remove", summary: "Removes.", formerNames: ["kick"])])

    private func parse(_ words: String...) throws -> ParsedOptions { try Self.host.parse(words, program: "prog host") }

    @Test("an option's former name does what its name does, and the last of both counts")
    func options() throws {
        #expect(try parse("--token", "a").value("key") == "a")
        #expect(try parse("--token=a").arguments() == ["--key=a"])
        #expect(try parse("--token=a", "--key=b").value("key") == "b")
        #expect(try parse("--key=a", "--tok=b").value("key") == "b")
        #expect(try !parse("--open=false").has("lan"))
        #expect(throws: UsageError("--key needs a value: --key=FILE")) { try parse("--token") }
    }

    @Test("a settings file may have an option's former name")
    func settings() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("config", Array("[host]\ntoken=a\nopen=true\n".utf8))
        let read = try SettingsFile.read(path)
        let settings = try Self.set.settings(in: try #require(read), for: "host")
        let parsed = try parse("--open=false").completed(by: settings)
        #expect(parsed.value("key") == "a" && !parsed.has("lan"))
    }

    @Test("a command's former name selects it, and its messages have the new one")
    func commands() throws {
        guard case .run(let name, _) = try Self.set.select(["kick"]) else {
            Issue.record("not run")
            return
        }
        #expect(name == "remove")
        #expect(throws: UsageError("unknown option --x; 'prog remove --help' lists them")) {
            try Self.set.select(["kick", "--x"])
        }
    }

    @Test("neither help, manual pages, completion nor the template of the settings file has a former name")
    func hidden() {
        let texts =
            [
                Self.set.helpText, Self.host.helpText(program: "prog host"), Self.set.manualPage,
                Self.set.manualPage(of: Self.host), Self.set.settingsTemplate(),
            ] + CompletionShell.allCases.map { Self.set.completion(for: $0) }
        for text in texts {
            for name in ["token", "open", "kick"] { #expect(!text.contains(name), "\(name) in: \(text)") }
        }
    }
}
