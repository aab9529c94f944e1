import CLinux
import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@Suite("the link over TCP")
struct TCPTests {
    @Test("addresses of TCP are read and written back, and without a host they are of this machine")
    func addresses() throws {
        for text in ["tcp:127.0.0.1:7300", "tcp:[::1]:0", "tcp:[fe80::1%eth0]:9", "tcp:desk.example.org:65535"] {
            #expect(try LinkAddress(parsing: text).description == text)
        }
        #expect(try LinkAddress(parsing: "tcp:[::1]:80") == .tcp(host: "::1", port: 80))
        #expect(try LinkAddress(parsing: "tcp:7300") == .tcp(host: "127.0.0.1", port: 7300))
    }

    @Test(
        "what is no address of TCP is refused with words that say what would be right",
        arguments: [
            ("tcp:", "a port of 0 to 65535"), ("tcp:host", "a port of 0 to 65535"),
            ("tcp:host:", "a port of 0 to 65535"),
            ("tcp:host:65536", "a port of 0 to 65535"), ("tcp:host:-1", "a port of 0 to 65535"),
            ("tcp::7300", "a name or an address"), ("tcp:[]:7300", "a name or an address"),
            ("tcp:a b:7300", "a name or an address"), ("tcp:::1:7300", "in brackets"),
        ])
    func invalid(text: String, hint: String) {
        let error = failure { () throws(SocketError) in try LinkAddress(parsing: text) }
        #expect(error?.description.contains(hint) == true, "\(error?.description ?? "taken")")
        #expect(error?.kind == .usage)
    }

    @Test("no text brings the parser down")
    func mutations() {
        var random = SeededRandom(seed: 12)
        for _ in 0..<1000 {
            let text = String(decoding: random.mutation(of: Array("tcp:[2001:db8::7]:7300".utf8)), as: UTF8.self)
            _ = try? LinkAddress(parsing: text)
        }
    }

    @Test(
        "a connection carries bytes both ways, at once and with an end in bounded time",
        arguments: ["127.0.0.1", "localhost", "::1"])
    func carries(host: String) throws {
        if host == "::1", access("/proc/self/net/if_inet6", F_OK) != 0 { return }
        let listener = try SocketListener(at: .tcp(host: host, port: 0))
        guard case .tcp(host, let port) = listener.address, port != 0 else {
            Issue.record("\(listener.address)")
            return
        }
        let client = try SocketConnection.connect(to: listener.address)
        let server = try eventually("the connection") { try listener.accept() }
        #expect(client.remote == server.remote)
        #expect(client.remote == "::1" || client.remote == "127.0.0.1")
        try client.enqueue(header: [1, 2], payload: [3])
        var buffer = [UInt8](repeating: 0, count: 16)
        let received = try eventually("the bytes") { () throws(SocketError) in
            let received = try server.receive(into: &buffer)
            return received == .wouldBlock ? nil : received
        }
        #expect(received == .bytes(3))
        try server.enqueue(header: [9])
        for (end, timeout) in [(client, Int32(75_000)), (server, 15_000)] {
            #expect(option(end, shim_TCP_NODELAY) == 1)
            #expect(option(end, shim_TCP_KEEPIDLE) == 5)
            #expect(option(end, shim_TCP_USER_TIMEOUT) == timeout)
            #expect(fcntl(end.descriptor, F_GETFD) & FD_CLOEXEC != 0)
            #expect(fcntl(end.descriptor, F_GETFL) & O_NONBLOCK != 0)
        }
    }

    @Test("a peer that reads nothing is sent no more than is under way to one that does, and all of it arrives later")
    func unread() throws {
        let listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        let client = try SocketConnection.connect(to: listener.address)
        let server = try eventually("the connection") { try listener.accept() }
        let message = (0..<16_384).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var (sent, received) = (0, 0)
        func read() throws {
            while case .bytes(let count) = try server.receive(into: &buffer) { received += count }
        }
        // The kernel lets the buffers of a connection that carries much grow.
        while sent < 64 << 20 {
            if try client.flush() {
                try client.enqueue(header: message)
                sent += message.count
            }
            try read()
        }
        try eventually("what was sent") {
            try read()
            return try client.flush() && received == sent ? () : nil
        }
        let before = sent
        var room = pollfd(fd: client.descriptor, events: Int16(POLLOUT), revents: 0)
        while poll(&room, 1, 300) > 0 {
            guard try client.flush() else { continue }
            try client.enqueue(header: message)
            sent += message.count
        }
        let taken = sent - before - client.pendingBytes
        print("\(taken) bytes taken of a peer that doesn't read")
        // The window, which over the loopback interface is all of the buffer, and what is not yet sent.
        #expect(taken < (1280 + 64 + 192) << 10, "\(taken)")
        try eventually("the rest") {
            try read()
            return try client.flush() && received == sent ? () : nil
        }
    }

