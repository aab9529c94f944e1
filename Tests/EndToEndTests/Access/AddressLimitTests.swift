import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A host whose clients have many addresses, in a network of their own.
    @Suite(
        "Clients with many addresses",
        .enabled(
            if: EndToEnd.isPossible && PythonClient.isAvailable(.debian)
                && ProgramLookup.path(of: "curl") != nil && ProgramLookup.path(of: "openssl") != nil),
        .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
    struct AddressLimitTests {
        private let folder: TemporaryFolder
        private let network: LossyNetwork

        init() throws {
            folder = try TemporaryFolder()
            network = try LossyNetwork(losingFrom: 9)
        }

        /// Runs a command in the network.
        private func run(_ words: [String]) throws -> (status: ProcessStatus?, output: String) {
            var launch = Launch(network.prefix[0], Array(network.prefix.dropFirst()) + words)
            launch.standardOutput = .text(limit: 1 << 20)
            let result = try ChildProcess.run(launch, within: .seconds(120))
            return (result.status, result.output)
        }

        private func add(_ addresses: [String]) throws {
            let commands = addresses.map { "ip address add \($0) dev near" + ($0.contains(":") ? " nodad" : "") }
            try #require(try run(["sh", "-c", "set -e\n" + commands.joined(separator: "\n")]).status == .exited(0))
        }

        private func host(_ options: [String]) throws -> RunningProgram {
            try RunningProgram(
                "screenrelay",
                ["host", "--link", "unix:" + folder.file("s.sock"), "--udp-port", "0", "--lan"] + options,
                prefix: network.prefix)
        }

        @Test("an IPv6 network of 48 bits has a limit of wrong tokens of its own, and right ones get in")
        func network48() throws {
            let server = "2001:db8::1"
            func address(_ number: Int, of network: Int = 0x77) -> String {
                "2001:db8:\(String(network, radix: 16)):\(String(number, radix: 16))::1"
            }
            try add(([server, address(0, of: 0x78)] + (0..<30).map { address($0) }).map { "\($0)/128" })
            let host = try host(["--listen", "[\(server)]:0"])
            let parts = LinkParts(try host.printedLink())
            func ask(_ token: String, _ count: Int, from address: String) throws -> [Substring] {
                try run([
                    "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}\n", "--interface", address, "-H",
                    "Authorization: Bearer \(token)", "\(parts.base)/whep/\(parts.room)?[1-\(count)]",
                ]).output.split(separator: "\n")
            }
            let begin = now()
            // Each address stays within its own limit of twenty.
            let answers = try (0..<30).flatMap { try ask("wrong", 15, from: address($0)) }
            let seconds = Int((now() - begin).seconds)
            #expect(answers.count == 450 && answers.allSatisfy { $0 == "401" || $0 == "429" })
            // 160 at once, and eight a second.
            let compared = answers.count { $0 == "401" }
            #expect(compared >= 160 && compared <= 168 + 8 * seconds, "\(compared) in \(seconds) s")
            #expect(try ask(parts.token, 1, from: address(29)) == ["200"])
            #expect(try ask("wrong", 1, from: address(0, of: 0x78)) == ["401"])
            #expect(host.stop() == .exited(0))
        }

        /// A file for a source.
        private func talk() throws -> String {
            let talk = folder.file("talk.mp4")
            let raw = try folder.write("talk.264", TestStreams.small.bytes())
            let copied = try FFmpeg.run(["-f", "h264", "-r", "5", "-i", raw, "-c", "copy", talk])
            try #require(copied.status == .exited(0), "\(copied.messages)")
            return talk
        }

        @Test("no server of a push sends requests on to this machine", .enabled(if: FFmpeg.isAvailable))
        func redirects() throws {
            let server = try PythonClient("Network/redirecting", in: .debian, ["192.0.2.1"], prefix: network.prefix)
            let place = "http://192.0.2.1:\(try #require(try server.event("listening")["port"] as? Int))"
            let host = try host([
                "--listen", "192.0.2.1:0", "--source", "file:" + talk(), "--push", "whip:\(place)/whip", "--push",
                "object:\(place)/live.json",
            ])
            let reason = "the server redirects to an address of this machine or its network\n"
            try eventually("each push's failure") { host.output.ranges(of: " has failed: ").count == 2 }
            #expect(host.output.ranges(of: reason).count == 2, "\(host.output)")
            #expect(host.stop() == .exited(0))
            // The server may tell of a request after the host has its answer.
            try eventually("both requests") { server.events.count { $0["method"] is String } >= 2 }
            #expect(server.events.compactMap { $0["method"] as? String }.sorted() == ["GET", "POST"])
            #expect(!server.events.contains { $0["event"] as? String == "asked" })
        }

        @Test("a web server's stream object names no server of this machine", .enabled(if: FFmpeg.isAvailable))
        func object() throws {
            let talk = try talk()
            let words = ["-u", "-m", "http.server", "8000", "--bind", "192.0.2.1", "--directory", folder.path]
            var launch = Launch(network.prefix[0], Array(network.prefix.dropFirst()) + ["/usr/bin/python3"] + words)
            launch.standardOutput = .text(limit: 10_000)
            launch.standardError = .text(limit: 100_000)
            let web = try ChildProcess(launch)
            defer { web.stop(within: .zero) }
            try eventually("the web server") { web.output?.text.contains("port 8000") == true }
            let names = ["127.0.0.1", "localhost", "192.0.2.1"]
            for name in names { try folder.write(name, Array(#"{"url": "rtmp://\#(name):9/live/key"}"#.utf8)) }
            let pushes = names.flatMap { ["--push", "object:http://192.0.2.1:8000/\($0)"] }
            let host = try host(["--listen", "192.0.2.1:0", "--source", "file:" + talk] + pushes)
            let reason = "its stream object names a server of this machine or its network\n"
            try eventually("each push's failure") { host.output.ranges(of: " has failed: ").count == 3 }
            #expect(host.output.ranges(of: " has failed: " + reason).count == 2, "\(host.output)")
            // The third one is asked, and refuses.
            #expect(host.output.contains(" has failed: Connection refused\n"), "\(host.output)")
            #expect(host.stop() == .exited(0))
        }

        @Test("a few addresses that have all connections for players make room for one of another address")
        func connections() throws {
            let others = (10..<15).map { "192.0.2.\($0)" }
            try add((others + ["192.0.2.99"]).map { "\($0)/24" })
            let host = try host(["--listen", "192.0.2.1:0", "--rtsp", "8554"])
            _ = try host.printedLink()
            // 256 are all that there are, and each address has fewer than it may.
            let request = #"OPTIONS * RTSP/1.0\nCSeq: 1"#
            let client = try PythonClient(
                "Network/crowd", in: .debian, ["192.0.2.1", "8554", request, "192.0.2.99", "70"] + others,
                prefix: network.prefix)
            #expect(try client.event("answer")["line"] as? String == "RTSP/1.0 200 OK")
            #expect(host.stop() == .exited(0))
        }

        @Test("addresses that stall all TLS handshakes lose one of them for a client of another address")
        func handshakes() throws {
            let attackers = (10..<15).map { "192.0.2.\($0)" }
            try add((attackers + ["192.0.2.99"]).map { "\($0)/24" })
            let certificate = try MadeCertificate()
            let host = try host([
                "--listen", "192.0.2.1:0", "--tls-cert", folder.write("certificate.pem", certificate.text),
                "--tls-key", folder.write("key.pem", certificate.key),
            ])
            let port = try #require(RoomLink(try host.printedLink())).port
            // 32 at once are all that there are.
            let stalled = try PythonClient(
                "Network/stalled_handshakes", in: .debian, ["192.0.2.1", "\(port)"] + attackers, prefix: network.prefix)
            #expect(try stalled.event("begun")["count"] as? Int == 40)
            func ended() -> Int { stalled.events.count { $0["event"] as? String == "closed" } }
            // A stalled handshake may last ten seconds. Where this machine is slow, it is tried again.
            var isServed = false
            var attempts: [String] = []
            for _ in 0..<5 where !isServed {
                let (before, start) = (ended(), now())
                let answer = try run([
                    "curl", "-s", "--insecure", "--max-time", "30", "-w", "%{http_code}", "--interface", "192.0.2.99",
                    "-H", "Host: localhost", "https://192.0.2.1:\(port)/healthz",
                ])
                #expect(answer.output == "204", "\(answer)")
                let time = now() - start
                // The client may tell of it after the answer has come.
                _ = try? eventually("a handshake has ended", within: .milliseconds(500)) { ended() > before }
                isServed = time < .seconds(5) && ended() > before
                attempts.append("\(time): \(ended() - before) ended")
            }
            #expect(isServed, "\(attempts)")
            #expect(host.stop() == .exited(0))
        }
    }
}
