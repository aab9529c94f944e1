import BrowserDriver
import MediaTypes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// The pointer's way from the X server to the page, through the real capture.
    @Suite("The pointer of a real screen", .enabled(if: EndToEnd.hasBrowser))
    struct CapturePointerTests {
        private let desktop: SharedDesktop
        private let client: DisplayClient
        private let browser: Browser

        init() throws {
            desktop = try SharedDesktop(scene: ["--still"])
            client = try DisplayClient(desktop.screen.name)
            // The pointer is a white dot with its hot spot in the middle, on the scene's dark ground.
            client.showPointer(at: (300, 9), glyph: 38)
            browser = try Browser.shared()
        }

        private func decoded(_ viewer: ViewerPage) throws -> Int {
            Int(try #require(try viewer.statistic("framesDecoded")))
        }

        /// Waits until nothing but keep-alives comes.
        private func settle(_ viewer: ViewerPage) throws {
            try eventually("stillness") {
                let before = try decoded(viewer)
                try viewer.page.settle(for: .milliseconds(800))
                return try decoded(viewer) == before ? () : nil
            }
        }

        @Test("is followed by the page's, and while it moves nothing is encoded", .timeLimit(.minutes(5)))
        func motion() throws {
            let viewer = try ViewerPage(desktop.link, in: browser)
            try viewer.waitUntilPlaying()
            // A busy machine may begin by the WebSocket.
            try viewer.page.waitUntil("!screenRelay.isByWebSocket")
            try viewer.page.waitUntil("screenRelay.pointer.shown && screenRelay.pointer.x === 300")
            try settle(viewer)
            let begin = now()
            let before = try decoded(viewer)
            let shapes = try viewer.page.evaluate("screenRelay.pointer.shapes").int
            for step in 1...8 {
                for part in 1...6 {
                    client.moveMouse(to: (20 + step * 60 + part, 40 + step * 40 - part))
                    try viewer.page.settle(for: .milliseconds(16))
                }
                let place = "screenRelay.pointer.x === \(26 + step * 60) && screenRelay.pointer.y === \(34 + step * 40)"
                try viewer.page.waitUntil(place)
            }
            // A warp causes no event; the slow check finds it.
            client.warp(to: (111, 222))
            try viewer.page.waitUntil(
                "screenRelay.pointer.x === 111 && screenRelay.pointer.y === 222")
            let keepAlives = Int((now() - begin).nanoseconds / 2_500_000_000) + 1
            #expect(try decoded(viewer) - before <= keepAlives)
            #expect(try viewer.page.evaluate("screenRelay.pointer.shapes").int == shapes)
            #expect(try viewer.page.evaluate("screenRelay.pointer.drawn").bool == false)
            client.showPointer(at: (111, 222), glyph: 68)
            try viewer.page.waitUntil("screenRelay.pointer.shapes > \(shapes ?? 0)")
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
        }

        @Test(
            "is drawn for all while a player watches, and hidden by pages at the same picture; apart again when it leaves",
            .timeLimit(.minutes(5)))
        func player() throws {
            let page = try browser.newPage("about:blank")
            try page.runBeforeLoad(EndToEndInBrowser.BrowserPointerTests.observer(x: 300, y: 9))
            try page.navigate(desktop.link)
            try page.waitUntil("window.screenRelay?.pointer.shown")
            var color: UInt32 = 0
            /// Draws, so that there are pictures to look at, until `condition` holds.
            func draw(until condition: String) throws {
                try eventually(condition) {
                    color = (color &+ 0x151515) & 0xFFFFFF
                    client.fill(PixelRectangle(x: 600, y: 400, width: 30, height: 30), color: color)
                    try page.settle(for: .milliseconds(40))
                    return try page.evaluate("Boolean(\(condition))").bool == true ? () : nil
                }
            }
            try draw(until: "presented.length > 10 && !screenRelay.pointer.drawn")
            for round in 1...2 {
                let player = try WHEPPlayer(desktop.link, in: browser)
                #expect(try player.open()["status"].int == 201)
                // A page in the background isn't told of all of its pictures.
                try page.send("Page.bringToFront")
                try draw(until: "screenRelay.pointer.drawn && !screenRelay.pointer.shown")
                try draw(until: "presented.length > \(round * 30)")
                #expect(try page.evaluate("presented.at(-1).drawn").bool == true)
                // The player sees the pointer in the pictures, since it can't draw one itself.
                let seen = try #require(try player.viewer.picture()).meanColor(of: SceneRectangle(299, 8, 2, 2))
                #expect(seen.map { $0.green > 160 } == true, "\(String(describing: seen))")
                #expect(try player.page.evaluate("window.leave()").int == 200)
                try draw(until: "!screenRelay.pointer.drawn && screenRelay.pointer.shown")
            }
            let looked = try page.evaluate("presented.length").int ?? 0
            #expect((try page.evaluate("presented.filter((one) => one.drawn).length").int ?? 0) >= 10)
            let wrong = try page.evaluate(
                "presented.map((one, at) => ({ at, ...one })).filter((one) => one.drawn === one.shown)")
            // A busy browser may call back for a picture after that is shown; four changes a picture late would be a
            // fault.
            #expect(wrong.array?.count ?? .max <= 1, "\(wrong) of \(looked) pictures")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }
    }
}