    private func option(_ connection: SocketConnection, _ name: Int32) -> Int32 {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(connection.descriptor, Int32(IPPROTO_TCP), name, &value, &length)
        return value
    }

    @Test("a port where nobody listens is worth another try, and is not taken for our own end")
    func nobody() throws {
        let listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        let address = listener.address
        listener.close()
        // A moment later where a child that is just being started has a copy of the socket.
        try eventually(
            "the port's end",
            holds: { failure { () throws(SocketError) in try SocketConnection.connect(to: address) } != nil })
        for _ in 0..<200 {
            let error = failure { () throws(SocketError) in try SocketConnection.connect(to: address) }
            #expect(error == .unreachable(address: "\(address)", code: ECONNREFUSED))
            #expect(error?.isRetryable == true)
        }
        let error = failure { () throws(SocketError) in try SocketConnection.connect(to: address) }
        #expect(error?.description == "no host listens on '\(address)'")
    }

    @Test("a port that is taken, an address that is not ours and a name that isn't one are told apart")
    func refusals() throws {
        let listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        let taken = failure { () throws(SocketError) in try SocketListener(at: listener.address) }
        #expect(taken == .portTaken(address: "\(listener.address)"))
        let elsewhere = failure { () throws(SocketError) in
            try SocketListener(at: .tcp(host: "192.0.2.7", port: 0), hasToken: true)
        }
        #expect(elsewhere?.kind == .usage)
        #expect(elsewhere?.description.contains("is not an address of this machine") == true)
        let name = failure { () throws(SocketError) in
            try SocketConnection.connect(to: .tcp(host: "no such name.invalid", port: 7))
        }
        #expect(name?.description.contains("the name 'no such name.invalid' has no address") == true)
    }

    @Test(
        "beyond this machine nothing is listened at or connected to without a token",
        arguments: ["0.0.0.0", "::", "192.0.2.7", "::ffff:192.0.2.7"])
    func withoutToken(host: String) throws {
        let address = LinkAddress.tcp(host: host, port: 7301)
        let listening = failure { () throws(SocketError) in try SocketListener(at: address) }
        #expect(listening == .tokenRequired(address: "\(address)"))
        let connecting = failure { () throws(SocketError) in try LinkDial(to: address) }
        #expect(connecting == .tokenRequired(address: "\(address)"))
        #expect(connecting?.kind == .usage)
        #expect(connecting?.description.contains("--capture-key") == true)
    }

    @Test("with a token it listens on all addresses, and on a machine's own ones in other clothes without")
    func everywhere() throws {
        let listener = try SocketListener(at: .tcp(host: "0.0.0.0", port: 0), hasToken: true)
        guard case .tcp(_, let port) = listener.address else { return }
        _ = try SocketConnection.connect(to: .tcp(host: "127.3.2.1", port: port))
        #expect(try eventually("it") { try listener.accept() }.remote == "127.0.0.1")
        _ = try SocketConnection.connect(to: .tcp(host: "::ffff:127.0.0.1", port: port))
    }

    @Test("a connection to one who doesn't answer is not waited for")
    func unanswered() throws {
        // A listener whose queue is full: the kernel lets further ones wait.
        let listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        var waiting: [SocketConnection] = []
        while information(listener.descriptor).tcpi_unacked <= information(listener.descriptor).tcpi_sacked {
            waiting.append(try SocketConnection.connect(to: listener.address))
            try eventually(
                "it in the queue", holds: { Int(information(listener.descriptor).tcpi_unacked) == waiting.count })
        }
        #expect(waiting.count > 100)
        let begin = now()
        let open = try LinkDial(to: listener.address)
        #expect(open.descriptor >= 0)
        #expect(open.deadline > begin)
        for _ in 0..<3 { #expect(try open.advance() == nil) }
        // Nobody has answered yet: that was not waited for.
        #expect(information(open.descriptor).tcpi_state == UInt8(TCP_SYN_SENT))
        while try listener.accept() != nil {}
        _ = try eventually("its turn", within: .seconds(5)) { try open.advance() }
    }

    /// What the kernel tells of a socket (tcp(7)). Of a listener `tcpi_unacked` is how many wait to be accepted, and
    /// `tcpi_sacked` the number beyond which it answers nobody.
    private func information(_ descriptor: Int32) -> tcp_info {
        var told = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &told, &length)
        return told
    }
}

