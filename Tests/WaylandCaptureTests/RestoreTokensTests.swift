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
        tokens = RestoreTokens(folder: folder.file("state/screenrelay"))
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
        #expect(tokens.path(for: .virtual) == tokens.folder + "/portal-virtual.token")
        try tokens.keep("three", for: .monitor)
        #expect(tokens.token(for: .monitor) == "three")
        #expect(tokens.path(for: .monitor) == tokens.folder + "/portal-monitor.token")
        #expect(mode(tokens.path(for: .monitor)) == 0o600)
        #expect(mode(tokens.folder) == 0o700 && mode(folder.file("state")) == 0o700)
        // Nothing else is left in the folder.
        unlink(tokens.path(for: .monitor))
        unlink(tokens.path(for: [.monitor, .window]))
        unlink(tokens.path(for: .virtual))
        #expect(rmdir(tokens.folder) == 0)
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
        let inFolder = RestoreTokens(folder: folder.path)
        for text in ["", "\n", "a b", "a\nb\n", "\u{0}", String(repeating: "a", count: 5000)] {
            try folder.write("portal-window.token", Array(text.utf8))
            #expect(inFolder.token(for: .window) == nil)
        }
        try folder.write("portal-window.token", Array("good".utf8))
        #expect(inFolder.token(for: .window) == "good")
    }

    @Test("that can't be written are an error, and the last one stays")
    func notWritten() throws {
        let path = try folder.write("file", [])
        let nowhere = RestoreTokens(folder: path)
        #expect(throws: PortalError.tokenNotWritten(path: path + "/portal-monitor.token", code: ENOTDIR)) {
            try nowhere.keep("one", for: .monitor)
        }
    }

    @Test("are in the state folder")
    func place() {
        let found = RestoreTokens { ["HOME": "/home/me"][$0] }
        #expect(found?.folder == "/home/me/.local/state/screenrelay")
        #expect(RestoreTokens { ["HOME": "/home/me", "XDG_STATE_HOME": "/s"][$0] }?.folder == "/s/screenrelay")
        #expect(RestoreTokens { _ in nil }?.folder == nil)
    }
}
