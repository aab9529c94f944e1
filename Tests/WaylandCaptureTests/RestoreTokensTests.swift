import Glibc
import TestSupport
import Testing
import WaylandCapture

@Suite("Restore tokens")
struct RestoreTokensTests {
    private let folder: TemporaryFolder
    private let tokens: RestoreTokens

    init() throws {
        folder = try TemporaryFolder()
        tokens = RestoreTokens(folder: folder.file("state/screenrelay"), choice: "a")
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test("are kept for each choice, for this user only, and the next one replaces the last")
    func kept() throws {
        #expect(tokens.token(for: .monitor) == nil)
        try tokens.keep("one", for: .monitor)
        try tokens.keep("two", for: [.monitor, .window])
        #expect(tokens.token(for: .monitor) == "one")
        #expect(tokens.token(for: [.window, .monitor]) == "two")
        #expect(tokens.token(for: .window) == nil && tokens.token(for: .virtual) == nil)
        try tokens.keep("new", for: .virtual)
        #expect(tokens.token(for: .virtual) == "new")
        #expect(tokens.path(for: .virtual) == tokens.folder + "/portal-virtual=a.token")
        try tokens.keep("three", for: .monitor)
        #expect(tokens.token(for: .monitor) == "three")
        #expect(tokens.path(for: .monitor) == tokens.folder + "/portal-monitor=a.token")
        #expect(mode(tokens.path(for: .monitor)) == 0o600)
        #expect(mode(tokens.folder) == 0o700 && mode(folder.file("state")) == 0o700)
        // Nothing else is left in the folder.
        unlink(tokens.path(for: .monitor))
        unlink(tokens.path(for: [.monitor, .window]))
        unlink(tokens.path(for: .virtual))
        #expect(rmdir(tokens.folder) == 0)
    }

    @Test("are kept apart for each share and each separate capture, whatever their names are")
    func choices() throws {
        let names = [
            "screen@127.0.0.1:8080", "screen@127.0.0.1:8081", "demo@127.0.0.1:8080", "unix:a.sock", "../a", "..%2Fa",
        ]
        let named = names.map { RestoreTokens(folder: tokens.folder, choice: $0) }
        try tokens.keep("alone", for: .monitor)
        for (name, tokens) in zip(names, named) {
            #expect(tokens.token(for: .monitor) == nil)
            try tokens.keep("of:\(name)", for: .monitor)
        }
        #expect(tokens.token(for: .monitor) == "alone")
        for (name, tokens) in zip(names, named) {
            #expect(tokens.token(for: .monitor) == "of:\(name)" && tokens.token(for: .window) == nil)
            let path = tokens.path(for: .monitor)
            #expect(mode(path) == 0o600)
            // All are in the folder, and none has the name of a room's token.
            let beginning = tokens.folder + "/portal-monitor="
            #expect(path.hasPrefix(beginning) && !path.dropFirst(beginning.count).contains("/"))
        }
        // What is gone isn't replaced by what others have chosen.
        try named[0].keep(nil, for: .monitor)
        #expect(named[0].token(for: .monitor) == nil)
        let found = RestoreTokens(choice: "a") { ["HOME": "/home/me"][$0] }
        #expect(found?.path(for: .virtual) == "/home/me/.local/state/screenrelay/portal-virtual=a.token")
    }

    @Test("a desktop that gives none takes the last one away")
    func removed() throws {
        try tokens.keep(nil, for: .monitor)
        try tokens.keep("one", for: .monitor)
        try tokens.keep(nil, for: .monitor)
        #expect(tokens.token(for: .monitor) == nil)
        #expect(mode(tokens.path(for: .monitor)) == nil)
    }

    @Test("are none if the file has something else, or if others can read it")
    func unusable() throws {
        try tokens.keep("one", for: .monitor)
        let path = tokens.path(for: .monitor)
        chmod(path, 0o644)
        #expect(tokens.token(for: .monitor) == nil)
        let inFolder = RestoreTokens(folder: folder.path, choice: "a")
        for text in ["", "\n", "a b", "a\nb\n", "\u{0}", String(repeating: "a", count: 5000)] {
            try folder.write("portal-window=a.token", Array(text.utf8))
            #expect(inFolder.token(for: .window) == nil)
        }
        try folder.write("portal-window=a.token", Array("good".utf8))
        #expect(inFolder.token(for: .window) == "good")
    }

    @Test("that can't be written are an error, and then nothing is left of the last choice, which was replaced")
    func notWritten() throws {
        try tokens.keep("one", for: .monitor)
        let kept = tokens.path(for: .monitor)
        // The file that is to become it can't be made.
        mkdir("\(kept).\(getpid())", 0o700)
        #expect(throws: PortalError.tokenNotWritten(path: kept, code: EEXIST)) { try tokens.keep("two", for: .monitor) }
        #expect(tokens.token(for: .monitor) == nil && mode(kept) == nil)

        let path = try folder.write("file", [])
        let nowhere = RestoreTokens(folder: path, choice: "a")
        #expect(throws: PortalError.tokenNotWritten(path: path + "/portal-monitor=a.token", code: ENOTDIR)) {
            try nowhere.keep("one", for: .monitor)
        }
    }

    @Test("are in the state folder")
    func place() {
        func folder(_ variables: [String: String]) -> String? {
            RestoreTokens(choice: "a") { variables[$0] }?.folder
        }
        #expect(folder(["HOME": "/home/me"]) == "/home/me/.local/state/screenrelay")
        #expect(folder(["HOME": "/home/me", "XDG_STATE_HOME": "/s"]) == "/s/screenrelay")
        #expect(folder([:]) == nil)
    }
}
