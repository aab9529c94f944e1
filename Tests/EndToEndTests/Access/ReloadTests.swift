import Glibc
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite(
        "Files that are read again", .enabled(if: EndToEnd.isPossible && ProgramLookup.path(of: "openssl") != nil))
    struct ReloadTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func host(_ options: [String], manager: NotificationSocket? = nil) throws -> RunningProgram {
            try RunningProgram(
                "screenrelay", ["host", "--link", "unix:" + folder.file("s.sock")] + LinkSocket.hostOptions + options,
                prefix: manager.map { ["env", "NOTIFY_SOCKET=\($0.path)"] } ?? [])
        }

        @Test("new connections get the new certificate, old ones go on, and the service manager is told")
        func certificate() throws {
            let (first, second) = (try MadeCertificate(), try MadeCertificate())
            let manager = try NotificationSocket()
            let host = try host(
                [
                    "--tls-cert", folder.write("certificate.pem", first.text), "--tls-key",
                    folder.write("key.pem", first.key),
                ], manager: manager)
            let port = try #require(RoomLink(try host.printedLink())).port
            #expect(try manager.news().hasPrefix("READY=1\n"))
            #expect(try MadeCertificate.shown(on: port).contains(first.body))
            var launch = Launch("openssl", ["s_client", "-connect", "127.0.0.1:\(port)", "-quiet"])
            launch.standardInput = .pipe
            launch.standardOutput = .text(limit: 10_000)
            launch.standardError = .null
            let old = try ChildProcess(launch)
            defer { old.stop() }
            func expectAnswers(_ count: Int) throws {
                try old.write(Array("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
                try eventually("an answer over the old connection") {
                    let lines = old.output?.text.split(whereSeparator: \.isNewline) ?? []
                    return lines.count { $0.hasPrefix("HTTP/1.1 204 ") } == count
                }
            }
            try expectAnswers(1)

            try folder.write("certificate.pem", second.text)
            try folder.write("key.pem", second.key)
            host.child.terminate(SIGHUP)
            let reloading = try manager.news()
            #expect(reloading.wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=\d+/) != nil, "\(reloading)")
            #expect(try manager.news() == "READY=1")
            try eventually("the second certificate") { try MadeCertificate.shown(on: port).contains(second.body) }
            try expectAnswers(2)
            #expect(host.stop() == .exited(0))
        }

        @Test("newcomers need the new token and password; what is no good changes nothing")
        func tokens() throws {
            let (token, password) = (folder.file("token"), folder.file("password"))
            try folder.write("token", Array("first-token-of-16".utf8))
            try folder.write("password", Array("Sesam".utf8))
            let host = try host(["--token-file", token, "--password-file", password])
            let port = try #require(RoomLink(try host.printedLink())).port
            func status(_ credentials: String) throws -> Int? {
                let socket = try TestSocket(port: port)
                try socket.send(
                    "GET /whep/screen HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                        + "Authorization: Bearer \(credentials)\r\n\r\n")
                let answer = String(decoding: try socket.readToEnd("an answer"), as: UTF8.self)
                return answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            }
            #expect(try status("first-token-of-16,Sesam") == 200)
            try folder.write("token", Array("second-token-of-16".utf8))
            try folder.write("password", Array("Mohn".utf8))
            host.child.terminate(SIGHUP)
            try host.waitForLog("the tokens were reloaded")
            try host.waitForLog("the password was reloaded")
            #expect(try status("second-token-of-16,Mohn") == 200)
            #expect(try status("first-token-of-16,Sesam") == 401)
            let pid = "\(host.child.processID)"
            let link = try CommandLineRun(["screenrelay", "link", "--pid", pid]).output
            #expect(link.contains("#screen,second-token-of-16"), "\(link)")

            try folder.write("token", Array("short".utf8))
            unlink(password)
            host.child.terminate(SIGHUP)
            let kept = "not reloaded, and the old one stays in use: "
            try host.waitForLog("a token was \(kept)\(token) contains no token")
            try host.waitForLog("the password was \(kept)--password-file \(password):")
            #expect(try status("second-token-of-16,Mohn") == 200)
            #expect(host.stop() == .exited(0))
        }

        @Test("a shell that ends hangs up its jobs before their terminal is gone: they end all the same")
        func shellEnds() throws {
            let program = try #require(builtProgram("screenrelay"))
            let words =
                ["host", "--link", "unix:" + folder.file("s.sock"), "--token-file", folder.file("token")]
                + LinkSocket.hostOptions
            let (output, log, pid) = (folder.file("output"), folder.file("log"), folder.file("pid"))
            func wait(for text: String, in file: String) -> String {
                "until grep -q '\(text)' \(file); do sleep 0.1; done"
            }
            let lines = [
                // With job control, each job has a process group of its own, as in an interactive shell.
                "set -m", "touch \(output) \(log)",
                "\(program) \(words.joined(separator: " ")) >\(output) 2>\(log) & echo $! >\(pid)",
                wait(for: "Ctrl-C ends it", in: output), "kill -HUP $(cat \(pid))",
                wait(for: "the tokens were reloaded", in: log),
            ]
            try folder.write("job.sh", Array((lines.joined(separator: "\n") + "\n").utf8))
            var launch = Launch("/usr/bin/script", ["-q", "-c", "exec bash \(folder.file("job.sh"))", "/dev/null"])
            launch.environment = RunningProgram.environment
            launch.standardInput = .pipe
            launch.standardOutput = .null
            let terminal = try ChildProcess(launch)
            #expect(try #require(terminal.wait(within: .seconds(30))) == .exited(0))
            let text = String(decoding: try fileBytes(pid), as: UTF8.self)
            let host = try #require(Int32(text.trimmingPrefix { $0.isWhitespace }.prefix { $0.isNumber }))
            defer { kill(host, SIGKILL) }
            try eventually("the host has ended") { !isRunning(host) }
        }
    }
}
