import Foundation
import Glibc
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite(
        "A certificate of the host's own",
        .enabled(
            if: EndToEnd.isPossible && ProgramLookup.path(of: "openssl") != nil
                && ProgramLookup.path(of: "curl") != nil))
    struct SelfSigned {
        private let folder: TemporaryFolder
        private var file: String { folder.file("screenrelay/self-signed.pem") }

        init() throws { folder = try TemporaryFolder() }

        private func host(_ options: [String] = []) throws -> RunningProgram {
            try RunningProgram(
                "screenrelay",
                ["host", "--link", "unix:" + folder.file("s.sock"), "--tls", "self-signed"] + LinkSocket.hostOptions
                    + options, prefix: ["env", "XDG_STATE_HOME=" + folder.path])
        }

        /// The fingerprint that the host prints below its link.
        private func printedFingerprint(_ host: RunningProgram) throws -> String {
            try eventually("the fingerprint") {
                let lines = host.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                let words = "isn't trusted. Continue only if its SHA-256 fingerprint is"
                return lines.firstIndex { $0.hasSuffix(words) }.flatMap { lines[($0 + 1)...].first }.map(String.init)
            }
        }

        private func run(_ name: String, _ arguments: [String]) throws -> String {
            var launch = Launch(name, arguments)
            launch.standardOutput = .text(limit: 100_000)
            launch.standardError = .text(limit: 100_000)
            let run = try ChildProcess.run(launch, within: .seconds(90))
            try #require(run.status == .exited(0), "\(run.errorOutput)")
            return run.output
        }

        /// The fingerprint of what the host shows to a client.
        private func shownFingerprint(of link: String) throws -> String {
            let port = try #require(RoomLink(link)).port
            let shown = try run("openssl", ["s_client", "-connect", "127.0.0.1:\(port)", "-showcerts"])
            let path = try folder.write("shown.pem", Array(shown.utf8))
            let line = try run("openssl", ["x509", "-in", path, "-noout", "-fingerprint", "-sha256"])
            return String(line.split(separator: "=").last?.dropLast() ?? "")
        }

        @Test(
            "snapshots, pushes and joins reach a host by its IPv6 address, for which the certificate is",
            .enabled(if: hasIPv6))
        func literal() throws {
            let host = try RunningProgram(
                "screenrelay",
                [
                    "host", "--link", "unix:" + folder.file("s.sock"), "--tls", "self-signed", "--listen", "[::1]:0",
                    "--udp-port", "0", "--presenters",
                ], prefix: ["env", "XDG_STATE_HOME=" + folder.path])
            let link = try host.printedLink()
            try #require(link.hasPrefix("https://[::1]:"))
            let place = try #require(link.dropFirst(8).split(separator: "/").first)
            func snapshot(_ link: String, _ store: String) throws -> CommandLineRun {
                try CommandLineRun(
                    ["screenrelay", "snapshot", link, "-o", folder.file("screen.png")],
                    environment: ["SSL_CERT_FILE": store])
            }
            let early = try snapshot(link, file)
            #expect(early.status == .exited(69))
            #expect(early.errorLine?.contains("the host has no picture yet") == true, "\(early.errorOutput)")
            let named = try MadeCertificate()
            let store = try folder.write("named.pem", named.text)
            let other = try RunningProgram(
                "screenrelay",
                [
                    "host", "--link", "unix:" + folder.file("o.sock"), "--tls-cert", store, "--tls-key",
                    folder.write("named.key", named.key), "--listen", "[::1]:0", "--udp-port", "0",
                ])
            let port = try #require(RoomLink(try other.printedLink())).port
            let unnamed = try snapshot("https://[::1]:\(port)/#screen", store)
            #expect(
                unnamed.errorLine?.hasSuffix("its certificate is for another name") == true, "\(unnamed.errorOutput)")

            let room = try #require(link.split(separator: "#").last)
            let desktop = try SharedDesktop(
                options: [
                    "--listen", "[::1]:0", "--push",
                    "whip:https://\(host.presentersToken())@\(place)/whip/screen", "--join",
                    "skyrtc:wss://\(place)/ws#\(room)",
                ], prefix: ["env", "SSL_CERT_FILE=" + file])
            try eventually("the push and the join") {
                desktop.host.output.contains("the push to whip:https://\(place)/... is connected\n")
                    && desktop.host.output.contains("the join to skyrtc:wss://\(place): joined")
            }
            try eventually("a picture") { try snapshot(link, file).status == .exited(0) }
        }

        @Test("serves the page under the fingerprint that it printed, and keeps it over restarts")
        func kept() throws {
            let first = try host()
            let link = try first.printedLink()
            #expect(link.hasPrefix("https://127.0.0.1:"))
            let fingerprint = try printedFingerprint(first)
            #expect(try shownFingerprint(of: link) == fingerprint)
            let port = try #require(RoomLink(link)).port
            let code = try run(
                "curl",
                ["--insecure", "-s", "-o", "/dev/null", "-w", "%{http_code}", "https://127.0.0.1:\(port)/healthz"])
            #expect(code == "204")
            // Whoever has the certificate needn't go without a check.
            let pinned = try run("curl", ["--cacert", file, "-s", "https://localhost:\(port)/"])
            #expect(pinned.contains("<html"))
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o7777 == 0o600)
            let pid = "\(first.child.processID)"
            let report = try CommandLineRun(["screenrelay", "status", "--pid", pid, "--json"])
            #expect(report.output.contains("\"fingerprint\":\"\(fingerprint)\""), "\(report.output)")
            let words = try CommandLineRun(["screenrelay", "status", "--pid", pid])
            #expect(words.output.contains("certificate \(fingerprint)"), "\(words.output)")
            #expect(first.stop() == .exited(0))

            let second = try host(["--json"])
            try eventually("the event") { second.output.contains("\"fingerprint\":\"\(fingerprint)\"") }
        }

        @Test("is made again when it has ended, and at SIGHUP")
        func renewed() throws {
            let first = try host()
            let fingerprint = try printedFingerprint(first)
            #expect(first.stop() == .exited(0))
            // One with the same key whose time is nearly over.
            let short = try run(
                "openssl", ["req", "-x509", "-key", file, "-days", "1", "-subj", "/CN=ScreenRelay"])
            let whole = String(decoding: try fileBytes(file), as: UTF8.self)
            let key = try #require(whole.components(separatedBy: "-----END CERTIFICATE-----\n").last)
            try folder.write("screenrelay/self-signed.pem", Array((short + key).utf8))
            let second = try host()
            let link = try second.printedLink()
            let renewed = try printedFingerprint(second)
            #expect(renewed != fingerprint)
            #expect(try shownFingerprint(of: link) == renewed)
            try folder.write("screenrelay/self-signed.pem", Array((short + key).utf8))
            second.child.terminate(SIGHUP)
            try second.waitForLog("the certificate was reloaded: SHA-256 ")
            let last = try eventually("another one") { () throws -> String? in
                let shown = try shownFingerprint(of: link)
                return shown == renewed ? nil : shown
            }
            #expect(second.log.contains(last))
            let pid = "\(second.child.processID)"
            #expect(try CommandLineRun(["screenrelay", "link", "--pid", pid]).output.contains(last))
        }

        @Test("that can't be kept is good for one run, also after SIGHUP, and that is said")
        func unkept() throws {
            mkdir(folder.file("screenrelay"), 0o700)
            try folder.write("screenrelay/self-signed.pem", Array("garbage".utf8))
            let host = try host()
            let link = try host.printedLink()
            let fingerprint = try printedFingerprint(host)
            #expect(try shownFingerprint(of: link) == fingerprint)
            #expect(host.log.contains("a new one is made; the certificate is valid for this run only"))
            host.child.terminate(SIGHUP)
            try host.waitForLog("the certificate was not reloaded, and the old one stays in use: ")
            #expect(try shownFingerprint(of: link) == fingerprint)
        }
    }
}
