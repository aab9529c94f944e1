import Glibc
import LinkTransport
import TestSupport
import Testing

/// The error that `body` throws.
func failure<Value>(of body: () throws(SocketError) -> Value) -> SocketError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

extension SocketConnection {
    /// What `receive` finds once there is something.
    ///
    /// An end that was closed is gone a moment later where a parallel test is just starting a child: until that is
    /// another program, it has copies of all our descriptors.
    func received(into buffer: inout [UInt8]) throws -> Received {
        try eventually("bytes, or the end") { () throws -> Received? in
            let received = try receive(into: &buffer)
            return received == .wouldBlock ? nil : received
        }
    }
}

@Suite("link addresses")
struct LinkAddressTests {
    @Test("a descriptor that was to be handed down has to be an open socket")
    func handedDown() throws {
        let pair = try LinkSocketPair()
        try LinkAddress.descriptor(pair.childDescriptor).checkHandedDown()
        try LinkAddress.unix(path: "/nowhere").checkHandedDown()
        func reason(_ number: Int32) -> String {
            let error = failure { () throws(SocketError) in
                try LinkAddress.descriptor(number).checkHandedDown()
            }
            #expect(error?.kind == .usage)
            return error?.description ?? ""
        }
        #expect(reason(1_000_000).contains("not open"))
        let folder = try TemporaryFolder()
        let file = open(folder.path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(reason(file).contains("no socket"))
    }

    @Test("a path and a descriptor are read and written back")
    func valid() throws {
        #expect(try LinkAddress(parsing: "unix:/tmp/a b.sock") == .unix(path: "/tmp/a b.sock"))
        #expect(try LinkAddress(parsing: "fd:3") == .descriptor(3))
        for text in ["unix:/x", "unix:relative", "fd:17"] {
            #expect(try LinkAddress(parsing: text).description == text)
        }
    }

    @Test(
        "what is no address is refused with words that say what would be right",
        arguments: [
            ("", "write unix:PATH, tcp:HOST:PORT, tls:HOST:PORT or fd:NUMBER"),
            ("/tmp/x", "write unix:PATH, tcp:HOST:PORT, tls:HOST:PORT or fd:NUMBER"),
            ("unix:", "a path must follow"), ("fd:", "a descriptor's number"), ("fd:x", "a descriptor's number"),
            ("fd:-1", "a descriptor's number"), ("fd:+3", "a descriptor's number"),
            ("fd:99999999999", "a descriptor's number"), ("fd:1", "the least is fd:3"),
        ])
    func invalid(text: String, hint: String) {
        let error = failure { () throws(SocketError) in try LinkAddress(parsing: text) }
        #expect(error?.description.contains(hint) == true)
        #expect(error?.description.contains("'\(text)'") == true)
        #expect(error?.kind == .usage)
    }

    @Test("a path may have 107 bytes and no more")
    func longest() throws {
        let path = "/" + String(repeating: "a", count: 106)
        #expect(try LinkAddress(parsing: "unix:" + path) == .unix(path: path))
        let error = failure { () throws(SocketError) in try LinkAddress(parsing: "unix:\(path)a") }
        #expect(error == .pathTooLong(path: path + "a", bytes: 108))
        #expect(error?.description.contains("108 bytes; the system allows 107") == true)
        // Bytes count, not characters.
        let accented = failure { () throws(SocketError) in
            try LinkAddress(parsing: "unix:" + String(repeating: "ä", count: 60))
        }
        #expect(accented?.kind == .usage)
    }

    @Test("no text brings the parser down")
    func mutations() {
        var random = SeededRandom(seed: 11)
        for seed in ["unix:/run/user/1000/screenrelay/link.sock", "fd:3"] {
            for _ in 0..<500 {
                let text = String(decoding: random.mutation(of: Array(seed.utf8)), as: UTF8.self)
                _ = try? LinkAddress(parsing: text)
            }
        }
    }
}

@Suite("the folder for sockets")
struct SocketFolderTests {
    private func environment(runtime: String?, temporary: String?, users: String = "/nonexistent")
        -> SocketFolder.Environment
    {
        SocketFolder.Environment(
            runtimeDirectory: runtime, temporaryDirectory: temporary, userDirectories: users, user: geteuid())
    }

    @Test("the runtime directory comes first, then the user's directory, then the temporary one")
    func order() throws {
        let folder = try TemporaryFolder()
        let user = geteuid()
        mkdir("\(folder.path)/\(user)", 0o700)
        #expect(
            SocketFolder(environment: environment(runtime: folder.path, temporary: "/t")).path
                == "\(folder.path)/screenrelay")
        #expect(
            SocketFolder(environment: environment(runtime: "/nonexistent", temporary: "/t", users: folder.path)).path
                == "\(folder.path)/\(user)/screenrelay")
        #expect(
            SocketFolder(environment: environment(runtime: "relative", temporary: "/t")).path
                == "/t/screenrelay-\(user)")
        #expect(SocketFolder(environment: environment(runtime: nil, temporary: nil)).path == "/tmp/screenrelay-\(user)")
    }

    @Test("the folder is made with mode 0700, and found again")
    func made() throws {
        let folder = try TemporaryFolder()
        let sockets = SocketFolder(environment: environment(runtime: folder.path, temporary: nil))
        try sockets.prepare()
        var status = stat()
        #expect(lstat(sockets.path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o700)
        try sockets.prepare()
        #expect(
            LinkAddress.standard(environment: environment(runtime: folder.path, temporary: nil))
                == .unix(path: sockets.path + "/link.sock"))
    }

    @Test("a folder in which others may write, a link and a file are refused and left as they are")
    func unsafe() throws {
        let folder = try TemporaryFolder()
        let sockets = SocketFolder(environment: environment(runtime: folder.path, temporary: nil))
        func refusal() -> String? {
            failure { () throws(SocketError) in try sockets.prepare() }?.description
        }
        mkdir(sockets.path, 0o700)
        chmod(sockets.path, 0o777)
        #expect(refusal()?.contains("other users may write in it") == true)
        var status = stat()
        #expect(lstat(sockets.path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o777)
        rmdir(sockets.path)
        symlink("/tmp", sockets.path)
        #expect(refusal()?.contains("symbolic link") == true)
        unlink(sockets.path)
        close(open(sockets.path, O_CREAT | O_WRONLY, 0o600))
        #expect(refusal()?.contains("it is no folder") == true)
    }

    @Test("another user's folder is refused by both users' numbers")
    func foreign() throws {
        let folder = try TemporaryFolder()
        var other = environment(runtime: nil, temporary: folder.path)
        other.user = geteuid() + 1
        let sockets = SocketFolder(environment: other)
        let error = failure { () throws(SocketError) in try sockets.prepare() }
        #expect(error?.kind == .permission)
        #expect(error?.description.contains("belongs to user \(geteuid()) and we are user \(geteuid() + 1)") == true)
    }

    @Test("a temporary directory that isn't there is named")
    func missing() {
        let sockets = SocketFolder(environment: environment(runtime: nil, temporary: "/nonexistent/tmp"))
        #expect(
            failure { () throws(SocketError) in try sockets.prepare() }
                == .folderMissing(folder: "/nonexistent/tmp"))
    }
}
