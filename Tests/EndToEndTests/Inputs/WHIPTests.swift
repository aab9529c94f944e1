import BrowserDriver
import MediaTypes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// A publisher that is written only from the RFC, with aiortc as its WebRTC, and Chromium as the viewer.
    @Suite("WHIP by aiortc", .enabled(if: EndToEnd.hasBrowser && PythonClient.isAvailable))
    struct WHIPTests {
        private func publisher(
            _ address: String, _ token: String, path: String = "/whip/screen", _ options: [String] = []
        ) throws -> PythonClient {
            try PythonClient("whip_publisher", in: .rtc, [address + path, token] + options)
        }

        /// Expects the bars, and the field beside them to go through several steps.
        private func expectMotion(_ viewer: ViewerPage, within limit: Interval = .seconds(90)) throws {
            var steps: Set<Int> = []
            try eventually("motion in the publisher's picture", within: limit) {
                guard let seen = try viewer.published(), seen.hasBars else { return false }
                steps.insert(seen.step)
                return steps.count >= 4
            }
        }

        @Test(
            "a publisher is seen, changes size, is refused what it may not do, leaves, and another goes on in its place",
            .timeLimit(.minutes(5)))
        func life() throws {
            let room = try PublishedRoom()
            let browser = try Browser.shared()
            let viewer = try ViewerPage(room.link, in: browser)
            let publisher = try publisher(room.address, room.token)
            let answer = try publisher.event("answered")
            #expect(answer["status"] as? Int == 201)
            #expect(answer["type"] as? String == "application/sdp")
            #expect(answer["accept_patch"] as? String == "application/trickle-ice-sdpfrag")
            #expect((answer["location"] as? String)?.hasPrefix("/whip/screen/screen/") == true)
            try publisher.event("connected")
            try viewer.waitUntilPlaying()
            try expectMotion(viewer)

            // Neither peer is a browser.
            let player = try PythonClient(
                "whep_player", in: .rtc, ["\(room.address)/whep/screen", "--token", room.token, "--delete"])
            try player.event("frame")
            try player.event("done")

            try publisher.tell("patch \(answer["etag"] as? String ?? "")")
            try publisher.event("patched") { $0["status"] as? Int == 204 }
            try publisher.tell("patch \"another\"")
            try publisher.event("patched") { $0["status"] as? Int == 412 }
            try publisher.tell("post")
            let second = try publisher.event("refused")
            #expect(second["status"] as? Int == 409)
            #expect((second["text"] as? String)?.contains("already has a source") == true)

            try publisher.tell("size 480x352")
            try eventually("the new size") { try viewer.picture()?.width == 480 }
            try expectMotion(viewer)

            // After a restart, media uses the old connection until the publisher takes the new one.
            try publisher.tell("restart")
            let restarted = try publisher.event("restarted")
            #expect(restarted["status"] as? Int == 200)
            #expect(restarted["etag"] as? String != answer["etag"] as? String)
            #expect((restarted["text"] as? String)?.contains("a=ice-ufrag:") == true)
            try publisher.tell("patch")
            try eventually("the answer to old candidates") {
                publisher.events.compactMap { $0["event"] as? String == "patched" ? $0["status"] as? Int : nil }
                    == [204, 412, 412]
            }
            try expectMotion(viewer)

            try publisher.tell("leave")
            let left = try publisher.event("left")
            #expect(left["status"] as? Int == 200)
            #expect(left["again"] as? Int == 404)
            try viewer.page.waitUntil("window.screenRelay.source === 'gone'")

            let next = try self.publisher(room.address, room.token)
            try next.event("connected")
            try viewer.page.waitUntil("window.screenRelay.source === 'live'")
            try eventually("the size of the next one") { try viewer.picture()?.width == 320 }
            try expectMotion(viewer)
            #expect(try viewer.reconnects() == 0)

            // It vanishes without notice; the host has to find out.
            try next.tell("vanish")
            try room.host.waitForLog("silent for 10 s", within: .seconds(90))
            try viewer.page.waitUntil("window.screenRelay.source === 'gone'")
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }

        @Test(
            "GStreamer's webrtcbin is seen, and leaves", .enabled(if: PythonClient.hasGStreamer),
            .timeLimit(.minutes(5)))
        func gstreamer() throws {
            let room = try PublishedRoom()
            let browser = try Browser.shared()
            let viewer = try ViewerPage(room.link, in: browser)
            let publisher = try PythonClient(
                "whip_gstreamer", in: .debian, [room.address + "/whip/screen", room.token])
            #expect(try publisher.event("answered")["status"] as? Int == 201)
            try publisher.event("connected")
            try viewer.waitUntilPlaying()
            try expectMotion(viewer)
            try publisher.tell("leave")
            #expect(try publisher.event("left")["status"] as? Int == 200)
            try viewer.page.waitUntil("window.screenRelay.source === 'gone'")
        }

        @Test("beside a capture a publisher makes a track of its own, and the capture goes on", .timeLimit(.minutes(5)))
        func besideCapture() throws {
            let desktop = try SharedDesktop(options: ["--presenters"])
            let (address, viewing) = parts(of: desktop.link)
            let token = try desktop.host.presentersToken()
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()

            let busy = try publisher(address, token)
            #expect(try busy.event("answered")["status"] as? Int == 409)
            let stranger = try publisher(address, "wrong")
            #expect(try stranger.event("answered")["status"] as? Int == 401)
            let audience = try publisher(address, viewing)
            #expect(try audience.event("answered")["status"] as? Int == 403)

            let publisher = try publisher(address, token, path: "/whip/screen/camera")
            #expect(try publisher.event("answered")["status"] as? Int == 201)
            try publisher.event("connected")
            let player = try WHEPPlayer(desktop.link, in: browser)
            let opened = try player.page.evaluate(
                "window.whep('\(player.endpoint)?track=camera', '\(token)')", within: .seconds(90))
            #expect(opened["status"].int == 201)
            try expectMotion(player.viewer)
            try viewer.expectMotion()
            #expect(try viewer.reconnects() == 0)

            try publisher.tell("leave")
            try publisher.event("left")
            try viewer.expectMotion()
        }
    }
}

/// `http://HOST:PORT` and the token of a link.
private func parts(of link: String) -> (address: String, token: String) {
    let halves = link.split(separator: "#", maxSplits: 1)
    let token = halves.last?.split(separator: ",", maxSplits: 1).last ?? ""
    return (String(halves.first?.dropLast() ?? ""), String(token))
}
