import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

@testable import LinkTransport

@Suite("the encrypted link")
struct EncryptedLinkTests {
    let token: LinkToken
    private let other: LinkToken
    let listener: SocketListener

    init() throws {
        token = try #require(LinkToken(Array("a token of some length".utf8)))
        other = try #require(LinkToken(Array("a token of some lengtH".utf8)))
        listener = try SocketListener(at: .tls(host: "127.0.0.1", port: 0), token: token)
    }

    func address(_ port: UInt16? = nil) throws -> LinkAddress {
        .tls(host: "127.0.0.1", port: try port ?? #require(listener.address.network?.port))
    }

    /// Connects both ends; the host's end has `early` to say at once.
    private func ends(through tap: WireTap? = nil, early: [UInt8] = []) throws -> (SocketConnection, SocketConnection) {
        let dial = try LinkDial(to: address(tap?.port), token: token)
        var host: SocketConnection?
        var capture: SocketConnection?
        try eventually("the handshake") {
            try tap?.pump()
            if host == nil {
                host = try listener.accept()
                if !early.isEmpty { try host?.enqueue(header: early) }
            }
            let isDone = try host?.handshake() == .done
            capture = try dial.advance()
            return isDone && capture != nil
        }
        return (try #require(capture), try #require(host))
    }

    /// Reads what arrives until `condition` holds of all of it.
    private func read(
        _ connection: SocketConnection, size: Int = 64 << 10, while pump: () throws -> Void = {},
        until condition: ([UInt8]) -> Bool
    ) throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: size)
        try eventually("what was sent") {
            try pump()
            while case .bytes(let count) = try connection.receive(into: &buffer) { all += buffer[..<count] }
            return condition(all)
        }
        return all
    }

    @Test("its addresses are read and written back")
    func addresses() throws {
        for text in ["tls:127.0.0.1:7300", "tls:[::1]:0", "tls:desk.example.org:65535"] {
            #expect(try LinkAddress(parsing: text).description == text)
        }
        #expect(try LinkAddress(parsing: "tls:7300") == .tls(host: "127.0.0.1", port: 7300))
        let error = failure { () throws(SocketError) in try LinkAddress(parsing: "tls:host") }
        #expect(error?.description.contains("for example tls:127.0.0.1:7300") == true)
    }

    @Test("bytes arrive whole and in order both ways, and what the peer doesn't take waits", arguments: [100, 65_536])
    func carries(size: Int) throws {
        let (capture, host) = try ends()
        #expect(capture.remote == "127.0.0.1" && host.remote == "127.0.0.1")
        for (from, to) in [(capture, host), (host, capture)] {
            let big = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            try from.enqueue(header: [0xAA], payload: big)
            // The other way, the kernel takes more than that.
            if from === capture { #expect(from.hasPending && from.wantsWrite) }
            try from.enqueue(header: [0xBB], payload: [1, 2, 3])
            let expected = [0xAA] + big + [0xBB, 1, 2, 3]
            let got = try read(to, size: size, while: { try from.flush() }, until: { $0.count >= expected.count })
            #expect(got == expected)
            #expect(!from.hasPending && from.pendingBytes == 0)
        }
        capture.close()
        var buffer = [UInt8](repeating: 0, count: 100)
        try eventually("the end", holds: { try host.receive(into: &buffer) == .closed })
        let writing = try eventually("that writing fails") {
            failure { () throws(SocketError) in try host.enqueue(header: [1]) }
        }
        #expect(writing == .closed && host.isClosed)
    }

    @Test("what a host says before the handshake waits for it, without keeping poll(2) awake")
    func early() throws {
        let dial = try LinkDial(to: address(), token: token)
        let waiting = try eventually("the connection") { try listener.accept() }
        try waiting.enqueue(header: [7])
        #expect(waiting.hasPending && !waiting.wantsWrite)
        waiting.close()
        withExtendedLifetime(dial) {}
        let (capture, host) = try ends(early: [1, 2, 3])
        #expect(try read(capture, while: { try host.flush() }, until: { $0.count == 3 }) == [1, 2, 3])
    }

    @Test("nobody who listens sees what is sent, as without encryption", arguments: [true, false])
    func observed(isEncrypted: Bool) throws {
        let plain = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
        let tap = try WireTap(to: #require((isEncrypted ? listener : plain).address.network?.port))
        let capture: SocketConnection
        let host: SocketConnection
        if isEncrypted {
            (capture, host) = try ends(through: tap)
        } else {
            capture = try SocketConnection.connect(to: .tcp(host: "127.0.0.1", port: tap.port))
            host = try eventually("the connection") {
                try tap.pump()
                return try plain.accept()
            }
        }
        let secret = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 5) }
        try capture.enqueue(header: [0, 0, 0, 1], payload: secret)
        try host.enqueue(header: secret)
        #expect(try read(host, while: tap.pump, until: { $0.count == 68 }) == [0, 0, 0, 1] + secret)
        #expect(try read(capture, while: tap.pump, until: { $0.count == 64 }) == secret)
        #expect(tap.seen.count >= 132)
        #expect(tap.seen.contains(inside: secret) != isEncrypted)
        #expect(!tap.seen.contains(inside: token.bytes))
    }

