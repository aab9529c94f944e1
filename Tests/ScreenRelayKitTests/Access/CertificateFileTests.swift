import Glibc
import Processes
import ScreenRelayKit
import SecureTransport
import TestSupport
import Testing

@Suite("A certificate that is made and kept")
struct CertificateFileTests {
    private let folder: TemporaryFolder
    private let file: CertificateFile

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        file = try #require(CertificateFile { $0 == "XDG_STATE_HOME" ? folder.path : nil })
    }

    @Test("is made once, kept for this user alone, and for this machine's names")
    func kept() throws {
        let made = try file.certificate(for: ["192.0.2.7"])
        let fingerprint = try #require(made.fingerprint)
        #expect(fingerprint.utf8.count == 32 * 3 - 1)
        #expect(file.path == folder.path + "/screenrelay/self-signed.pem")
        var status = stat()
        #expect(stat(file.path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(stat(folder.path + "/screenrelay", &status) == 0 && status.st_mode & 0o7777 == 0o700)
        for address in ["127.0.0.1", "::1", "192.0.2.7"] { #expect(made.covers(address: address), "\(address)") }
        #expect(!made.covers(address: "192.0.2.8"))
        // Whoever could serve a page under one of its names gains nothing by that.
        #expect(made.names.isEmpty)
        // Other addresses are no reason for another fingerprint.
        let next = try file.certificate(for: ["192.0.2.8"])
        #expect(next.fingerprint == fingerprint && next.pem == made.pem)
        #expect(!made.ends(withinSeconds: 395 * 86_400) && made.ends(withinSeconds: 397 * 86_400))
    }

    @Test("is not kept without a home, and then another each time")
    func unkept() throws {
        #expect(CertificateFile { _ in nil } == nil)
        let certificates = try [CertificateFile.unkept(), CertificateFile.unkept()]
        #expect(certificates[0].fingerprint != certificates[1].fingerprint)
        #expect(access(file.path, F_OK) != 0)
    }

    @Test("is refused where others can read its key, and where it is none")
    func refused() throws {
        _ = try file.certificate()
        chmod(file.path, 0o644)
        #expect(throws: CertificateFileError.file(.notPrivate(path: file.path))) { try file.certificate() }
        chmod(file.path, 0o600)
        let state = try StateFolder(folder)
        try state.write(Array("garbage".utf8))
        #expect(throws: CertificateFileError.certificate(.noCertificate(path: file.path))) { try file.certificate() }
    }

    @Test(
        "is renewed with the same key in its last 30 days", .enabled(if: ProgramLookup.path(of: "openssl") != nil),
        arguments: [29, 31])
    func renewed(days: Int) throws {
        let state = try StateFolder(folder)
        try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "\(days)",
            "-subj", "/CN=ScreenRelay", "-keyout", folder.file("key"), "-out", folder.file("certificate"),
        ])
        let old = try fileBytes(folder.file("certificate")) + fileBytes(folder.file("key"))
        try state.write(old)
        let certificate = try file.certificate()
        let isNew = try fileBytes(file.path) != old
        #expect(isNew == (days < 30))
        let (before, after) = (folder.file("key"), file.path)
        #expect(try openssl(["pkey", "-pubout", "-in", after]) == openssl(["pkey", "-pubout", "-in", before]))
        #expect(certificate.ends(withinSeconds: 40 * 86_400) != isNew)
        #expect(try file.certificate().fingerprint == certificate.fingerprint)
    }

    /// The fingerprints that hosts get which start at once.
    private func fingerprints(of count: Int) throws -> [String] {
        try atOnce(count) { [file] in (try? file.certificate().fingerprint) ?? "none" }
    }

    @Test("is the same for hosts that start at once")
    func together() throws {
        for _ in 0..<10 {
            let found = try fingerprints(of: 6)
            let kept = try #require(try file.certificate().fingerprint)
            #expect(found == [String](repeating: kept, count: 6))
            unlink(file.path)
        }
    }

    @Test("is renewed once by hosts that start at once", .enabled(if: ProgramLookup.path(of: "openssl") != nil))
    func renewedTogether() throws {
        let state = try StateFolder(folder)
        try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "29",
            "-subj", "/CN=ScreenRelay", "-keyout", folder.file("key"), "-out", folder.file("certificate"),
        ])
        let old = try fileBytes(folder.file("certificate")) + fileBytes(folder.file("key"))
        for _ in 0..<10 {
            try state.write(old)
            let found = try fingerprints(of: 6)
            let kept = try #require(try file.certificate().fingerprint)
            #expect(found == [String](repeating: kept, count: 6))
        }
    }

    @discardableResult
    private func openssl(_ arguments: [String]) throws -> String {
        var launch = Launch("openssl", arguments)
        launch.standardOutput = .text(limit: 100_000)
        launch.standardError = .text(limit: 100_000)
        let run = try ChildProcess.run(launch, within: .seconds(90))
        try #require(run.status == .exited(0), "\(run.errorOutput)")
        return run.output
    }

    /// The folder that the certificate is kept in.
    private struct StateFolder {
        let path: String

        init(_ folder: TemporaryFolder) throws {
            path = folder.file("screenrelay")
            mkdir(path, 0o700)
        }

        func write(_ bytes: [UInt8]) throws {
            let file = path + "/self-signed.pem"
            let number = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            defer { close(number) }
            try #require(Glibc.write(number, bytes, bytes.count) == bytes.count)
        }
    }
}
