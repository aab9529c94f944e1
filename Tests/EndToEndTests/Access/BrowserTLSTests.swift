import BrowserDriver
import Foundation
import Glibc
import Processes
import TestSupport
import Testing

/// A self-signed certificate, made by `openssl`.
struct MadeCertificate {
    let text: [UInt8]
    let key: [UInt8]

    /// For this machine, or for other `names`.
    init(names: String = "DNS:localhost,IP:127.0.0.1") throws {
        let folder = try TemporaryFolder()
        var launch = Launch(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=\(names)", "-keyout", folder.file("key"),
                "-out", folder.file("certificate"),
            ])
        launch.standardError = .text(limit: 10_000)
        let result = try ChildProcess.run(launch, within: .seconds(90))
        guard result.status == .exited(0) else {
            throw ProgramEnded(status: result.status ?? .signaled(9), log: result.errorOutput)
        }
        text = try fileBytes(folder.file("certificate"))
        key = try fileBytes(folder.file("key"))
    }

    /// The certificate that a host shows now to a new connection, in PEM.
    static func shown(on port: UInt16) throws -> String {
        var launch = Launch("openssl", ["s_client", "-connect", "127.0.0.1:\(port)", "-showcerts"])
        launch.standardOutput = .text(limit: 100_000)
        launch.standardError = .null
        return try ChildProcess.run(launch, within: .seconds(10)).output
    }

    /// What is between the lines that begin and end it.
    var body: String {
        String(decoding: text, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined(
            separator: "\n")
    }
}

extension EndToEndInBrowser {
    @Suite("HTTPS and wss", .enabled(if: EndToEnd.hasBrowser && ProgramLookup.path(of: "openssl") != nil))
    struct BrowserTLSTests {
        @Test(
            "a page plays, and goes on while SIGHUP brings another certificate; files that are no good bring none",
            .timeLimit(.minutes(5)))
        func reloaded() throws {
            let files = try TemporaryFolder()
            let (first, second, third) = (try MadeCertificate(), try MadeCertificate(), try MadeCertificate())
            func install(_ certificate: MadeCertificate, key: [UInt8]? = nil) throws {
                try files.write("certificate.pem", certificate.text)
                try files.write("key.pem", key ?? certificate.key)
            }
            try install(first)
            let desktop = try SharedDesktop(
                options: ["--tls-cert", files.file("certificate.pem"), "--tls-key", files.file("key.pem")])
            defer { desktop.stop() }
            #expect(desktop.link.hasPrefix("https://127.0.0.1:"))
            let port = try #require(RoomLink(desktop.link)).port
            let browser = try Browser.shared()
            let viewer = ViewerPage(try browser.newPage("about:blank"))
            try viewer.page.send("Security.setIgnoreCertificateErrors", ["ignore": true])
            try viewer.page.navigate(desktop.link)
            try viewer.waitUntilPlaying()
            try viewer.expectMotion()
            #expect(try MadeCertificate.shown(on: port).contains(first.body))

            try install(second)
            desktop.host.child.terminate(SIGHUP)
            try desktop.host.waitForLog("the certificate was reloaded")
            try eventually("the second certificate") { try MadeCertificate.shown(on: port).contains(second.body) }
            try install(third, key: second.key)
            desktop.host.child.terminate(SIGHUP)
            try desktop.host.waitForLog("was not reloaded, and the old one stays in use")
            #expect(desktop.host.log.contains("is not the key of the certificate in"))
            #expect(try MadeCertificate.shown(on: port).contains(second.body))
            try viewer.expectMotion()
            #expect(try viewer.reconnects() == 0)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }
    }

    @Suite(
        "Certificates that can't be used", .enabled(if: EndToEnd.isPossible && ProgramLookup.path(of: "openssl") != nil)
    )
    struct UnusableCertificates {
        @Test("end a host before it begins, with a line that names the file")
        func refused() throws {
            let folder = try TemporaryFolder()
            let (one, other) = (try MadeCertificate(), try MadeCertificate())
            let certificate = try folder.write("certificate.pem", one.text)
            let key = try folder.write("key.pem", one.key)
            let otherKey = try folder.write("other.pem", other.key)
            let public_ = try folder.write("public.pem", one.key)
            chmod(public_, 0o644)
            let garbage = try folder.write("garbage.pem", Array("garbage".utf8))
            let encrypted = try folder.write(
                "encrypted.pem",
                Array("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n".utf8))
            for (certificate, key, code, words) in [
                (certificate, otherKey, Int32(65), "--tls-key \(otherKey): is not the key of the certificate in"),
                (garbage, key, 65, "--tls-cert \(garbage): has no certificate in it"),
                (certificate, garbage, 65, "--tls-key \(garbage): has no private key in it"),
                (certificate, encrypted, 65, "--tls-key \(encrypted): is encrypted"),
                (certificate, public_, 77, "--tls-key \(public_): can be read by all users"),
                (folder.file("none"), key, 66, "--tls-cert \(folder.file("none")): can't be read: No such file"),
                (folder.path, key, 64, "--tls-cert \(folder.path): is no file"),
            ] {
                let run = try CommandLineRun(
                    ["screenrelay", "host", "--tls-cert", certificate, "--tls-key", key, "--listen", "127.0.0.1:0"])
                #expect(run.status == .exited(code))
                #expect(run.errorLine?.contains(words) == true, "\(run.errorOutput)")
            }
        }

        @Test("are nothing that SIGHUP asks for without TLS: it reads the other files again")
        func hangUp() throws {
            let folder = try TemporaryFolder()
            let host = try RunningProgram(
                "screenrelay",
                ["host", "--link", "unix:s.sock", "--token-file", folder.file("token")] + LinkSocket.hostOptions,
                folder: folder.path)
            _ = try host.printedLink()
            host.child.terminate(SIGHUP)
            try host.waitForLog("the tokens were reloaded")
            #expect(!host.log.contains("certificate"))
            #expect(host.stop() == .exited(0))
            #expect(access(folder.file("s.sock"), F_OK) != 0)
        }
    }
}
