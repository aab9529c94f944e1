import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Garbage on the ports", .enabled(if: EndToEnd.isPossible))
    struct GarbageOnThePorts {
        @Test("for UDP is passed over, and the host goes on")
        func datagrams() throws {
            let desktop = try SharedDesktop()
            defer { desktop.stop() }
            let room = try #require(RoomLink(desktop.link))
            // A session waits for its viewer; its answer names the port.
            let answer = try room.open(port: room.port)
            let candidate = try #require(
                answer.lines.first { $0.hasPrefix("a=candidate:") && $0.contains(" 127.0.0.1 ") })
            let port = try #require(candidate.split(separator: " ").dropFirst(5).first.flatMap { UInt16($0) })
            let before = try desktop.expectCurrentPicture("before")
            let socket = try TestSocket(port: port, .udp)
            var random = SeededRandom(seed: 7983)
            for first in UInt8.min ... .max {
                // Every possible first byte (RFC 7983 uses it to tell what a datagram is), at many lengths.
                let count = Int.random(in: 0...1400, using: &random)
                try socket.send([first] + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                try socket.send([first])
            }
            // The session's user fragment is known, but not its password.
            let fragment = try #require(answer.lines.first { $0.hasPrefix("a=ice-ufrag:") }?.dropFirst(12))
            let check = STUNCheck(
                username: "\(fragment):abcd", integrity: (0..<20).map { _ in .random(in: 0...255, using: &random) })
            for _ in 0..<20 {
                try socket.send(check.bytes)
                try socket.send(random.mutation(of: check.bytes))
                // The beginning of a DTLS ClientHello, from an address that no check has proved.
                try socket.send(
                    [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 1, 0, 0, 38] + [UInt8](repeating: 7, count: 46))
            }
            #expect(try desktop.expectCurrentPicture("after") > before)
            #expect(desktop.host.occurrences(of: "is connected from") == 0)
            #expect(desktop.host.child.poll() == nil)
        }

        @Test("for HTTP ends that connection or is refused, and everybody else is served")
        func requests() throws {
            let desktop = try SharedDesktop()
            defer { desktop.stop() }
            let port = try #require(RoomLink(desktop.link)).port
            let before = try desktop.expectCurrentPicture("before")
            var random = SeededRandom(seed: 9112)

            // These connections stay open, and must not keep anybody waiting.
            let half = try TestSocket(port: port)
            try half.send("GET / HTTP/1.1\r\nHost: 127.")
            let slow = try TestSocket(port: port)
            try slow.send("POST /whep/screen HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\nv=0")
            #expect(half.isSilent && slow.isSilent)

            for _ in 0..<10 {
                let socket = try TestSocket(port: port)
                let count = Int.random(in: 100...5000, using: &random)
                try socket.send((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                try socket.send("\r\n\r\n")
                _ = try? eventually("an answer", within: .milliseconds(100), holds: { !socket.isSilent })
            }
            for (what, bytes) in Self.ended {
                let socket = try TestSocket(port: port)
                try socket.send(bytes)
                let answer = String(decoding: try socket.readToEnd(what), as: UTF8.self)
                #expect(!answer.contains(" 200 "), "\(what)")
            }
            #expect(
                try Self.floods(
                    port, "POST /whep/screen HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9999999999999\r\n\r\n"))
            #expect(
                try Self.floods(
                    port, "POST /whep/screen HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"))
            #expect(try desktop.expectCurrentPicture("after") > before)
            #expect(desktop.host.child.poll() == nil)
        }

        private static let ended: [(String, [UInt8])] = [
            (
                "a header of 200 KiB",
                Array(
                    ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + String(repeating: "x", count: 200_000) + "\r\n\r\n")
                        .utf8)
            ),
            (
                "a TLS hello",
                [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3] + [UInt8](repeating: 0x5A, count: 505) + [13, 10, 13, 10]
            ),
            ("no version", Array("GET /\r\n\r\n".utf8)),
            (
                "a path outside",
                Array("GET /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
            ),
            ("another host's name", Array("GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n".utf8)),
        ]

        /// Sends an endless body; returns whether the host stops it before it has taken 64 MiB.
        private static func floods(_ port: UInt16, _ head: String) throws -> Bool {
            let socket = try TestSocket(port: port)
            try socket.send(head)
            let chunk = Array("ffff\r\n".utf8) + [UInt8](repeating: 0x41, count: 0xFFFF) + Array("\r\n".utf8)
            for _ in 0..<1024 where try !socket.send(chunk) { return true }
            return false
        }
    }
}
