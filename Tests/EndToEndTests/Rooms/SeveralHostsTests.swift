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
        private let folder: TemporaryFolder
        private let hosts: TwoHosts

        init() throws {
            folder = try TemporaryFolder()
            hosts = try TwoHosts(in: folder)
        }

        private func player(of desktop: SharedDesktop) throws -> PythonClient {
            let link = try #require(RoomLink(desktop.link))
            return try PythonClient(
                "whep_player", in: .rtc, ["http://\(hosts.place)/whep/\(link.room)", "--token", link.token])
        }

        /// Waits for that many more events of a kind.
        private func expectMore(_ count: Int, _ event: String, of client: PythonClient) throws {
            func number() -> Int { client.events.count { $0["event"] as? String == event } }
            let before = number()
            try eventually("\(count) more of '\(event)'", holds: { number() >= before + count })
        }

        @Test(
            "viewers get pictures from the host of their room, and don't notice the end of another one",
            .timeLimit(.minutes(5)))
        func rooms() throws {
            let stage = try #require(RoomLink(hosts.stage.link))
            let players = try [hosts.desk, hosts.stage].map(player(of:))
            let frames = try PythonClient(
                "frames_client", in: .rtc,
                [
                    "ws://\(hosts.place)/ws?room=\(stage.room)", "\(stage.room),\(stage.token)",
                    folder.file("stage.h264"),
                ])
            for (player, width) in zip(players, [320, 640]) {
                #expect(try player.event("frame")["width"] as? Int == width)
            }
            try frames.event("picture")

            hosts.desk.host.child.terminate(SIGKILL)
            try expectMore(50, "frame", of: players[1])
            try expectMore(50, "picture", of: frames)
            #expect(try player(of: hosts.stage).event("frame")["width"] as? Int == 640)
            // Its viewers wait for it; the other host doesn't refuse them.
            #expect(try player(of: hosts.desk).event("answered")["status"] as? Int == 503)
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
            let browser = try Browser.launch()
            for (desktop, width) in [(hosts.desk, 320), (hosts.stage, 640)] {
                let fragment = try #require(desktop.link.split(separator: "#").last)
                let viewer = try ViewerPage("http://\(hosts.place)/#\(fragment)", in: browser)
                try viewer.waitUntilPlaying()
                try viewer.page.waitUntil("document.getElementById('video').videoWidth === \(width)")
            }
        }
    }
}
