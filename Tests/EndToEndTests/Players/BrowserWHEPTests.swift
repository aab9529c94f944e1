import BrowserDriver
import MediaTypes
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// A player in a page of another origin.
    @Suite("WHEP in a foreign page", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserWHEPTests {
        @Test("with the token it plays, trickles and leaves", .timeLimit(.minutes(5)))
        func plays() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let player = try WHEPPlayer(desktop.link, in: browser)
            #expect(try player.page.evaluate("window.origin").string == "null")
            let session = try player.open()
            #expect(session["status"].int == 201)
            #expect(session["patched"].int == 204)
            try player.viewer.expectMotion(by: 20)
            expectPatches(in: try #require(try player.viewer.picture()), "the player's picture")
            #expect(try player.page.evaluate("window.look()").int == 204)
            #expect(player.page.consoleErrors.isEmpty, "\(player.page.consoleErrors)")

            // Nobody else watches, so the capture is told to pause when the last viewer leaves.
            let rests = desktop.host.occurrences(of: "the host wants no pictures")
            #expect(try player.page.evaluate("window.leave()").int == 200)
            try desktop.host.waitForLog("a player left")
            try desktop.host.waitForLog("the host wants no pictures", count: rests + 1)
            #expect(try player.page.evaluate("window.look()").int == 404)
        }

        @Test("by an ICE restart it goes over to new credentials, and its picture goes on", .timeLimit(.minutes(5)))
        func restarts() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let player = try WHEPPlayer(desktop.link, in: browser)
            #expect(try player.open()["status"].int == 201)
            try player.viewer.expectMotion(by: 10)
            let before = try player.page.evaluate("window.path()")
            let restarted = try player.page.evaluate("window.restart()", within: .seconds(90))
            #expect(restarted["status"].int == 200, "\(restarted)")
            #expect(restarted["tag"].string != restarted["wasTag"].string)
            let ufrag = try #require(restarted["ufrag"].string)
            #expect(before["ufrag"].string != ufrag)
            try eventually("the new generation's path") {
                try player.page.evaluate("window.path()")["ufrag"].string == ufrag
            }
            try player.viewer.expectMotion(by: 20)
            let after = try player.page.evaluate("window.path()")
            #expect(after["state"].string == "connected")
            #expect(after["ssrc"].int == before["ssrc"].int)
            #expect(after["lost"].int == 0)
            #expect(desktop.host.occurrences(of: "is connected from") == 1, "one handshake")
            expectPatches(in: try #require(try player.viewer.picture()), "the player's picture")
            #expect(try player.page.evaluate("window.leave()").int == 200)
        }

        @Test("without the token it can neither read an answer nor join", .timeLimit(.minutes(5)))
        func refused() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let player = try WHEPPlayer(desktop.link, in: browser)
            for token in ["", "wrong"] {
                let answer = try player.page.evaluate(
                    "window.whep('\(player.endpoint)', '\(token)').then(a => 'read ' + a.status, e => e.name)")
                #expect(answer.string == "TypeError")
            }
            #expect(try player.page.evaluate("connections.length").int == 0)
            let snapshot = try player.page.evaluate(
                "fetch('\(player.host)/snapshot.png?room=screen').then(a => 'read ' + a.status, e => e.name)")
            #expect(snapshot.string == "TypeError")
            // It fails even with the token, since a browser opens a WebSocket with whatever credentials it has.
            let joined = try player.page.evaluate(
                """
                new Promise((done) => {
                  const socket = new WebSocket('\(player.host.replacing("http:", with: "ws:"))/ws');
                  socket.onopen = () => done('opened');
                  socket.onclose = () => done('closed');
                })
                """)
            #expect(joined.string == "closed")
            #expect(desktop.host.occurrences(of: "a player came") == 0)
            #expect(desktop.host.occurrences(of: "a viewer came") == 0)
        }
    }
}
