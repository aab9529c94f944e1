import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// One Chromium presents in the room, another one watches.
    @Suite("Presenting from the page", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserPresentingTests {
        /// Waits for the presenter's picture to be the large one, and to move.
        private func expectMotion(_ viewer: ViewerPage) throws {
            var steps: Set<Int> = []
            try eventually("motion in the presenter's picture") {
                guard let seen = try viewer.published(), seen.hasBars else { return false }
                steps.insert(seen.step)
                return steps.count >= 4
            }
        }

        /// Waits until the viewer has lost the picture, and returns what it is told.
        private func reason(at viewer: ViewerPage, within limit: Duration) throws -> String {
            try viewer.page.waitUntil("screenRelay.source === 'gone'", within: limit)
            try viewer.page.waitUntil("!document.getElementById('notice').hidden")
            return try viewer.page.evaluate("document.getElementById('notice').textContent").string ?? ""
        }

        @Test(
            "a screen is seen and heard by a viewer and by an RTSP player, and its end is told",
            .enabled(if: FFmpeg.isAvailable), .timeLimit(.minutes(5)))
        func screen() throws {
            let room = try PublishedRoom(["--rtsp", "0"])
            let browser = try Browser.launch()
            let viewer = try ViewerPage(room.link, in: browser)
            let presenter = try PresentingPage(room)
            let track = try presenter.share("screen")
            try viewer.waitUntilPlaying()
            try expectMotion(viewer)
            let title = "[...document.querySelectorAll('.track[aria-pressed=true] .name')].map((e) => e.textContent)[0]"
            #expect(try viewer.page.evaluate(title).string == "Ann: screen")

            try viewer.page.evaluate(EndToEndBesideBrowser.WHIPSoundTests.loudest)
            try viewer.page.waitUntil("document.getElementById('listen')?.checkVisibility()")
            try viewer.page.evaluate("document.getElementById('listen').click()")
            try eventually("the tone") {
                let loudest = try viewer.page.evaluate("window.loudest()", within: .seconds(10))
                return abs((loudest["hertz"].number ?? 0) - 440) < 3 && loudest["level"].number ?? -100 > -40
            }

            let address = try room.printed("Players of RTSP: ")
            let file = room.folder.file("rtsp.mkv")
            let copied = try FFmpeg.run([
                "-rtsp_transport", "tcp", "-i", "\(address)/\(track)", "-map", "0", "-c", "copy",
                "-t", "3", file,
            ])
            #expect(copied.status == .exited(0), "\(copied.messages)")
            let pictures = try FFmpeg.decode(file, to: "gray")
            #expect(pictures.bytes.count >= 10 * 640 * 480, "\(pictures.messages)")

            // As by the browser's bar. A track that a script stops tells no one.
            try presenter.page.evaluate(
                "window.shared.getVideoTracks()[0].stop(), window.shared.getVideoTracks()[0].onended()")
            #expect(try reason(at: viewer, within: .seconds(3)).contains("Ann has ended sharing in the browser"))
            try presenter.share("screen")
            try viewer.page.waitUntil("screenRelay.source === 'live'")
            try expectMotion(viewer)
            try presenter.page.evaluate("document.getElementById('present-screen').click()")
            #expect(try reason(at: viewer, within: .seconds(3)).contains("Ann has stopped sharing"))
            // A page that is loaded again has the same track, so that viewers stay with it.
            try presenter.page.evaluate("window.isOld = true; location.reload()")
            try presenter.page.waitUntil("!window.isOld && document.getElementById('present')?.hidden === false")
            #expect(try presenter.share("screen") == track)
            try viewer.page.waitUntil("screenRelay.source === 'live'")
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
            #expect(presenter.page.consoleErrors.isEmpty, "\(presenter.page.consoleErrors)")
        }

        enum Ending: CaseIterable {
            case closedPage, crashedTab, killedBrowser
        }

        @Test(
            "viewers are told within 3 s who is gone: by a closed page, a crashed tab or a killed browser",
            .timeLimit(.minutes(5)), arguments: Ending.allCases)
        func endings(ending: Ending) throws {
            let room = try PublishedRoom()
            let browser = try Browser.launch()
            let viewer = try ViewerPage(room.link, in: browser)
            // The browser's own screen and camera, as far as a browser without a window has them.
            let presenter = try PresentingPage(room, replacesScreen: false)
            try presenter.share("screen")
            try viewer.page.waitUntil("screenRelay.phase === 'playing' && screenRelay.framesDecoded > 10")
            switch ending {
            case .closedPage: try presenter.page.navigate("about:blank")
            // There is no answer from a tab that has crashed.
            case .crashedTab: _ = try? presenter.page.send("Page.crash", within: .milliseconds(100))
            case .killedBrowser: presenter.browser.kill()
            }
            let reason = try reason(at: viewer, within: .seconds(3))
            let isClosed = ending == .closedPage
            let text = isClosed ? "Ann has closed the page" : "the browser of Ann has ended unexpectedly"
            #expect(reason.contains(text), "\(reason)")
            withExtendedLifetime(presenter) {}
        }

        @Test(
            "what is presented becomes the large picture unless another is pinned, and a viewer has no way to present",
            .timeLimit(.minutes(5)))
        func stage() throws {
            let room = try PublishedRoom()
            let browser = try Browser.launch()
            let viewer = try ViewerPage(room.link, in: browser)
            let presenter = try PresentingPage(room)
            let camera = try presenter.share("camera")
            try viewer.page.waitUntil("screenRelay.tracks.find(({ shown }) => shown)?.name === '\(camera)'")
            // A click pins it.
            try viewer.page.evaluate("document.querySelector('.track[aria-pressed=true]').click()")
            try viewer.page.waitUntil("document.querySelector('.track[data-pinned]') !== null")
            let screen = try presenter.share("screen")
            try viewer.page.waitUntil(
                "screenRelay.tracks.some(({ name, source }) => name === '\(screen)' && source === 'live')")
            #expect(
                try viewer.page.evaluate("screenRelay.tracks.find(({ shown }) => shown).name").string == camera)
            try viewer.page.evaluate("document.querySelector('.track[data-pinned]').click()")
            try viewer.page.evaluate("document.querySelectorAll('.track')[2].click()")
            try expectMotion(viewer)
            // The presenter sees its own shares without the host.
            #expect(try presenter.page.evaluate("screenRelay.tracks[0].shown") == true)

            #expect(try viewer.page.evaluate("document.getElementById('present') === null") == true)
            let status = """
                fetch('/whip/screen/evil', {
                  method: 'POST', body: 'v=0',
                  headers: {
                    'Content-Type': 'application/sdp', Authorization: 'Bearer ' + location.hash.split(',')[1],
                  },
                }).then((answer) => answer.status)
                """
            #expect(try viewer.page.evaluate(status).int == 403)
        }
    }
}
