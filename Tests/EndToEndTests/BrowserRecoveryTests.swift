import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The capture dies and comes back; a viewer's page stays.
    @Suite("Capture that dies", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserRecoveryTests {
        @Test("share starts capture again, and the viewer's page goes on by itself", .timeLimit(.minutes(2)))
        func shared() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.launch()
            let viewer = try beginWatching(desktop, in: browser)
            let first = try desktop.captureProcessID()
            kill(first, SIGKILL)
            try desktop.host.waitForLog("capture is process", count: 2)
            #expect(try desktop.captureProcessID() != first)
            try expectSamePage(viewer, goesOn: desktop)
        }

        @Test(
            "host and capture apart, in either order of starting: capture killed and started again, and the page goes on",
            .timeLimit(.minutes(2)), arguments: SharedDesktop.Order.allCases)
        func apart(order: SharedDesktop.Order) throws {
            let desktop = try SharedDesktop(apart: order)
            let browser = try Browser.launch()
            let viewer = try beginWatching(desktop, in: browser)
            let capture = try #require(desktop.capture)
            capture.child.terminate(SIGKILL)
            #expect(capture.child.wait(within: .seconds(2)) == .signaled(SIGKILL))
            let still = try viewer.waitForCounter(past: -1)
            #expect(try viewer.waitForCounter(past: -1) >= still)
            try desktop.restartCapture()
            try expectSamePage(viewer, goesOn: desktop)
        }

        @Test(
            "a capture that hangs is noticed by the page before the host gives it up, and its return as well",
            .timeLimit(.minutes(2)))
        func hang() throws {
            let desktop = try SharedDesktop(apart: .hostFirst)
            let viewer = try beginWatching(desktop, in: Browser.launch())
            // The page has been open for a moment only, but the host says that the source is never silent.
            let notice = "document.getElementById('notice')"
            try viewer.page.evaluate(
                """
                window.warnings = [];
                new MutationObserver(() => {
                  if (!\(notice).hidden) window.warnings.push(`${screenRelay.source}: ${\(notice).textContent}`);
                }).observe(\(notice), { childList: true, attributes: true }); 0
                """)
            desktop.capture?.freeze()
            try viewer.page.waitUntil("window.warnings.length > 0")
            let first = try viewer.page.evaluate("window.warnings[0]").string ?? ""
            #expect(first.hasPrefix("live: No picture for "), "\(first)")
            #expect(
                try viewer.page.evaluate("document.getElementById('status').textContent").string == "Not up to date")
            desktop.capture?.thaw()
            try viewer.page.waitUntil("\(notice).hidden && document.getElementById('status').textContent === 'Live'")
            try viewer.expectMotion()
        }

        @Test("a page reloads itself if its files could not be loaded", .timeLimit(.minutes(2)))
        func lostFiles() throws {
            let desktop = try SharedDesktop()
            let page = try Browser.launch().newPage()
            try page.send("Network.enable")
            // While the browser's network changes, loading fails for some of the page's own files.
            try page.send("Network.setBlockedURLs", ["urls": ["*.js*"]])
            try page.navigate(desktop.link)
            #expect(try page.evaluate("window.screenRelay === undefined").bool == true)
            try page.send("Network.setBlockedURLs", ["urls": []])
            try ViewerPage(page).waitUntilPlaying()
        }

        private func beginWatching(_ desktop: SharedDesktop, in browser: Browser) throws -> ViewerPage {
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            try viewer.expectMotion()
            try viewer.page.evaluate("window.mark = 'the same page'")
            return viewer
        }

        private func expectSamePage(_ viewer: ViewerPage, goesOn desktop: SharedDesktop) throws {
            // Let by first what may still be on its way.
            let last = try viewer.waitForCounter(past: -1)
            try viewer.waitForCounter(past: last + 20)
            #expect(try viewer.page.evaluate("window.mark").string == "the same page")
            #expect(try viewer.page.evaluate("window.connections.length").int == 1)
            #expect(try viewer.page.evaluate("window.connections[0].connectionState").string == "connected")
            #expect(try viewer.reconnects() == 0)
            #expect(try viewer.page.evaluate("window.screenRelay.phase").string == "playing")
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }
    }
}
