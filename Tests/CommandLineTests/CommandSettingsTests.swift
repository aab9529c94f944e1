import CommandLine
import MediaTypes
import TestSupport
import Testing

@Suite("Settings files")
struct CommandSettingsTests {
    private static let share = Command(
        name: "share", summary: "Shares.",
        options: [
            Option(long: "fps", short: "f", value: .required("NUMBER"), help: "pictures a second", default: "30"),
            Option(long: "hide", value: .required("WINDOW"), help: "leave out", repeats: true),
            Option(long: "lan", help: "let others in"),
            Option(long: "monitor", value: .required("NAME"), help: "this one"),
            Option(long: "window", value: .required("WINDOW"), help: "this one"),
        ], alternatives: [["monitor", "window"]]
    ).withSettings
    private static let set = CommandSet(
        program: "prog", summary: "Does it.", version: "1",
        commands: [
            share, Command(name: "host", summary: "Hosts.", options: [Option(long: "lan", help: "x")]).withSettings,
            Command(name: "stop", summary: "Stops."),
            Command(name: "check", summary: "Checks.", options: share.options, settingsOf: "share"),
        ])

    /// The options of `share` with these words and this file.
    private func options(_ words: [String], _ text: String) throws -> ParsedOptions {
        let folder = try TemporaryFolder()
        let path = try folder.write("config", Array(text.utf8))
        let read = try SettingsFile.read(path)
        let document = try #require(read)
        return try Self.share.parse(words, program: "prog share").completed(
            by: try Self.set.settings(in: document, for: "share"))
    }

    private func problem(_ text: String) throws -> String {
        do {
            _ = try options([], text)
        } catch let error as UsageError {
            return error.description.split(separator: "/").last.map(String.init) ?? ""
        }
        return ""
    }

    @Test("options stand under their long names, in the command's group or in the one for all, which counts less")
    func values() throws {
        let parsed = try options(
            [],
            "# of Ann\n[all]\nfps = 10\nlan=true\n\n[share]\nfps=15\nhide=Mail;Chat\\; private;\n[host]\nlan=false\n")
        #expect(try parsed.value("fps", as: .frameRate) == 15)
        #expect(parsed.values("hide") == ["Mail", "Chat; private"])
        #expect(parsed.has("lan"))
    }

    @Test("can be taken away again, so that another version of the file can complete the command line")
    func withoutSettings() throws {
        let parsed = try options(["--hide", "Mail"], "[share]\nfps=15\nhide=Chat\nlan=true\n")
        #expect(parsed.value("fps") == "15" && parsed.has("lan"))
        let words = parsed.withoutSettings
        #expect(words.value("fps") == "30" && !words.has("lan") && words.values("hide") == ["Mail"])
        #expect(words.place(of: "fps") == nil)
    }

