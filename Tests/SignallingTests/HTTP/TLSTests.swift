import Foundation
import Glibc
import MediaTypes
import Processes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

/// A server with TLS, and `curl`, which believes its certificate.
@Suite("HTTPS", .enabled(if: ProgramLookup.path(of: "curl") != nil && ProgramLookup.path(of: "openssl") != nil))
struct TLSTests {
    private struct Answer {
        let status: Int
        let body: String
        let exitCode: ProcessStatus?
    }

    private func server(_ change: (inout SignallingConfiguration) -> Void = { _ in }) throws -> RunningServer {
        let certificate = try TLSCertificate(pem: TestCertificate.pem, names: TestCertificate.names)
        return try RunningServer {
            $0.tls = certificate
            change(&$0)
        }
    }

    private func curl(_ port: UInt16, _ path: String, _ options: [String] = []) throws -> Answer {
        let folder = try TemporaryFolder()
        try folder.write("ca.pem", Array(TestCertificate.certificate.utf8))
        var launch = Launch(
            "curl",
            ["--silent", "--max-time", "10", "--cacert", folder.file("ca.pem"), "--write-out", "\n%{http_code}"]
                + options
                + ["https://localhost:\(port)\(path)"])
        launch.standardOutput = .text(limit: 1 << 20)
        let (status, output, _) = try ChildProcess.run(launch, within: .seconds(15))
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        return Answer(
            status: Int(lines.last ?? "") ?? 0, body: lines.dropLast().joined(separator: "\n"), exitCode: status)
    }

    @Test("the page, players and errors come over TLS as they do without")
    func requests() throws {
        let server = try server()
        let page = try curl(server.port, "/", ["--include"])
        #expect(page.status == 200)
        #expect(page.body.lowercased().contains("strict-transport-security: max-age=2592000"))
        #expect(page.body.contains("<title>"))
        #expect(try curl(server.port, "/healthz").status == 204)
        #expect(try curl(server.port, "/whep/desk").status == 401)
        let offer = ["-H", "Authorization: Bearer secret", "-H", "Content-Type: application/sdp"]
        let opened = try curl(server.port, "/whep/desk", offer + ["--data-binary", "v=0"])
        #expect(opened.status == 201)
        #expect(opened.body.hasPrefix("v=0\r\ns=answer"))
        let large = try curl(
            server.port, "/whep/desk",
            offer + ["-H", "Expect:", "--data-binary", String(repeating: "v", count: 70_000)])
        #expect(large.status == 413)
    }

    @Test("the certificate's names are names of the server, and others aren't")
    func names() throws {
        let server = try server()
        #expect(try curl(server.port, "/healthz", ["-H", "Host: share.example.org"]).status == 204)
        #expect(try curl(server.port, "/healthz", ["-H", "Host: other.example.org"]).status == 421)
    }

    @Test("a WebSocket over TLS works both ways")
    func webSocket() throws {
        let server = try server()
        let client = try SecureClient(port: server.port)
        try client.join(server.port)
        try client.send(WebSocketClient.frame(8, [0x03, 0xE8]))
        try client.waitForEnd()
    }

    @Test("what a client reads late over TLS comes whole, and one that doesn't read is dropped and holds nobody up")
    func slowReader() throws {
        // The kernel takes some MiB for a client that doesn't read; what it doesn't take waits with us.
        let server = try server { $0.limits.unread = 12 << 20 }
        let reader = try SecureClient(port: server.port)
        try reader.join(server.port, role: "viewer")
        func countOfX() -> Int { reader.text.utf8.count { $0 == UInt8(ascii: "x") } }
        let before = countOfX()
        let words = String(repeating: "x", count: 400_000)
        func announce(_ number: Int) {
            server.server.announce(.gone(since: .zero, reason: "\(number) \(words)"), room: "desk")
        }
        reader.freeze()
        /// Waits until the server's thread has carried out all earlier calls.
        func settle() throws {
            let isDone = Mutex(false)
            server.server.describe { _ in isDone.withLock { $0 = true } }
            try eventually("all to be announced") { isDone.withLock { $0 } }
        }
        for number in 0..<26 { announce(number) }
        try settle()
        reader.thaw()
        try eventually("all of it to come") { countOfX() == before + 26 * words.utf8.count }

        reader.freeze()
        for number in 26..<126 where server.server.audience(of: "desk").members == 1 {
            announce(number)
            try settle()
        }
        try eventually("the reader to be dropped") { server.server.audience(of: "desk").members == 0 }
        let clock = ContinuousClock()
        let dropped = clock.now
        #expect(try curl(server.port, "/healthz").status == 204)
        // Nobody waits for the dropped one to read what TLS has to say at the end.
        #expect(clock.now - dropped < .seconds(8))
    }

