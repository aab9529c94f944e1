import Glibc
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A host under a service manager", .enabled(if: EndToEnd.isPossible))
    struct ServiceTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// Starts a host as systemd does: with these sockets by the names of their units, whose numbers begin with 3.
        private func host(
            _ options: [String], sockets: [(name: String, socket: TestSocket)] = [], manager: NotificationSocket? = nil
        ) throws -> RunningProgram {
            var variables = [
                "LISTEN_FDS=\(sockets.count)", "XDG_RUNTIME_DIR=\(folder.path)",
                "LISTEN_FDNAMES=" + sockets.map { $0.name }.joined(separator: ":"),
            ]
            if let manager { variables += ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=300000"] }
            var descriptors: [Int32: Int32] = [:]
            for (index, passed) in sockets.enumerated() { descriptors[3 + Int32(index)] = passed.socket.descriptor }
            return try RunningProgram(
                "screenrelay", ["host", "--udp-port", "0"] + options,
                prefix: ["env"] + variables + ["sh", "-c", "LISTEN_PID=$$ exec \"$0\" \"$@\""],
                descriptors: descriptors)
        }

        /// The answer to a request for `/healthz` on this connection.
        private func health(_ socket: TestSocket) throws -> String {
            try socket.send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return String(decoding: try socket.readToEnd("an answer"), as: UTF8.self)
        }

        @Test("serves on sockets that it is given, also those who connected before it was there")
        func sockets() throws {
            let (http, rtsp, link) = (
                try TestSocket(listening: .tcp), try TestSocket(listening: .tcp), try TestSocket(listening: .tcp)
            )
            let early = try TestSocket(port: http.port)
            let key = try folder.write("key", Array("a key of some length".utf8))
            let host = try host(["--capture-key", key], sockets: [("http", http), ("rtsp", rtsp), ("link", link)])
            #expect(try RoomLink(host.printedLink())?.port == http.port)
            #expect(try health(early).hasPrefix("HTTP/1.1 204 "))
            try eventually("the other addresses") {
                host.output.contains("Waiting for capture on tls:127.0.0.1:\(link.port)")
                    && host.output.contains("@127.0.0.1:\(rtsp.port)/screen")
            }
            let player = try TestSocket(port: rtsp.port)
            try player.send("OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nConnection: close\r\n\r\n")
            try eventually("the answer of RTSP", holds: { !player.isSilent })
            #expect(host.stop() == .exited(0))
        }

        @Test("ends with one line about a socket that it has no use for")
        func refused() throws {
            let socket = try TestSocket(listening: .tcp)
            let udp = try TestSocket(listening: .udp)
            let cases: [([(name: String, socket: TestSocket)], [String], String)] = [
                ([("web", socket)], [], "LISTEN_FDNAMES: web: unknown socket; write FileDescriptorName=http"),
                ([("http", udp)], [], "LISTEN_FDNAMES: http: not a TCP socket that listens"),
                ([("rtsp", socket), ("rtsp", socket)], [], "LISTEN_FDNAMES: rtsp: two sockets have this name"),
                (
                    [("http", socket)], ["--listen", "8081"],
                    "--listen 8081: the service manager passes a socket for it"
                ),
            ]
            for (sockets, options, words) in cases {
                let host = try host(options, sockets: sockets)
                #expect(host.child.wait(within: .seconds(60)) == .exited(64))
                host.child.errorOutput?.waitForEnd(within: .seconds(2))
                #expect(host.log.split(separator: "\n").count == 1 && host.log.contains(words), "\(host.log)")
            }
        }

        @Test("with --lan, says that a socket for this machine alone needs a reverse proxy")
        func proxied() throws {
            let http = try TestSocket(listening: .tcp)
            let host = try host(["--lan", "--log", "debug"], sockets: [("http", http)])
            #expect(try RoomLink(host.printedLink())?.port == http.port)
            try host.waitForLog("warning: --lan: only this machine can reach the socket http")
            #expect(!host.output.contains("This machine is on no network"))
            #expect(host.stop() == .exited(0))
        }

        @Test("gives its errors and log lines their levels where standard error is the journal")
        func journal() throws {
            let journal = try folder.write("journal", [])
            func run(_ options: [String]) throws -> RunningProgram {
                try RunningProgram(
                    "screenrelay", ["host", "--link", "unix:" + folder.file("s.sock")] + options,
                    prefix: [
                        "sh", "-c", "JOURNAL_STREAM=$(stat -c %d:%i \"$0\") exec \"$@\" 2>>\"$0\"", journal,
                    ])
            }
            func line(_ end: String) throws -> Substring? {
                String(decoding: try fileBytes(journal), as: UTF8.self).split(separator: "\n").first {
                    $0.hasSuffix(end)
                }
            }
            let refused = try run(["--listen", "nowhere"])
            #expect(refused.child.wait(within: .seconds(60)) == .exited(64))
            let error = String(decoding: try fileBytes(journal), as: UTF8.self)
            #expect(error.hasPrefix("<3>screenrelay: --listen nowhere: "), "\(error)")
            let host = try run(LinkSocket.hostOptions)
            _ = try host.printedLink()
            let waiting = try eventually("a line of the log") {
                try line("waiting for capture on unix:" + folder.file("s.sock"))
            }
            #expect(waiting.hasPrefix("<6>screenrelay["))
            #expect(host.stop() == .exited(0))
        }

        @Test("tells the manager when it serves, that it lives, and when it ends")
        func news() throws {
            let manager = try NotificationSocket()
            let host = try host(["--listen", "127.0.0.1:0"], manager: manager)
            let news = try manager.news()
            // By then the port listens.
            let port = try #require(RoomLink(try host.printedLink())).port
            #expect(try health(TestSocket(port: port)).hasPrefix("HTTP/1.1 204 "))
            #expect(news.hasPrefix("READY=1\nSTATUS=Waiting for capture on unix:") && news.hasSuffix(" room screen"))
            try eventually("a sign for the watchdog", holds: { manager.next() == "WATCHDOG=1" })
            host.child.terminate(SIGTERM)
            #expect(try manager.news() == "STOPPING=1")
            #expect(host.child.wait(within: .seconds(60)) == .exited(0))
        }
    }
}