    @Test("a command that takes another one's settings has no group of its own")
    func shared() throws {
        #expect(Self.set.takesSettings("check") && !Self.set.takesSettings("stop"))
        let folder = try TemporaryFolder()
        let read = try SettingsFile.read(try folder.write("config", Array("[share]\nfps=15\n".utf8)))
        let settings = try Self.set.settings(in: try #require(read), for: "check")
        #expect(settings.options["fps"]?.values == ["15"])
        #expect(try problem("[check]\nfps=15\n").contains("unknown group [check]"))
        #expect(Self.set.settingsTemplate(for: "check") == Self.set.settingsTemplate(for: "share"))
    }

    @Test("what the command line says wins: a value, a list as a whole, and one of several alternatives")
    func precedence() throws {
        let text = "[share]\nfps=10\nhide=a;b\nmonitor=DP-1\nlan=true\n"
        let parsed = try options(["--hide", "c", "--window=Mail", "-f", "20"], text)
        #expect(parsed.value("fps") == "20")
        #expect(parsed.values("hide") == ["c"])
        #expect(parsed.value("window") == "Mail" && !parsed.has("monitor"))
        #expect(parsed.has("lan"))
        #expect(parsed.arguments() == ["--fps=20", "--hide=c", "--lan", "--window=Mail"])
    }

    @Test("a switch of the group for all is off again in a command's own")
    func off() throws {
        #expect(!(try options([], "[all]\nlan=true\n[share]\nlan=false\n").has("lan")))
    }

    @Test("a switch of the file is off where the command line says so, and the last word counts")
    func booleanSwitches() throws {
        let text = "[all]\nlan=true\nmonitor=DP-1\n"
        let parsed = try options(["--lan=false"], text)
        #expect(!parsed.has("lan") && parsed.values("lan").isEmpty && parsed.arguments() == ["--monitor=DP-1"])
        #expect(try options(["--lan=false", "--lan"], text).has("lan"))
        #expect(!(try options(["--lan=true", "--la=false"], text).has("lan")))
        #expect(try options(["--lan=true"], "[all]\n").has("lan"))
        let kept = try options([], text)
        #expect(kept.has("lan") && kept.place(of: "lan")?.hasSuffix("/config:2: lan") == true)
        for word in ["yes", "", "FALSE"] {
            #expect(throws: UsageError("--lan takes no value other than true or false")) {
                try options(["--lan=\(word)"], text)
            }
        }
        // What no file can say can't be taken back.
        #expect(throws: UsageError("--no-config takes no value")) { try options(["--no-config=false"], text) }
        #expect(throws: UsageError("--help takes no value")) { try options(["--help=false"], text) }
    }

    @Test("a value that can't be one is told with file, line and key")
    func place() throws {
        let parsed = try options([], "[share]\n\nfps=0\n")
        do {
            _ = try parsed.value("fps", as: .frameRate)
            Issue.record("0 pictures a second")
        } catch {
            #expect(error.description.contains("/config:3: fps 0: not a frame rate"))
            #expect(error.exitCode == .usage)
        }
    }

    @Test(
        "what is unknown or can't be meant is an error that names its line, whichever command it is for",
        arguments: [
            ("[share]\nfsp=3\n", "config:2: unknown setting 'fsp' in [share]; did you mean fps?"),
            ("[all]\nframes=3\n", "config:2: unknown setting 'frames' in [all]; 'prog config' shows them all"),
            ("\n[shar]\nfps=3\n", "config:2: unknown group [shar]; did you mean [share]?"),
            ("[stop]\n", "config:1: unknown group [stop]; the groups are all, share, host"),
            ("[host]\nlan=yes\n", "config:2: lan is a switch; write true or false"),
            ("[share]\nhide=\n", "config:2: hide needs one or more values"),
            ("[share]\nfps=\n", "config:2: fps needs a value"),
            ("[share]\nmonitor=a\\q\n", "config:2: monitor needs a value"),
            ("[share]\nconfig=x\n", "config:2: unknown setting 'config'"),
            ("[share]\nhelp=true\n", "config:2: unknown setting 'help'"),
        ])
    func mistakes(_ text: String, _ words: String) throws {
        let found = try problem(text)
        #expect(found.hasPrefix(words), "\(found)")
    }

    @Test("what is no key file is an error that says so; one that isn't there is none")
    func files() throws {
        let folder = try TemporaryFolder()
        for text in [Array("fps=3\n".utf8), Array("[share]\nfps\n".utf8), [0xFF, 0xFE, 10], [0x5B, 0, 0x5D]] {
            let path = try folder.write("config", text)
            #expect(throws: SettingsFileError.self) { try SettingsFile.read(path) }
        }
        let large = try folder.write("large", [UInt8](repeating: UInt8(ascii: "\n"), count: SettingsFile.limit + 1))
        #expect(throws: SettingsFileError.self) { try SettingsFile.read(large) }
        #expect(throws: SettingsFileError.self) { try SettingsFile.read(folder.path) }
        #expect(try SettingsFile.read(folder.file("none")) == nil)
    }

