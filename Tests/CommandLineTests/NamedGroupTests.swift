import CommandLine
import Glibc
import TestSupport
import Testing

@Suite("Groups with names in settings files")
struct NamedGroupTests {
    private static let share = Command(
        name: "share", summary: "Shares.",
        options: [
            Option(long: "fps", value: .required("NUMBER"), help: "pictures a second"),
            Option(long: "key", value: .required("KEY"), help: "a secret", isSecret: true),
        ]
    ).withSettings
    private static let set = CommandSet(
        program: "prog", summary: "Does it.", version: "1",
        commands: [share, Command(name: "other", summary: "Does else.").withSettings],
        namedGroups: [
            NamedGroup(
                kind: "push", help: "one more push", commands: ["share"],
                keys: [
                    Option(long: "url", value: .required("URL"), help: "where to", isSecret: true),
                    Option(long: "tries", value: .required("NUMBER"), help: "how often", default: "0"),
                ])
        ])

    /// The groups that a command gets of this file.
    private func groups(_ text: String, for command: String = "share", mode: mode_t = 0o600) throws -> [SettingsGroup] {
        let folder = try TemporaryFolder()
        let path = try folder.write("config", Array(text.utf8))
        #expect(chmod(path, mode) == 0)
        let document = try #require(try SettingsFile.read(path))
        let settings = try Self.set.settings(in: document, for: command)
        return try Self.share.parse([], program: "prog share").completed(by: settings).groups
    }

    private func problem(_ text: String, mode: mode_t = 0o600) throws -> UsageError? {
        do {
            _ = try groups(text, mode: mode)
            return nil
        } catch let error as UsageError {
            return error
        }
    }

    @Test("a command gets its groups in the file's order, with values, and places for messages")
    func values() throws {
        let text = "[push a]\nurl=rtmp://h/app/key;more\n[share]\nfps=3\n[push  desk.2]\ntries = 2\n"
        let groups = try groups(text)
        #expect(groups.map(\.kind) == ["push", "push"] && groups.map(\.name) == ["a", "desk.2"])
        #expect(groups[0].value("url") == "rtmp://h/app/key;more" && groups[0].value("tries") == nil)
        #expect(try groups[1].value("tries", as: .integer(0...3)) == 2)
        #expect(groups[1].place.hasSuffix("/config:5: [push desk.2]"))
        #expect(groups[1].place(of: "tries").hasSuffix("/config:6: [push desk.2] tries"))
        #expect(groups[1].place(of: "url") == groups[1].place)
        #expect(try self.groups(text, for: "other").isEmpty)
    }

    @Test(
        "what is wrong with one is told with its line, and without what may be secret",
        arguments: [
            ("[push rtmp://h/app/Sesam]\n", "/config:1: push rtmp://...: not a name"),
            ("[push]\n", "/config:1: push '': not a name; use up to 64 letters"),
            ("[push a b]\n", "/config:1: push a b: not a name;"),
            ("[push a]\nurl=x\n[push a]\ntries=1\n", "/config:3: [push a] is there twice; give each its own name"),
            ("[push a]\n[push  a]\n", "/config:2: [push a] is there twice"),
            ("[push a]\nurk=x\n", "/config:2: [push a]: unknown setting 'urk'; did you mean url? they are url, tries"),
            ("[push a]\nrtmp://h/app/Sesam?a=b\n", "/config:2: [push a]: unknown setting 'rtmp://...'; they are"),
            ("[share]\nrtmp://h/app/Sesam?a=b\n", "/config:2: unknown setting 'rtmp://...' in [share]"),
            ("[push a]\nurl=\n", "/config:2: [push a] url needs a value"),
            ("[push a]\nurl=Sesam\\q\n", "/config:2: [push a] url needs a value"),
            ("[pusher]\n", "/config:1: unknown group [pusher]; the groups are all, share, other, push NAME"),
        ])
    func mistakes(_ text: String, _ words: String) throws {
        let found = try #require(try problem(text))
        #expect(found.description.contains(words) && !found.description.contains("Sesam"), "\(found)")
        #expect(found.exitCode == .usage)
    }

    @Test("a line that is no setting is shown without its URL")
    func misplaced() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("config", Array("[push a]\nurl rtmp://h/app/Sesam\n".utf8))
        do throws(SettingsFileError) {
            _ = try SettingsFile.read(path)
            Issue.record("it was read")
        } catch {
            #expect(error.description.contains("/config:2: 'url rtmp://...' is not a setting"), "\(error)")
        }
    }

    @Test(
        "a file that others can read may not have a secret, in whatever group",
        arguments: [0o640, 0o604, 0o602] as [mode_t])
    func privacy(_ mode: mode_t) throws {
        for (text, place) in [("[push a]\nurl=x\n", "[push a] url"), ("[share]\nkey=x\n", "key")] {
            #expect(try problem(text) == nil)
            let found = try #require(try problem(text, mode: mode))
            #expect(found.exitCode == .permission)
            #expect(found.description.contains("/config:2: \(place) may have a secret"), "\(found)")
            #expect(found.description.contains("chmod 600"))
        }
        #expect(try groups("[push a]\ntries=1\n[share]\nfps=1\n", mode: mode).count == 1)
    }

    @Test("the template shows the group to the commands that use it, and is one where # is taken off")
    func template() throws {
        let text = Self.set.settingsTemplate(for: "share")
        let end = "\n\n#[push NAME]\n# one more push\n# where to\n#url=URL\n# how often\n#tries=0\n"
        #expect(text.hasSuffix(end), "\(text)")
        #expect(!Self.set.settingsTemplate(for: "other").contains("push"))
        #expect(try groups(Self.set.settingsTemplate()).isEmpty)
        let live = text.split(separator: "\n").map { line in
            line.hasPrefix("#[") || line.hasPrefix("#url") ? String(line.dropFirst()) : String(line)
        }
        let groups = try groups(live.joined(separator: "\n"))
        #expect(groups.map(\.name) == ["NAME"] && groups.first?.value("url") == "URL")
    }
}
