import CLinux
import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@Suite("listening")
struct SocketListenerTests {
    private func connect(_ path: String) throws(SocketError) -> SocketConnection {
        try SocketConnection.connect(to: .unix(path: path))
    }

    private func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    @Test("a connection is accepted and carries bytes both ways")
    func accepts() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/link.sock"
        let listener = try SocketListener(path: path)
        #expect(try listener.accept() == nil)
        let client = try connect(path)
        let server = try #require(try listener.accept())
        #expect(try listener.accept() == nil)
        try client.enqueue(header: [1, 2], payload: [3, 4, 5])
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(try server.receive(into: &buffer) == .bytes(5))
        #expect(buffer.prefix(5) == [1, 2, 3, 4, 5])
        #expect(try server.receive(into: &buffer) == .wouldBlock)
        try server.enqueue(header: [9])
        #expect(try client.receive(into: &buffer) == .bytes(1))
        client.close()
        #expect(try server.received(into: &buffer) == .closed)
    }

    @Test("the socket has mode 0600 whatever the umask says, and neither end survives exec")
    func modes() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/link.sock"
        let listener = try SocketListener(path: path)
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o7777 & ~0o600 == 0)
        let client = try connect(path)
        let server = try #require(try listener.accept())
        for number in [listener.descriptor, client.descriptor, server.descriptor] {
            #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
            #expect(fcntl(number, F_GETFL) & O_NONBLOCK != 0)
        }
    }

    @Test("a second host is told that another already listens, and the first goes on")
    func second() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/link.sock"
        let first = try SocketListener(path: path)
        let error = failure { () throws(SocketError) in try SocketListener(path: path) }
        #expect(error == .alreadyListening(path: path))
        #expect(error?.description == "another host already listens on '\(path)'")
        #expect(error?.kind == .unavailable)
        _ = try connect(path)
        // The second host's probe and the client.
        _ = try first.accept()
        #expect(try first.accept() != nil)
    }

    @Test("a socket that a dead host left behind is replaced")
    func stale() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/link.sock"
        let dead = try SocketListener(path: path)
        // What a killed process leaves: the file, with nobody behind it.
        rename(path, path + ".kept")
        dead.close()
        rename(path + ".kept", path)
        // A moment later where a child that is just being started has a copy of the socket.
        let error = try eventually("nobody there") {
            failure { () throws(SocketError) in try connect(path) }
        }
        #expect(error == .notListening(path: path))
        let listener = try SocketListener(path: path)
        _ = try connect(path)
        #expect(try listener.accept() != nil)
    }

    @Test("a lock on the folder that another process holds is waited for a second, and no longer")
    func lockedFolder() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/link.sock"
        let number = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(flock(number, LOCK_EX) == 0)
        let begin = now()
        let error = failure { () throws(SocketError) in try SocketListener(path: path) }
        #expect(error == .folderLocked(folder: folder.path))
        #expect(error?.kind == .unavailable)
        #expect(now() - begin < .seconds(5))
        #expect(!isThere(path))
        close(number)
        _ = try SocketListener(path: path)
    }

    @Test("closing removes the socket, but not one that has taken its place")
    func removal() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/link.sock"
        let first = try SocketListener(path: path)
        first.close()
        first.close()
        #expect(!isThere(path))
        #expect(first.descriptor == -1)
        let second = try SocketListener(path: path)
        unlink(path)
        let third = try SocketListener(path: path)
        second.close()
        #expect(isThere(path))
        _ = try connect(path)
        #expect(try third.accept() != nil)
    }

    @Test("a file in the way, a missing folder and a folder without permission are told apart")
    func refusals() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/file"
        close(open(file, O_CREAT | O_WRONLY, 0o600))
        #expect(failure { () throws(SocketError) in try SocketListener(path: file) } == .notASocket(path: file))
        #expect(isThere(file))
        #expect(failure { () throws(SocketError) in try connect(file) } == .notASocket(path: file))
        let missing = folder.path + "/missing"
        #expect(
            failure { () throws(SocketError) in try SocketListener(path: missing + "/x") }
                == .folderMissing(folder: missing))
        let absent = failure { () throws(SocketError) in try connect(missing + "/x") }
        #expect(absent == .notListening(path: missing + "/x"))
        #expect(absent?.isRetryable == true)
        if geteuid() != 0 {
            let closed = folder.path + "/closed"
            mkdir(closed, 0)
            #expect(
                failure { () throws(SocketError) in try SocketListener(path: closed + "/x") }?.kind == .permission)
            #expect(failure { () throws(SocketError) in try connect(closed + "/x") }?.kind == .permission)
            chmod(closed, 0o700)
        }
    }
}
