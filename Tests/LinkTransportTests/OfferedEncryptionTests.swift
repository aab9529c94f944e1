import Processes
import TestSupport
import Testing

@testable import LinkTransport

@Suite("encryption that a server offers", .enabled(if: ProgramLookup.path(of: "openssl") != nil))
struct OfferedEncryptionTests {
    private let folder: TemporaryFolder
    private let listener: SocketListener

    init() throws {
        folder = try TemporaryFolder()
        listener = try SocketListener(at: .tcp(host: "127.0.0.1", port: 0))
    }

    private var port: UInt16 { listener.address.network?.port ?? 0 }

    /// Makes a certificate in a file of this name, and its key in another one, signed by `authority` or by itself.
    private func makeCertificate(_ name: String, by authority: String? = nil, _ extensions: String) throws {
        let signing = authority.map { ["-CA", folder.file($0), "-CAkey", folder.file("\($0).key")] } ?? []
        var making = Launch(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-subj", "/CN=\(name)", "-addext", extensions, "-keyout", folder.file("\(name).key"),
                "-out", folder.file(name),
            ] + signing)
        making.standardError = .text(limit: 10_000)
        let made = try ChildProcess.run(making, within: .seconds(90))
        try #require(made.status == .exited(0), "\(made.errorOutput)")
    }

    /// An encryption with a certificate of an intermediate authority; `root` is the file of the one above it.
    private func encryption() throws -> SocketEncryption {
        try makeCertificate("root", "basicConstraints=critical,CA:TRUE")
        try makeCertificate("between", by: "root", "basicConstraints=critical,CA:TRUE")
        try makeCertificate("server", by: "between", "basicConstraints=critical,CA:FALSE")
        let pem = try ["server", "between", "server.key"].flatMap { try fileBytes(folder.file($0)) }
        return try SocketEncryption(certificate: String(decoding: pem, as: UTF8.self))
    }

    @Test(
        "is used with a client that begins with a handshake, which sees the intermediate certificates too",
        arguments: ["-tls1_2", "-tls1_3"])
    func encrypted(version: String) throws {
        let encryption = try encryption()
        var launch = Launch(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(port)", version, "-CAfile", folder.file("root"),
                "-verify_return_error", "-quiet",
            ])
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 100_000)
        launch.standardError = .text(limit: 100_000)
        let client = try ChildProcess(launch)
        defer { client.stop(within: .zero) }
        let server = try eventually("the connection") { try listener.accept(offering: encryption) }
        try client.write(Array("from the client\n".utf8))
        var buffer = [UInt8](repeating: 0, count: SocketConnection.minBuffer)
        var received: [UInt8] = []
        try eventually("what the client sends") {
            if case .bytes(let count) = try server.receive(into: &buffer) { received += buffer[..<count] }
            return received == Array("from the client\n".utf8)
        }
        try server.enqueue(header: Array("from the server\n".utf8))
        try eventually("what the server sends") { client.output?.text == "from the server\n" }
    }

    @Test("is not used with any other client")
    func plain() throws {
        let encryption = try encryption()
        let client = try SocketConnection.connect(to: listener.address)
        let server = try eventually("the connection") { try listener.accept(offering: encryption) }
        var buffer = [UInt8](repeating: 0, count: SocketConnection.minBuffer)
        let early = try server.receive(into: &buffer)
        #expect(early == .wouldBlock)
        try client.enqueue(header: [3, 22, 3])
        try eventually("the bytes") { try server.receive(into: &buffer) == .bytes(3) }
        #expect(buffer[..<3] == [3, 22, 3])
        let silent = try SocketConnection.connect(to: listener.address)
        let other = try eventually("the connection") { try listener.accept(offering: encryption) }
        silent.close()
        try eventually("the end") { try other.receive(into: &buffer) == .closed }
    }

    @Test("needs a certificate and a key")
    func unusable() {
        #expect(throws: SocketError.self) { try SocketEncryption(certificate: "no certificate") }
    }
}
