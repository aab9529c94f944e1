import BrowserDriver
import MediaTypes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// `--chroma`, from the real screen to the page.
    @Suite("A real screen in 4:4:4", .enabled(if: EndToEnd.hasBrowser))
    struct CaptureChromaTests {
        private typealias Stripes = (red: Int, black: Int, other: Int)

        /// A screen whose odd columns are red and whose other columns are black, shared.
        private func desktop(_ chroma: String) throws -> SharedDesktop {
            let size = PictureSize(width: 320, height: 240)
            let desktop = try SharedDesktop(scene: ["--still"], options: ["--chroma", chroma], size: size)
            let client = try DisplayClient(desktop.screen.name)
            client.fill(PixelRectangle(x: 0, y: 0, width: 320, height: 240), color: 0)
            client.waits = false
            for column in stride(from: 1, to: 320, by: 2) {
                client.fill(PixelRectangle(x: column, y: 0, width: 1, height: 240), color: 0xFF0000)
            }
            client.waits = true
            client.warp(to: (319, 239))
            return desktop
        }

        private func stripes(_ viewer: ViewerPage) throws -> Stripes? {
            try viewer.picture().map(EndToEndInBrowser.BrowserChromaTests.stripes)
        }

        private func isSharp(_ seen: Stripes) -> Bool { seen.red >= 240 && seen.black <= 12 && seen.other <= 24 }

        private func waitUntilSharp(_ viewer: ViewerPage, _ what: String) throws {
            var last: Stripes?
            do {
                try eventually(what) {
                    last = try stripes(viewer)
                    return last.map(isSharp) == true ? () : nil
                }
            } catch {
                Issue.record("\(what): \(String(describing: last))")
                throw error
            }
        }

        @Test("red columns on black don't bleed into each other", .timeLimit(.minutes(5)))
        func sharp() throws {
            let desktop = try desktop("444")
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            try waitUntilSharp(viewer, "sharp columns")
            #expect(try viewer.reconnects() == 0)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }

        @Test("4:2:0 takes its place while a page or a player needs that, and gives it back", .timeLimit(.minutes(5)))
        func fallsBack() throws {
            let desktop = try desktop("444,420")
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            try waitUntilSharp(viewer, "sharp columns")

            let page = try browser.newPage("about:blank")
            try page.runBeforeLoad(EndToEndInBrowser.BrowserChromaTests.limit)
            try page.navigate(desktop.link)
            let limited = ViewerPage(page)
            try limited.waitUntilPlaying()
            try eventually("4:2:0 in the first page") { try stripes(viewer).map { $0.black > 30 } == true ? () : nil }
            page.close()
            try waitUntilSharp(viewer, "sharp columns after the page has left")

            let player = try WHEPPlayer(desktop.link, in: browser)
            try player.page.evaluate(EndToEndInBrowser.BrowserChromaTests.limit + "0")
            #expect(try player.open()["status"].int == 201)
            try eventually("4:2:0 again") { try stripes(viewer).map { $0.black > 30 } == true ? () : nil }
            try eventually("the player's picture") {
                try player.viewer.picture().map { EndToEndInBrowser.BrowserChromaTests.stripes($0).black > 30 } == true
                    ? () : nil
            }
            #expect(try player.page.evaluate("window.leave()").int == 200)
            try waitUntilSharp(viewer, "sharp columns after the player has left")
            #expect(try viewer.reconnects() == 0)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }
    }
}
