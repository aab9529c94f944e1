import MediaTypes
import Processes
import SecureTransport
import TestSupport
import Testing

/// The `openssl` command shakes hands with us over real sockets and prints the keys that it came to.
@Suite("Handshakes with the openssl command", .enabled(if: ProgramLookup.path(of: "openssl") != nil))
struct OpenSSLCommandTests {
    private let folder: TemporaryFolder

    /// A peer's certificate and key, as openssl's options, and the certificate's fingerprint.
    private struct Identity {
        let options: [String]
        let fingerprint: CertificateFingerprint
    }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func identity(curve: String = "P-256") throws -> Identity {
        let (key, certificate) = (folder.file("key.pem"), folder.file("certificate.pem"))
        _ = try Self.run(
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-nodes", "-days", "2"]
                + ["-subj", "/CN=peer", "-keyout", key, "-out", certificate])
        let text = try Self.run(["x509", "-in", certificate, "-noout", "-fingerprint", "-sha384"])
        let digits = text.drop { $0 != "=" }.filter(\.isHexDigit)
        return Identity(
            options: ["-cert", certificate, "-key", key],
            fingerprint: try CertificateFingerprint(algorithmName: "sha-384", bytes: bytes(String(digits))))
    }

    /// What openssl said when it should have done something.
    private struct CommandFailed: Error {
        let message: String
    }

    private static func run(_ arguments: [String]) throws -> String {
        var launch = Launch("openssl", arguments)
        launch.standardOutput = .text(limit: 1 << 16)
        launch.standardError = .text(limit: 1 << 16)
        let child = try ChildProcess(launch)
        guard child.wait(within: .seconds(90))?.isSuccess == true, child.output?.waitForEnd(within: .seconds(5)) == true
        else { throw CommandFailed(message: child.errorOutput?.text ?? "") }
        return child.output?.text ?? ""
    }

    /// s_client or s_server with its input held open, so that it stays until it is told to end.
    private func start(_ arguments: [String], as peer: Identity, profile: SRTPProfile) throws -> ChildProcess {
        let keyCount = String(2 * (profile.keyCount + profile.saltCount))
        var launch = Launch(
            "openssl",
            arguments + peer.options + ["-dtls1_2", "-use_srtp", profile.rawValue]
                + ["-keymatexport", "EXTRACTOR-dtls_srtp", "-keymatexportlen", keyCount])
        launch.standardInput = .pipe
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 1 << 20)
        return try ChildProcess(launch)
    }

    /// Carries datagrams between the session and the socket until `condition` holds.
    private func run(
        _ transport: DTLSTransport, _ socket: LoopbackSocket, until what: String, _ condition: () -> Bool
    ) throws {
        try eventually("\(what); the session is \(transport.state)", within: .seconds(90)) {
            while let datagram = socket.receive() { try transport.handle(datagram: datagram[...], now: now()) }
            try transport.handleTimeout(now: now())
            for datagram in transport.takeOutgoing() { socket.send(datagram) }
            return condition()
        }
    }

    /// The "Keying material" line of openssl's, once it is there.
    private func keyingMaterial(of peer: ChildProcess) -> [UInt8]? {
        guard let lines = peer.output?.text.split(separator: "\n"),
            let index = lines.firstIndex(where: { $0.contains("Keying material: ") }), index + 1 < lines.count
        else { return nil }
        return bytes(String(lines[index].drop { $0 != ":" }))
    }

    private func layout(_ keys: SRTPKeys, client: SRTPMasterKey, server: SRTPMasterKey) -> [UInt8] {
        client.key + server.key + client.salt + server.salt
    }

    @Test("s_client gets the same keys from our server, and its end ends our session", arguments: SRTPProfile.allCases)
    func client(profile: SRTPProfile) throws {
        let socket = try LoopbackSocket()
        let identity = try identity()
        let transport = try DTLSTransport(
            context: makeContext(), role: .server, expectedFingerprint: identity.fingerprint)
        let peer = try start(["s_client", "-connect", "127.0.0.1:\(socket.port)"], as: identity, profile: profile)
        defer { peer.stop(within: .zero) }
        try run(transport, socket, until: "keys") { transport.keys != nil && keyingMaterial(of: peer) != nil }
        let keys = try #require(transport.keys)
        #expect(keys.profile == profile)
        #expect(keyingMaterial(of: peer) == layout(keys, client: keys.remote, server: keys.local))
        #expect(peer.output?.text.contains("ECDHE-ECDSA-AES128-GCM-SHA256") == true)
        try peer.write(Array("Q\n".utf8))
        try run(transport, socket, until: "the end") { transport.state == .closed }
    }

    @Test("the end of an s_client that takes only AES-256 for DTLS ends our session")
    func longKeys() throws {
        let socket = try LoopbackSocket()
        let identity = try identity()
        let transport = try DTLSTransport(
            context: makeContext(), role: .server, expectedFingerprint: identity.fingerprint)
        let peer = try start(
            ["s_client", "-connect", "127.0.0.1:\(socket.port)", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"],
            as: identity, profile: .aeadAES128GCM)
        defer { peer.stop(within: .zero) }
        try run(transport, socket, until: "keys") { transport.keys != nil && keyingMaterial(of: peer) != nil }
        try peer.write(Array("Q\n".utf8))
        try run(transport, socket, until: "the end") { transport.state == .closed }
    }

    @Test("s_server gets the same keys from our client, and sees our end", arguments: SRTPProfile.allCases)
    func server(profile: SRTPProfile) throws { try shakeHands(withServer: identity(), profile: profile) }

    @Test(
        "a peer's certificate may be on P-224, as that of FFmpeg with GnuTLS is, and on P-384",
        arguments: ["P-224", "P-384"])
    func otherCurves(curve: String) throws {
        try shakeHands(withServer: identity(curve: curve), profile: .aes128CMHMACSHA1)
    }

    private func shakeHands(withServer identity: Identity, profile: SRTPProfile) throws {
        let peer = try start(
            ["s_server", "-accept", "127.0.0.1:0", "-Verify", "2", "-naccept", "1"], as: identity, profile: profile)
        defer { peer.stop(within: .zero) }
        let port = try eventually("the server's port") { () -> UInt16? in
            let text = peer.output?.text ?? ""
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT ") }) else { return nil }
            return line.split(separator: ":").last.flatMap { UInt16($0) }
        }
        let socket = try LoopbackSocket(peerPort: port)
        let transport = try DTLSTransport(
            context: makeContext(), role: .client, expectedFingerprint: identity.fingerprint)
        try transport.start(now: now())
        try run(transport, socket, until: "keys") { transport.keys != nil && keyingMaterial(of: peer) != nil }
        let keys = try #require(transport.keys)
        #expect(keys.profile == profile)
        #expect(keyingMaterial(of: peer) == layout(keys, client: keys.local, server: keys.remote))
        transport.close()
        try run(transport, socket, until: "the server's end") { peer.poll() != nil }
    }
}
