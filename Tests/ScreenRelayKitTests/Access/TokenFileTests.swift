import Glibc
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

@Suite("A token in a file")
struct TokenFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("is drawn once, kept for this user alone, and the same after every start")
    func kept() throws {
        let file = TokenFile(path: folder.file("token"))
        let token = try file.token()
        #expect(token.utf8.count == 22)
        #expect(try file.token() == token)
        #expect(try fileBytes(file.path) == Array((token + "\n").utf8))
        var status = stat()
        #expect(stat(file.path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(try folder.names() == ["token"])
    }

    @Test("is drawn anew where that is asked for")
    func new() throws {
        let file = TokenFile(path: folder.file("token"))
        let token = try file.token()
        let next = try file.token(isNew: true)
        #expect(next != token)
        #expect(try file.token() == next)
    }

    @Test("is the same for hosts that start at once, and nothing else is left in the folder")
    func together() throws {
        let file = TokenFile(path: folder.file("token"))
        for _ in 0..<20 {
            let found = try atOnce(6) { (try? file.token()) ?? "none" }
            let kept = try file.token()
            #expect(found == [String](repeating: kept, count: 6))
            #expect(try folder.names() == ["token"])
            unlink(file.path)
        }
    }

    @Test("may be one that somebody has written, with or without a line's end")
    func written() throws {
        for text in ["abcdefghijklmnop", "abcdefghijklmnop\n", "abcdefghijklmnop\r\n"] {
            #expect(try TokenFile(path: folder.write("token", Array(text.utf8))).token() == "abcdefghijklmnop")
        }
    }

    @Test(
        "is refused where it is none",
        arguments: ["", "\n", "short", "abcdefghijklmnop,", "two lines\nof sixteen-and-more"])
    func none(text: String) throws {
        let path = try folder.write("token", Array(text.utf8))
        #expect(throws: TokenFileError.notAToken(path: path)) { try TokenFile(path: path).token() }
        try folder.write("token", [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 16))
        #expect(throws: TokenFileError.notAToken(path: path)) { try TokenFile(path: path).token() }
        #expect(try TokenFile(path: path).token(isNew: true).utf8.count == 22)
    }

    @Test("is read again into a configuration; one that is no good any more stays as it was")
    func again() throws {
        let first = TokenFile(path: try folder.write("first", Array("first-token-of-16".utf8)))
        let second = TokenFile(path: try folder.write("second", Array("second-token-of-16".utf8)))
        var configuration = HostConfiguration()
        let unkept = configuration.token
        configuration.presentingTokenFile = first
        configuration.furtherRooms = [HostRoom(name: "attic", token: "attic-token")]
        configuration.furtherRooms[0].tokenFile = second
        configuration.administration = Administration(token: "master", allowsNetwork: true, tokenFile: first.path)
        let all = configuration.readTokens()
        #expect(all.count == 3 && all.errors.isEmpty)
        #expect(configuration.token == unkept && configuration.presentingToken == "first-token-of-16")
        #expect(configuration.furtherRooms[0].token == "second-token-of-16")
        #expect(configuration.administration?.token == "first-token-of-16")
        #expect(configuration.administration?.allowsNetwork == true)
        unlink(first.path)
        try folder.write("second", Array("short".utf8))
        let missing = TokenFileError.notReadable(path: first.path, errno: ENOENT)
        let none = configuration.readTokens()
        #expect(none.count == 0)
        #expect(none.errors == [missing, .notAToken(path: second.path), missing])
        #expect(configuration.furtherRooms[0].token == "second-token-of-16")
        #expect(configuration.administration?.token == "first-token-of-16")
        #expect(try folder.names() == ["second"])
    }

    @Test("is refused where others can read it, and where it is no file")
    func others() throws {
        let path = try folder.write("token", Array("abcdefghijklmnop".utf8))
        for mode: mode_t in [0o640, 0o604, 0o660] {
            chmod(path, mode)
            #expect(throws: TokenFileError.notPrivate(path: path)) { try TokenFile(path: path).token() }
        }
        #expect(throws: TokenFileError.notAFile(path: folder.path)) { try TokenFile(path: folder.path).token() }
        let missing = folder.path + "/nowhere/token"
        #expect(throws: TokenFileError.notWritable(path: missing, errno: ENOENT)) {
            try TokenFile(path: missing).token()
        }
        #expect(try TokenFile(path: missing).token(makesFolders: true).utf8.count == 22)
    }

    @Test("is in the user's state folder, by the room and the address; not where the port may be any")
    func place() throws {
        func path(_ room: String, _ listen: [String], _ variables: [String: String]) -> String? {
            TokenFile(room: room, listen: listen) { variables[$0] }?.path
        }
        let home = ["HOME": "/home/me"]
        #expect(
            path("screen", ["127.0.0.1:8080"], home)
                == "/home/me/.local/state/screenrelay/screen@127.0.0.1:8080.token")
        #expect(
            path("a", ["[::]:1"], ["HOME": "/home/me", "XDG_STATE_HOME": "/s"]) == "/s/screenrelay/a@[::]:1.token")
        #expect(path("a", ["[fe80::1%x/../y]:1"], home)?.split(separator: "/").count == 6)
        let administration = TokenFile(administrationOf: ["127.0.0.1:8080"]) { home[$0] }
        #expect(administration?.path == "/home/me/.local/state/screenrelay/api-127.0.0.1:8080.token")
        #expect(path("a", ["127.0.0.1:0"], home) == nil)
        #expect(path("a", ["127.0.0.1:1"], [:]) == nil)
        #expect(path("a", ["127.0.0.1:1"], ["XDG_STATE_HOME": "here"]) == nil)
    }
}

extension TemporaryFolder {
    /// What is in it.
    fileprivate func names() throws -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