@Suite("the link's token")
struct LinkTokenTests {
    private func token(_ bytes: [UInt8], mode: mode_t = 0o600) throws -> Result<[UInt8], SocketError> {
        let folder = try TemporaryFolder()
        let path = folder.file("token")
        try folder.write("token", bytes)
        chmod(path, mode)
        do throws(SocketError) {
            return .success(try LinkToken(file: path).bytes)
        } catch {
            return .failure(error)
        }
    }

    private func reason(_ result: Result<[UInt8], SocketError>) -> String {
        if case .failure(let error) = result { error.description } else { "" }
    }

    @Test("is what stands in the file, without the end of its line")
    func content() throws {
        let secret = Array("sixteen bytes...".utf8)
        #expect(try token(secret).get() == secret)
        #expect(try token(secret + [10]).get() == secret)
        #expect(try token(secret + [13, 10]).get() == secret)
        #expect(try token([10] + secret + [10, 10]).get() == [10] + secret + [10])
        let long = [UInt8](repeating: 7, count: 4096)
        #expect(try token(long + [10]).get() == long)
    }

    @Test("has 16 to 4096 bytes")
    func lengths() throws {
        #expect(reason(try token([UInt8](repeating: 1, count: 15))).contains("at least 16 bytes, and this one 15"))
        #expect(reason(try token([UInt8](repeating: 1, count: 15) + [10])).contains("at least 16 bytes"))
        #expect(reason(try token([])).contains("at least 16 bytes"))
        #expect(reason(try token([UInt8](repeating: 1, count: 4097))).contains("at most 4096 bytes"))
        #expect(reason(try token([UInt8](repeating: 1, count: 100_000))).contains("at most 4096 bytes"))
    }

    @Test(
        "may be a credential of systemd's, which shows a right of root's group, but only in the folder of these",
        .enabled(if: geteuid() == 0))
    func credential() throws {
        let folder = try TemporaryFolder()
        let secret = Array("sixteen bytes...".utf8)
        let path = try folder.write("key", secret)
        chmod(path, 0o440)
        #expect(try SmallFile(secret: path, limit: 100, credentials: folder.path).bytes == secret)
        for other in [nil, folder.path + "/other", String(folder.path.dropLast())] as [String?] {
            #expect(throws: SmallFileError.openToOthers) {
                try SmallFile(secret: path, limit: 100, credentials: other)
            }
        }
    }

    @Test("is not taken from a file that others may read, nor from what is no file")
    func unsafe() throws {
        let secret = Array("sixteen bytes...".utf8)
        for mode in [0o644, 0o640, 0o604, 0o602] as [mode_t] {
            let result = try token(secret, mode: mode)
            #expect(reason(result).contains("run chmod 600"))
            if case .failure(let error) = result { #expect(error.kind == .permission) }
        }
        let folder = try TemporaryFolder()
        func problem(_ path: String) -> SocketError? {
            failure { () throws(SocketError) in try LinkToken(file: path) }
        }
        #expect(problem(folder.path)?.description.contains("no regular file") == true)
        mkfifo(folder.file("fifo"), 0o600)
        #expect(problem(folder.file("fifo"))?.description.contains("no regular file") == true)
        #expect(problem(folder.file("missing"))?.kind == .missing)
        #expect(problem("/dev/zero")?.description.contains("no regular file") == true)
        try folder.write("foreign", secret)
        chmod(folder.file("foreign"), 0o600)
        if geteuid() == 0, chown(folder.file("foreign"), 65_534, 65_534) == 0 {
            #expect(problem(folder.file("foreign"))?.description.contains("it belongs to user 65534") == true)
        }
    }

    @Test("isn't made of a few bytes")
    func tooShort() {
        #expect(LinkToken([1, 2]) == nil)
    }
}