    @Test("only TLS 1.2 and later is spoken")
    func versions() throws {
        let server = try server()
        for (option, isSpoken) in [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)] {
            let client = try SecureClient(port: server.port, [option, "-cipher", "DEFAULT@SECLEVEL=0"])
            // Not even sent where the other side is gone by then.
            try? client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            try client.waitForEnd()
            #expect(client.text.contains("204") == isSpoken, "\(option): \(client.text)")
        }
    }

    @Test("who speaks HTTP without TLS is told so")
    func plain() throws {
        let server = try server()
        let answer = try TestSocket(port: server.port).request("GET", "/")
        #expect(answer.status == 400)
        #expect(answer.text == "this port is only for https://.\n")
    }

    @Test("handshakes that don't go on are cut off, and hold nobody up")
    func slowHandshakes() throws {
        let server = try server {
            $0.limits.handshakeTime = .milliseconds(800)
            $0.limits.handshakes = 40
        }
        // Nothing said; half a record; garbage that begins like one.
        let clients = try (0..<60).map { number in
            let client = try TestSocket(port: server.port)
            if number % 3 == 1 { try client.send([0x16, 3, 1, 2, 0, 1]) }
            if number % 3 == 2 { try client.send([0x16] + [UInt8](repeating: 0x5A, count: 100)) }
            return client
        }
        // On a busy machine this one's own handshake may take too long as well.
        try eventually("an answer beside them") { try curl(server.port, "/healthz").status == 204 }
        for client in clients { try client.waitForEnd() }
        try eventually("an answer after them") { try curl(server.port, "/healthz").status == 204 }
    }

    /// A ClientHello of TLS 1.2 for a certificate with a key on P-256, which a server answers with a record of a
    /// handshake (RFC 5246 section 7.4.1.2).
    private static let hello: [UInt8] = {
        let extensions: [UInt8] = [0, 10, 0, 4, 0, 2, 0, 23, 0, 11, 0, 2, 1, 0, 0, 13, 0, 4, 0, 2, 4, 3]
        var body: [UInt8] = [3, 3] + [UInt8](repeating: 7, count: 32) + [0, 0, 2, 0xC0, 0x2B, 1, 0]
        body += [0, UInt8(extensions.count)] + extensions
        return [22, 3, 1, 0, UInt8(body.count + 4), 1, 0, 0, UInt8(body.count)] + body
    }()

    @Test("a handshake's time begins with its turn, however long it has waited for that")
    func waitingForTurn() throws {
        let server = try server {
            $0.limits.handshakeTime = .seconds(2)
            $0.limits.handshakes = 1
        }
        let half: [UInt8] = [22, 3, 1, 2, 0, 1]
        let first = try TestSocket(port: server.port)
        try first.send(half)
        let client = try TestSocket(port: server.port)
        poll(nil, 0, 1000)
        let second = try TestSocket(port: server.port)
        try second.send(half)
        poll(nil, 0, 100)
        try client.send(Self.hello)
        // The other two have 2 s each.
        #expect(try client.take(1) == [22])
        withExtendedLifetime((first, second)) {}
    }

    @Test("a server ends while clients shake hands, read nothing, or are idle")
    func ending() throws {
        let server = try server()
        let silent = try TestSocket(port: server.port)
        let half = try TestSocket(port: server.port)
        try half.send([0x16, 3, 1, 2, 0, 1])
        let idle = try SecureClient(port: server.port)
        try idle.join(server.port)
        let clock = ContinuousClock()
        let time = clock.measure { server.server.stop() }
        #expect(time < .seconds(2))
        try silent.waitForEnd()
        try idle.waitForEnd()
        withExtendedLifetime(half) {}
    }

    @Test("another certificate is shown to who comes after it, and who is there stays")
    func replaced() throws {
        let server = try server()
        let client = try SecureClient(port: server.port)
        try client.join(server.port)
        let other = try otherCertificate()
        server.server.use(other)
        try eventually("the other certificate") {
            // The first is not believed any more.
            try curl(server.port, "/healthz").status == 0
        }
        try client.send(WebSocketClient.frame(9, Array("still here".utf8)))
        try client.waitFor("still here")
    }

    @Test("what is no certificate, or has no key, is refused in words")
    func unusable() {
        for pem in ["", "garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            do {
                _ = try TLSCertificate(pem: pem, names: [])
                Issue.record("taken: \(pem)")
            } catch {
                guard case .certificate(let reason) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(!reason.isEmpty)
            }
        }
    }

    private func otherCertificate() throws -> TLSCertificate {
        let folder = try TemporaryFolder()
        var launch = Launch(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", folder.file("key"), "-out",
                folder.file("certificate"),
            ])
        launch.standardError = .text(limit: 10_000)
        let result = try ChildProcess.run(launch, within: .seconds(90))
        try #require(result.status == .exited(0), "\(result.errorOutput)")
        let parts = try ["certificate", "key"].map { String(decoding: try fileBytes(folder.file($0)), as: UTF8.self) }
        return try TLSCertificate(pem: parts.joined(separator: "\n"), names: ["localhost"])
    }
}

/// A TLS connection by `openssl s_client`, held open.
private final class SecureClient {
    private let child: ChildProcess

    init(port: UInt16, _ options: [String] = []) throws {
        var launch = Launch(
            "openssl", ["s_client", "-connect", "127.0.0.1:\(port)", "-quiet", "-servername", "localhost"] + options)
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 64 << 20)
        launch.standardError = .text(limit: 10_000)
        child = try ChildProcess(launch)
    }

    deinit {
        thaw()
        _ = child.stop()
    }

    var text: String { child.output?.text ?? "" }

    /// Opens a WebSocket and joins the room.
    func join(_ port: UInt16, role: String = "peer") throws {
        try send(
            "GET /ws HTTP/1.1\r\nHost: localhost:\(port)\r\nOrigin: https://localhost:\(port)\r\n"
                + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        try waitFor("HTTP/1.1 101")
        let join = "{\"eventName\":\"__join\",\"data\":{\"room\":\"desk,secret\",\"role\":\"\(role)\"}}"
        try send(WebSocketClient.frame(1, Array(join.utf8)))
        try waitFor("\"eventName\":\"_peers\"")
    }

    /// Reads nothing any more.
    func freeze() { child.terminate(SIGSTOP) }
    func thaw() { child.terminate(SIGCONT) }

    func send(_ bytes: [UInt8]) throws { try child.write(bytes) }
    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func waitFor(_ text: String) throws {
        try eventually("'\(text)'") { child.output?.text.contains(text) == true }
    }

    func waitForEnd() throws {
        // The process may end before all that it wrote has been read.
        try eventually("the server to close") { child.poll() != nil && child.output?.hasEnded == true }
    }
}