    @Test(
        "a line that no key file has is named, with what would be right",
        arguments: [
            ("[all]\nfps\n", "config:2: 'fps' is not a setting; write it like fps=20"),
            ("# of Ann\n\nfps=3\n", "config:3: 'fps=3' is not in a group; put one before it, such as [all]"),
            ("[share\nfps=3\n", "config:1: '[share' is not a group; write it like [share]"),
            ("[share]\nfps=3\n[]\n", "config:3: '[]' is not a group"),
            ("[share]\n=3\n", "config:2: '=3' is not a setting"),
        ])
    func misplaced(_ text: String, _ words: String) throws {
        let folder = try TemporaryFolder()
        do {
            _ = try SettingsFile.read(try folder.write("config", Array(text.utf8)))
            Issue.record("it was read")
        } catch {
            let line = try #require("\(error)".split(separator: "/").last)
            #expect(line.hasPrefix(words), "\(line)")
        }
    }

    @Test("the rules of key files: escapes, lists, repeated keys and groups, white space, and lines that end in CRLF")
    func keyFile() throws {
        let lines = [
            "[a]\r", " k\t=\tone", "list=x\\;y;;\\tz;", "#k=3", "[b]\r", "t=\\sone \\\\ \r", "[a] ", "k=\\nlast",
            "bad=a\\q", "open=b\\",
        ]
        let folder = try TemporaryFolder()
        let path = try folder.write("config", Array(lines.joined(separator: "\n").utf8))
        let document = try #require(try SettingsFile.read(path))
        #expect(document.groups.map(\.name) == ["a", "b", "a"] && document.groups.map(\.line) == [1, 5, 7])
        #expect(document.entries.map(\.key) == ["k", "list", "t", "bad", "open"])
        #expect(document.entries.map(\.line) == [8, 3, 6, 9, 10])
        #expect(document.entries.map(\.text) == ["\nlast", nil, " one \\ ", nil, nil])
        #expect(document.entries[1].list == ["x;y", "", "\tz"] && document.entries[3].list == nil)
    }

    @Test("mutated files are read or refused, never more")
    func mutations() throws {
        let folder = try TemporaryFolder()
        let text = Array("[all]\nlan=true\n[share]\nfps=15\nhide=a;b\\;c;\n# end\n".utf8)
        var random = SeededRandom(seed: 5)
        for _ in 0..<500 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let path = try folder.write("config", bytes)
            if let document = try? SettingsFile.read(path) { _ = try? Self.set.settings(in: document, for: "share") }
        }
    }

    @Test("the usual file is that of XDG_CONFIG_HOME, else of the home; a path that isn't absolute is none")
    func standardPath() {
        #expect(SettingsFile.standardPath { ["XDG_CONFIG_HOME": "/c", "HOME": "/h"][$0] } == "/c/screenrelay/config")
        #expect(SettingsFile.standardPath { ["HOME": "/h"][$0] } == "/h/.config/screenrelay/config")
        #expect(
            SettingsFile.standardPath { ["XDG_CONFIG_HOME": "c", "HOME": "/h"][$0] } == "/h/.config/screenrelay/config")
        #expect(SettingsFile.standardPath { _ in nil } == nil)
    }

    @Test(
        "the template has every option, is a settings file that changes nothing, and one that is read where # is taken off"
    )
    func template() throws {
        let text = Self.set.settingsTemplate()
        #expect(try options([], text).arguments().isEmpty)
        #expect(!text.contains("[stop]"))
        var live = text.split(separator: "\n").map { line in
            line.hasPrefix("#") && line.contains("=") ? String(line.dropFirst()) : String(line)
        }
        live.removeAll { $0.hasPrefix("monitor") }
        let parsed = try options([], live.joined(separator: "\n"))
        #expect(parsed.value("fps") == "30" && parsed.values("hide") == ["WINDOW", "WINDOW"] && parsed.has("lan"))
        #expect(!Self.set.settingsTemplate(for: "share").contains("[host]"))
    }
}
