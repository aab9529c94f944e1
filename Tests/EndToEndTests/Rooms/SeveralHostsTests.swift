import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    @Suite(
        "Several hosts under one address",
        .enabled(if: EndToEnd.isPossible && TwoHosts.isAvailable && PythonClient.isAvailable))
    struct SeveralHostsTests {
        /// `Tools/soak hosts` asks for more.
        private static let signUps = Survival.count("SCREENRELAY_SIGN_UPS", default: 100)

        private let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        private func player(of desktop: SharedDesktop, behind hosts: TwoHosts) throws -> PythonClient {
            let link = LinkParts(desktop.link)
            return try PythonClient(
                "whep_player", in: .rtc, ["http://\(hosts.place)/whep/\(link.room)", "--token", link.token])
        }

        /// Waits for that many more events of a kind.
        private func expectMore(_ count: Int, _ event: String, of client: PythonClient) throws {
            func number() -> Int { client.events.count { $0["event"] as? String == event } }
            let before = number()
            try eventually("\(count) more of '\(event)'", holds: { number() >= before + count })
        }

        /// The first candidate in the answer to a client's offer: `ADDRESS:PORT`.
        private func candidate(for client: PythonClient) throws -> String {
            let text = try client.event("answered")["text"] as? String ?? ""
            let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=candidate:") }
            // "a=candidate:1 1 udp 2130706431 127.0.0.11 8189 typ host"
            return try #require(line, "\(text)").split(separator: " ").dropFirst(4).prefix(2).joined(separator: ":")
        }

        @Test(
            "viewers get pictures from where the host of their room says, and don't notice the end of another one",
            .timeLimit(.minutes(5)))
        func rooms() throws {
            let hosts = try TwoHosts(in: folder)
            let stage = LinkParts(hosts.stage.link)
            let players = try hosts.shares.map { try player(of: $0, behind: hosts) }
            let frames = try PythonClient(
                "frames_client", in: .rtc,
                [
                    "ws://\(hosts.place)/ws?room=\(stage.room)", "\(stage.room),\(stage.token)",
                    folder.file("stage.h264"),
                ])
            for (index, width) in [320, 640].enumerated() {
                #expect(try players[index].event("frame")["width"] as? Int == width)
                #expect(try candidate(for: players[index]) == hosts.media[index])
                let connected = try players[index].event("state") { $0["path"] is String }
                #expect(connected["path"] as? String == hosts.media[index])
            }
            try frames.event("picture")

            hosts.desk.host.child.terminate(SIGKILL)
            try expectMore(50, "frame", of: players[1])
            try expectMore(50, "picture", of: frames)
            #expect(try player(of: hosts.stage, behind: hosts).event("frame")["width"] as? Int == 640)
            // Its viewers wait for it; the other host doesn't refuse them.
            #expect(try player(of: hosts.desk, behind: hosts).event("answered")["status"] as? Int == 503)
        }

        @Test(
            "a publisher and players of an unlisted room meet at one host, and after its end at the other for good",
            .timeLimit(.minutes(5)))
        func unlisted() throws {
            let (viewing, presenting) = ("the-room-token-of-both", "the-presenters-token-of-both")
            let hosts = try TwoHosts(
                in: folder, rooms: ["talk", "talk"],
                options: [
                    "--token-file", folder.write("viewing", Array(viewing.utf8)),
                    "--present-token-file", folder.write("presenting", Array(presenting.utf8)),
                ])
            let base = "http://\(hosts.place)"
            /// Has a player come, and returns where it has the publisher's picture from.
            func watch() throws -> String {
                let player = try PythonClient(
                    "whep_player", in: .rtc, ["\(base)/whep/talk?track=camera", "--token", viewing])
                #expect(try player.event("frame")["width"] as? Int == 480)
                return try candidate(for: player)
            }
            /// Has a publisher and then a player come, and returns the publisher, and where both have their media.
            func meet() throws -> (publisher: PythonClient, place: String) {
                // haproxy needs some seconds to find out that a host has ended, and until then refuses its rooms.
                let publisher = try eventually("a host for a publisher") { () -> PythonClient? in
                    let words = ["\(base)/whip/talk/camera", presenting, "--size", "480x352"]
                    let publisher = try PythonClient("whip_publisher", in: .rtc, words)
                    return try publisher.event("answered")["status"] as? Int == 201 ? publisher : nil
                }
                try publisher.event("connected")
                let place = try candidate(for: publisher)
                #expect(try watch() == place)
                return (publisher, place)
            }
            let first = try #require(hosts.media.firstIndex(of: try meet().place))
            hosts.shares[first].host.child.terminate(SIGKILL)
            let end = now()
            let (publisher, place) = try meet()
            #expect(place == hosts.media[1 - first])
            print("several hosts: another publisher and player met \((now() - end).milliseconds) ms after a host's end")
            // By the hash of its name alone, the room would be at this host again.
            try hosts.restart(first)
            #expect(try watch() == place)
            #expect(publisher.child.poll() == nil, "the publisher has ended")
            #expect(try hosts.answer(to: "show table screenrelay").contains("key=talk "))
        }

        @Test("/api and /metrics of a host are only on its own machine", .timeLimit(.minutes(5)))
        func administration() throws {
            let hosts = try TwoHosts(in: folder, options: ["--admin-token-file", folder.file("admin")])
            func status(_ path: String, _ port: UInt16) throws -> Int? {
                let socket = try TestSocket(port: port)
                try socket.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                let answer = String(decoding: try socket.readToEnd(path), as: UTF8.self)
                return answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            }
            for port in hosts.ports {
                #expect(try status("/api/rooms", port) == 401)
                #expect(try ![nil, 404].contains(status("/metrics", port)))
            }
            // Without haproxy's rule, a host would answer 401.
            for path in ["/api/rooms", "/api/rooms?room=desk", "/%61pi/rooms", "/metrics?room=stage", "/%6detrics"] {
                #expect(try status(path, hosts.port) == 404, "\(path)")
            }
            #expect(try status("/healthz", hosts.port) == 204)
        }

        @Test("viewers sign up through haproxy, and their media passes it by", .timeLimit(.minutes(20)))
        func cost() throws {
            let hosts = try TwoHosts(in: folder)
            let player = try player(of: hosts.desk, behind: hosts)
            try player.event("frame")
            let before = try hosts.passedBytes
            try expectMore(50, "frame", of: player)
            #expect(try hosts.passedBytes == before)

            let stage = LinkParts(hosts.stage.link)
            let room = try #require(RoomLink("http://\(hosts.place)/#\(stage.room),\(stage.token)"))
            let work = try hosts.cpuTime
            for _ in 0..<Self.signUps { _ = try room.open(port: room.port) }
            let time = try hosts.cpuTime - work
            let bytes = try hosts.passedBytes - before
            #expect(bytes > 1000 * Self.signUps)
            print(
                "several hosts: haproxy took \(time.milliseconds) ms of CPU time for \(Self.signUps) sign-ups over "
                    + "WHEP and passed \(bytes) bytes, and none of a player's 50 frames")
        }
    }
}

extension EndToEndInBrowser {
    @Suite("The page of several hosts", .enabled(if: EndToEnd.hasBrowser && TwoHosts.isAvailable))
    struct BrowserSeveralHostsTests {
        @Test("shows the room of its link", .timeLimit(.minutes(5)))
        func page() throws {
            let folder = try TemporaryFolder()
            let hosts = try TwoHosts(in: folder)
            let browser = try Browser.shared()
            for (desktop, width) in [(hosts.desk, 320), (hosts.stage, 640)] {
                let fragment = try #require(desktop.link.split(separator: "#").last)
                let viewer = try ViewerPage("http://\(hosts.place)/#\(fragment)", in: browser)
                try viewer.waitUntilPlaying()
                try viewer.page.waitUntil("document.getElementById('video').videoWidth === \(width)")
            }
        }
    }
}
