import Glibc
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Requests of each kind, changed at random.
    @Suite("Changed requests", .enabled(if: EndToEnd.isPossible))
    struct GarbageRequestsTests {
        /// `Tools/soak garbage` asks for more.
        private static let count = getenv("SCREENRELAY_REQUESTS").flatMap { Int(String(cString: $0)) } ?? 1500

        private enum Port: CaseIterable {
            case web, players, media
        }

        @Test("to all ports, a tenth of them on connections that stay open, cost little and keep nobody waiting")
        func requests() throws {
            // AddressSanitizer reserves terabytes of addresses, which count as memory, keeps the stack of each
            // allocation, and starts a program for the names in a report.
            let isSanitized = getenv("ASAN_OPTIONS") != nil
            let desktop = try SharedDesktop(
                options: ["--rtsp", "0"] + (isSanitized ? ["--capture-memory", "none", "--capture-unconfined"] : []))
            defer { desktop.stop() }
            let room = try #require(RoomLink(desktop.link))
            let line = try #require(desktop.host.output.split(separator: "\n").first { $0.contains("rtsp://") })
            let place = try #require(line.split(separator: "/").first { $0.contains("@127.0.0.1:") })
            let players = try #require(place.split(separator: ":").last.flatMap { UInt16($0) })
            // A session waits for its viewer; its answer names the port.
            let answer = try room.open(port: room.port)
            let candidate = try #require(
                answer.lines.first { $0.hasPrefix("a=candidate:") && $0.contains(" 127.0.0.1 ") })
            let media = try #require(candidate.split(separator: " ").dropFirst(5).first.flatMap { UInt16($0) })
            let seeds = Self.seeds(room)
            let before = try desktop.expectCurrentPicture("before")
            var random = SeededRandom(seed: 37)
            var held: [TestSocket] = []
            var figures: ProcessFigures?
            for number in 0..<Self.count {
                let port = Port.allCases[number % Port.allCases.count]
                let seed = try #require(seeds[port]?.randomElement(using: &random))
                let bytes = Self.changed(seed, &random)
                let socket =
                    switch port {
                    case .web: try TestSocket(port: room.port)
                    case .players: try TestSocket(port: players)
                    case .media: try TestSocket(port: media, .udp)
                    }
                try socket.send(bytes)
                if port != .media, Int.random(in: 0..<10, using: &random) == 0 { held.append(socket) }
                if held.count > 100 { held.removeFirst() }
                if number % 300 == 299 {
                    #expect(try Self.isServed(room), "after \(number) requests")
                    // What the first ones made it load is no growth.
                    if figures == nil { figures = try ProcessFigures(desktop.host.child.processID) }
                }
            }
            #expect(try desktop.expectCurrentPicture("after") > before)
            let after = try ProcessFigures(desktop.host.child.processID)
            let first = try #require(figures)
            #expect(isSanitized || after.resident - first.resident < 16 * 1024, "\(first), then \(after)")
            held = []
            try eventually("their descriptors are free") {
                try ProcessFigures(desktop.host.child.processID).descriptors <= first.descriptors + 8
            }
            print("garbage: \(Self.count) requests; host after the first: \(first); after all: \(after)")
        }

        /// Whether a request that is right is answered.
        private static func isServed(_ room: RoomLink) throws -> Bool {
            let socket = try TestSocket(port: room.port)
            try socket.send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return String(decoding: try socket.readToEnd("a right request"), as: UTF8.self).hasPrefix("HTTP/1.1 204 ")
        }

        private static func seeds(_ room: RoomLink) -> [Port: [[UInt8]]] {
            let head = " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(room.token)\r\n"
            let offer = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n"
            let kind = "Content-Type: application/sdp\r\nContent-Length: \(offer.utf8.count)\r\n\r\n"
            let upgrade =
                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            let join = "{\"eventName\":\"__join\",\"data\":{\"room\":\"\(room.room),\(room.token)\"}}"
            var frame: [UInt8] = [0x81, 0x80 | 126, 0, UInt8(join.utf8.count), 0, 0, 0, 0]
            frame += Array(join.utf8)
            let patch = "Content-Type: application/trickle-ice-sdpfrag\r\nTransfer-Encoding: chunked\r\n\r\n"
            let texts: [String] = [
                "GET /\(head)\r\n", "GET /join/viewer.js\(head)Accept-Encoding: gzip\r\n\r\n",
                "GET /snapshot.png?room=\(room.room)\(head)\r\n", "GET /api/status\(head)\r\n",
                "OPTIONS /whep/\(room.room)\(head)\r\n", "GET /metrics\(head)\r\n",
                "POST /whep/\(room.room)\(head)\(kind)\(offer)",
                "PATCH /whep/\(room.room)/x\(head)\(patch)5\r\na=mid\r\n0\r\n\r\n",
                "GET /socket.io/?EIO=4&transport=polling\(head)\r\n",
                "POST /socket.io/?EIO=3&transport=polling&sid=x\(head)Content-Length: 6\r\n\r\n2:40\r\n",
            ]
            var web: [[UInt8]] = texts.map { Array($0.utf8) }
            web.append(Array("GET /ws\(head)\(upgrade)".utf8) + frame)
            let url = "rtsp://127.0.0.1/\(room.room)"
            let players: [String] = [
                "OPTIONS \(url) RTSP/1.0\r\nCSeq: 1\r\n\r\n",
                "DESCRIBE \(url) RTSP/1.0\r\nCSeq: 2\r\nAuthorization: Basic eDp5\r\nAccept: application/sdp\r\n\r\n",
                "SETUP \(url)/track1 RTSP/1.0\r\nCSeq: 3\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n",
                "GET_PARAMETER \(url) RTSP/1.0\r\nCSeq: 4\r\nContent-Length: 12\r\n\r\npacket_loss\n",
                "PLAY \(url) RTSP/1.0\r\nCSeq: 5\r\nSession: 1\r\nRange: npt=0-\r\n\r\n$\0\0\u{4}abcd",
            ]
            let media: [[UInt8]] = [
                STUNCheck(username: "abcd:efgh", integrity: [UInt8](repeating: 7, count: 20)).bytes,
                [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 1, 0, 0, 38] + [UInt8](repeating: 7, count: 46),
                [0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1] + [UInt8](repeating: 0x41, count: 100),
                [0x80, 200, 0, 6] + [UInt8](repeating: 1, count: 24),
            ]
            return [.web: web, .players: players.map { Array($0.utf8) }, .media: media]
        }

        /// A request that is cut, doubled, with huge numbers or wrong lengths, or with other bytes.
        private static func changed(_ seed: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0: bytes = Array(bytes[..<index])
                case 1: bytes += bytes[..<index]
                case 2:
                    let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
                    let digits = bytes.indices.filter { isDigit(bytes[$0]) }
                    guard let place = digits.randomElement(using: &random) else { continue }
                    let number = ["99999999999999999999", "4294967296", "-1", "0x7f", ""].randomElement(using: &random)
                    bytes.replaceSubrange(place...place, with: Array((number ?? "").utf8))
                case 3:
                    let line = String(repeating: "X-\(index): y\r\n", count: Int.random(in: 1...300, using: &random))
                    if let end = bytes.firstIndex(of: 0x0A) { bytes.insert(contentsOf: Array(line.utf8), at: end + 1) }
                case 4: bytes.insert(contentsOf: [UInt8](repeating: 0x41, count: index * 8), at: index)
                default: bytes = random.mutation(of: bytes)
                }
            }
            return Array(bytes.prefix(60_000))
        }
    }
}