    @Test("a handshake that arrives byte by byte is one")
    func drip() throws {
        let tap = try WireTap(to: #require(listener.address.network?.port))
        tap.step = 1
        let (capture, host) = try ends(through: tap)
        try capture.enqueue(header: [1, 2, 3])
        #expect(try read(host, while: tap.pump, until: { $0.count == 3 }) == [1, 2, 3])
    }

    @Test("what is changed on its way is an error, and never read")
    func changed() throws {
        let tap = try WireTap(to: #require(listener.address.network?.port))
        let (capture, host) = try ends(through: tap)
        // Whatever is still under way of the handshake arrives as it is.
        try capture.enqueue(header: [1])
        #expect(try read(host, while: tap.pump, until: { !$0.isEmpty }) == [1])
        tap.change = { $0[$0.count - 1] ^= 1 }
        try capture.enqueue(header: [2, 3])
        var buffer = [UInt8](repeating: 0, count: SocketConnection.minBuffer)
        let error = try eventually("the error") { () throws -> SocketError? in
            try tap.pump()
            return failure { () throws(SocketError) in
                let received = try host.receive(into: &buffer)
                #expect(received == .wouldBlock)
            }
        }
        guard case .encryption = error else {
            Issue.record("\(error)")
            return
        }
    }

    /// How a dial ends that gets no connection, and what the host makes of it.
    private func refusal(_ dial: LinkDial) throws -> (capture: SocketError, host: SocketError?) {
        var host: SocketConnection?
        var said: SocketError?
        var buffer = [UInt8](repeating: 0, count: 100)
        let error = try eventually("the refusal", within: .seconds(5)) { () throws -> SocketError? in
            if host == nil { host = try listener.accept() }
            if let open = host, said == nil {
                said = failure { () throws(SocketError) in _ = try open.receive(into: &buffer) }
                if said != nil { open.close() }
            }
            return failure { () throws(SocketError) in
                let connection = try dial.advance()
                #expect(connection == nil)
            }
        }
        return (error, said)
    }

    @Test("with another token both ends say so, for good, and without one neither begins")
    func tokens() throws {
        let (capture, host) = try refusal(LinkDial(to: address(), token: other))
        #expect(capture == .tokenRefused(text: "the host there doesn't have the same --capture-key file"))
        #expect(capture.kind == .permission && !capture.isRetryable)
        #expect(host?.description == "127.0.0.1 is refused: it has not proved that it has the capture key")
        let place = try address()
        let dialling = failure { () throws(SocketError) in try LinkDial(to: place) }
        #expect(dialling == .tokenRequired(address: "\(place)"))
        #expect(dialling?.description.contains("--capture-key FILE") == true)
        let listening = failure { () throws(SocketError) in
            try SocketListener(at: .tls(host: "127.0.0.1", port: 0), token: nil)
        }
        #expect(listening == .tokenRequired(address: "tls:127.0.0.1:0"))
    }

    @Test(
        "what is no handshake is refused, however it goes on",
        arguments: [
            ([], "GET / HTTP/1.1\r\n\r\n"), ([0x26], "&&&&&&&&&&&&&&&&&&"), ([0x16, 3, 1, 0xFF, 0xFF], "too long"),
            ([0x16, 3, 1, 0, 4, 1, 0xFF, 0xFF, 0xFF], ""),
        ])
    func garbage(start: [UInt8], text: String) throws {
        let bytes = start + Array(text.utf8)
        let stranger = try SocketConnection.connect(
            to: .tcp(host: "127.0.0.1", port: #require(address().network?.port)))
        let host = try eventually("it") { try listener.accept() }
        try stranger.enqueue(header: bytes)
        var buffer = [UInt8](repeating: 0, count: SocketConnection.minBuffer)
        var error: SocketError?
        var isEnded = false
        // The last of them is only the beginning of a message, which is waited for.
        let isWhole = !text.isEmpty
        if !isWhole { stranger.close() }
        try eventually("its end") {
            error = failure { () throws(SocketError) in
                switch try host.receive(into: &buffer) {
                case .bytes: Issue.record("bytes of a stranger")
                case .closed: isEnded = true
                case .wouldBlock: break
                }
            }
            return error != nil || isEnded
        }
        #expect(isWhole ? error?.kind == .permission : isEnded || error != nil)
    }

    @Test(
        "a host that has a certificate instead of the token is none",
        .enabled(if: ProgramLookup.path(of: "openssl") != nil))
    func certificate() throws {
        let folder = try TemporaryFolder()
        let (key, certificate) = (folder.file("key"), folder.file("certificate"))
        var making = Launch(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=host",
                "-keyout", key, "-out", certificate,
            ])
        making.standardError = .text(limit: 10_000)
        let made = try ChildProcess.run(making, within: .seconds(90))
        try #require(made.status == .exited(0), "\(made.errorOutput)")
        let port = try freePort()
        var serving = Launch(
            "openssl", ["s_server", "-accept", "127.0.0.1:\(port)", "-tls1_3", "-cert", certificate, "-key", key])
        serving.standardInput = .pipe
        serving.standardOutput = .text(limit: 100_000)
        serving.standardError = .text(limit: 100_000)
        let server = try ChildProcess(serving)
        defer { server.stop(within: .zero) }
        try eventually("the server") { server.output?.text.contains("ACCEPT") == true }
        let error = try eventually("the refusal") { () throws -> SocketError? in
            failure { () throws(SocketError) in
                try SocketConnection.connect(to: .tls(host: "127.0.0.1", port: port), token: token)
            }
        }
        #expect(error.kind == .permission, "\(error)")
    }
}
