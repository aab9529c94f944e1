import Glibc
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("STUN and TURN servers by option", .enabled(if: EndToEnd.isPossible))
    struct ICEServerOptionTests {
        private let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        private func host(_ options: [String]) throws -> RunningProgram {
            try .host("unix:" + folder.file("s.sock"), options)
        }

        /// The Link headers of the answer to a player that has the token of `host`.
        private func links(_ host: RunningProgram) throws -> [String] {
            let room = try #require(RoomLink(try host.printedLink()))
            let socket = try TestSocket(port: room.port)
            try socket.send(
                "OPTIONS /whep/\(room.room) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                    + "Authorization: Bearer \(room.token)\r\n\r\n")
            let answer = String(decoding: try socket.readToEnd("an answer"), as: UTF8.self)
            return answer.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("link:") }.map(String.init)
        }

        @Test("credentials in a URL reach a player with the token, and nobody sees them in the list of processes")
        func fixed() throws {
            let host = try host(["--ice-server", "turn:ann:Sesam%40home@turn.example:99?transport=tcp"])
            let links = try links(host)
            #expect(links.count == 1)
            #expect(links.first?.contains("<turn:turn.example:99?transport=tcp>; rel=\"ice-server\"") == true)
            #expect(links.first?.contains("username=\"ann\"; credential=\"Sesam@home\"") == true)
            let arguments = String(
                decoding: try fileBytes("/proc/\(host.child.processID)/cmdline"), as: UTF8.self)
            #expect(arguments.contains("turn.example"))
            #expect(!arguments.contains("Sesam") && !host.log.contains("Sesam"))
        }

        @Test("a secret comes from a file that is its user's alone, and is for servers without credentials")
        func secret() throws {
            let file = try folder.write("secret", Array("north\n".utf8))
            let servers = ["--ice-server", "turn:turn.example", "--ice-server", "turns:ann:own@turn.example"]
            let host = try host(servers + ["--ice-secret-file", file])
            let links = try links(host)
            #expect(links.count == 2)
            #expect(links.first?.contains(":screenrelay\"; credential=\"") == true)
            #expect(links.last?.contains("username=\"ann\"; credential=\"own\"") == true)
            #expect(!links.joined().contains("north"))
            host.stop()
            chmod(file, 0o644)
            let words = ["screenrelay", "host", "--ice-secret-file", file]
            let open = try CommandLineRun(words + servers)
            #expect(open.status == .exited(77))
            chmod(file, 0o600)
            let idle = try CommandLineRun(words + ["--ice-server", "stun:stun.example"])
            #expect(idle.status == .exited(64))
            #expect(idle.errorLine?.contains("no TURN server that uses it") == true)
        }
    }
}
