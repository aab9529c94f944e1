import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// How the page looks: where the picture is, what is measured, and which language it speaks.
    @Suite("The page as a view", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserViewTests {
        /// Where the picture is, as "left top width height", in whole CSS pixels.
        private static let place = """
            (() => {
              const { left, top, width, height } = document.getElementById('picture').getBoundingClientRect();
              return [left, top, width, height].map(Math.round).join(' ');
            })()
            """

        private func press(_ key: String, on page: Page) throws {
            for type in ["keyDown", "keyUp"] {
                var event: JSONValue = ["type": .string(type), "key": .string(key)]
                if key.count == 1, type == "keyDown" {
                    event = ["type": .string(type), "key": .string(key), "text": .string(key)]
                }
                try page.send("Input.dispatchKeyEvent", event)
            }
        }

        private func mouse(_ type: String, _ x: Int, _ y: Int, on page: Page, wheel: Int = 0, isControl: Bool = false)
            throws
        {
            try page.send(
                "Input.dispatchMouseEvent",
                [
                    "type": .string(type), "x": .number(Double(x)), "y": .number(Double(y)),
                    "button": type == "mouseWheel" ? "none" : "left", "clickCount": 1,
                    "buttons": type == "mouseMoved" ? 1 : 0,
                    "deltaX": 0, "deltaY": .number(Double(wheel)), "modifiers": isControl ? 2 : 0,
                ])
        }

        @Test("picture in picture plays on, is left again, and ends with the sharing", .timeLimit(.minutes(5)))
        func inset() throws {
            let desktop = try SharedDesktop()
            let viewer = try ViewerPage(desktop.link, in: Browser.shared())
            let page = viewer.page
            try viewer.waitUntilPlaying()
            let isInset = "document.pictureInPictureElement === document.getElementById('video')"
            let isPressed = "document.getElementById('inset').getAttribute('aria-pressed') === 'true'"
            try page.waitUntil("document.getElementById('inset').checkVisibility()")
            try page.evaluate("document.getElementById('inset').click()")
            try page.waitUntil("\(isInset) && \(isPressed)")
            try viewer.expectMotion()
            try press("p", on: page)
            try page.waitUntil("!document.pictureInPictureElement && !(\(isPressed))")
            // As browsers do when its window is closed.
            try page.evaluate("document.getElementById('video').pause()")
            try page.waitUntil("!document.getElementById('video').paused")
            try viewer.expectMotion()
            try press("p", on: page)
            try page.waitUntil(isInset)
            #expect(desktop.host.stop() == .exited(0))
            try page.waitUntil("!document.pictureInPictureElement")
        }

        @Test(
            "the picture is fitted, fills, has its own size, and is zoomed and moved by keys, wheel and drag",
            .timeLimit(.minutes(5)))
        func view() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            let page = viewer.page
            try page.setViewport(width: 800, height: 400)
            try viewer.waitUntilPlaying()
            // The picture is 640x480 in 800x400.
            #expect(try page.evaluate("screenRelay.mode").string == "fit")
            try press("c", on: page)
            try page.waitUntil("\(Self.place) === '0 -100 800 600'")
            try press("1", on: page)
            #expect(try page.evaluate(Self.place).string == "80 -40 640 480")
            #expect(try page.evaluate("screenRelay.scale").number == 1)
            try press("ArrowDown", on: page)
            #expect(try page.evaluate(Self.place).string == "80 -80 640 480")
            try press("0", on: page)
            #expect(try page.evaluate("screenRelay.mode").string == "fit")

            // The point of the picture that is under the pointer stays there.
            try mouse("mouseWheel", 300, 100, on: page, wheel: -300, isControl: true)
            try page.waitUntil("screenRelay.mode === 'zoom'")
            let scale = try #require(try page.evaluate("screenRelay.scale").number)
            #expect(abs(scale - 400 / 480 * 1.25 * 1.25 * 1.25) < 0.001)
            let under = try page.evaluate(
                """
                (() => {
                  const { left, top } = document.getElementById('picture').getBoundingClientRect();
                  return [Math.round((300 - left) / screenRelay.scale), Math.round((100 - top) / screenRelay.scale)].join();
                })()
                """)
            #expect(under.string == "200,120")
            let before = try page.evaluate(Self.place).string
            try mouse("mousePressed", 400, 200, on: page)
            try mouse("mouseMoved", 360, 170, on: page)
            try mouse("mouseReleased", 360, 170, on: page)
            let after = try page.evaluate(Self.place).string
            let moved = zip(try numbers(after), try numbers(before)).map(-)
            #expect(moved == [-40, -30, 0, 0])
            try press("w", on: page)
            #expect(try page.evaluate("screenRelay.mode").string == "fit")

            // The bar hides, and comes back with a key; the list of keys names all keys.
            try page.waitUntil("document.getElementById('stage').classList.contains('idle')", within: .seconds(6))
            try press("?", on: page)
            #expect(try page.evaluate("document.getElementById('keys').open").bool == true)
            #expect(try page.evaluate("document.querySelectorAll('#keys-list dt').length").int ?? 0 >= 11)
            #expect(try page.evaluate("document.getElementById('stage').classList.contains('idle')").bool == false)
            try press("?", on: page)
            #expect(try page.evaluate("document.getElementById('keys').open").bool == false)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        private func numbers(_ text: String?) throws -> [Int] {
            try #require(text).split(separator: " ").compactMap { Int($0) }
        }

        @Test(
            "the delay is measured; charts tell it to eyes, ears and keys; a still screen is said to be still",
            .timeLimit(.minutes(5)))
        func figures() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            let page = viewer.page
            try viewer.waitUntilPlaying()
            // A busy machine may begin by the WebSocket.
            try page.waitUntil("!screenRelay.isByWebSocket")
            let line = try page.waitUntil("/^\\d+ ms · \\d+ fps · .*bit.s · 640 × 480$/.exec(screenRelay.figures)?.[0]")
            #expect(line.string != nil)
            let delay = try page.evaluate("screenRelay.delay")
            let own = try #require(delay["own"].number)
            let sinceArrival = try #require(delay["sinceArrival"].number)
            let clockError = try #require(delay["clockError"].number)
            print("delay \(own) ms, of it \(sinceArrival) ms since arrival; the clock is known within \(clockError) ms")
            #expect(clockError < 50)
            // Everything before its arrival took some time, too, but not much on one machine.
            #expect(own > sinceArrival - clockError && own < sinceArrival + 500)
            if let browsers = delay["browsers"].number { #expect(abs(own - browsers) < 100) }

            let list = "document.getElementById('charts-list').childElementCount"
            #expect(try page.evaluate(list).int == 0)
            try press("s", on: page)
            // Four charts, the resolution and the connection.
            try page.waitUntil("\(list) === 6")
            let path = try page.evaluate("document.querySelector('.paths').innerText").string ?? ""
            #expect(path.contains("UDP (direct)"), "\(path)")
            #expect(path.contains(/This device: (own address|address as the peer sees it)/), "\(path)")
            try page.waitUntil("document.querySelector('.chart path').getAttribute('d').includes('L')")
            try page.evaluate("document.querySelector('.chart').focus()")
            for _ in 0..<2 { try press("ArrowLeft", on: page) }
            let read = "document.querySelector('.chart').getAttribute('aria-valuetext')"
            #expect(try page.evaluate(read).string?.hasPrefix("2 s ago: ") == true)
            try press("Escape", on: page)
            #expect(try page.evaluate(list).int == 0)
            #expect(try page.evaluate("document.activeElement.id").string == "figures")

            desktop.scene.freeze()
            try page.waitUntil("screenRelay.figures === 'nothing moves · 640 × 480'")
            // The picture that a still screen sends now and then doesn't count as motion.
            try page.settle(for: .milliseconds(2600))
            #expect(try page.evaluate("screenRelay.figures").string == "nothing moves · 640 × 480")
            desktop.scene.thaw()
            try page.waitUntil("screenRelay.figures.includes('fps')")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test(
            "over a still screen the delay is no keep-alive's, and the charts say that nothing moves",
            .timeLimit(.minutes(5)))
        func stillCharts() throws {
            let desktop = try SharedDesktop(scene: ["--still"])
            let browser = try Browser.shared()
            let viewer = try ViewerPage(desktop.link, in: browser)
            let page = viewer.page
            try viewer.waitUntilPlaying()
            // The refined pictures have arrived; what comes from here on are keep-alives.
            try page.waitUntil(
                "screenRelay.figures === 'nothing moves · 640 × 480' && screenRelay.delay.own !== undefined")
            try press("s", on: page)
            try page.waitUntil("document.querySelector('.chart')")
            try page.evaluate(
                """
                window.stamps = [];
                const video = document.getElementById('video');
                const look = (_, { rtpTimestamp }) => {
                  // The page has looked at it first, for it asked first.
                  window.stamps.push([rtpTimestamp, screenRelay.delay.own]);
                  video.requestVideoFrameCallback(look);
                };
                video.requestVideoFrameCallback(look); 0
                """)
            try page.waitUntil("window.stamps.length >= 5", within: .seconds(90))
            // Chromium expects every second picture to be shown a whole interval, 2.5 s, later than it was.
            let delays = try page.evaluate("window.stamps.map(([, own]) => own)").array?.compactMap(\.number) ?? []
            #expect(delays.count >= 5 && delays.allSatisfy { $0 < 1250 }, "\(delays)")
            #expect(try page.evaluate("screenRelay.figures").string == "nothing moves · 640 × 480")
            let chart = "document.querySelector('.chart')"
            #expect(
                try page.evaluate("\(chart).querySelector('p').innerText.replace(/\\s+/g, ' ')").string
                    == "Delay nothing moves")
            // It doesn't alternate between 0 and 1, as the keep-alives come.
            let rate = "document.querySelectorAll('.chart')[1].querySelector('p').innerText.replace(/\\s+/g, ' ')"
            #expect(try page.evaluate(rate).string == "Frame rate nothing moves")
            try page.evaluate("\(chart).focus()")
            for second in 1...5 {
                try press("ArrowLeft", on: page)
                #expect(
                    try page.evaluate("\(chart).getAttribute('aria-valuetext')").string
                        == "\(second) s ago: nothing moves")
            }
            // The page wasn't open then.
            try press("Home", on: page)
            #expect(try page.evaluate("\(chart).getAttribute('aria-valuetext')").string == "59 s ago: not measured")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test("panels keep clear of the bar in a small window", .timeLimit(.minutes(5)))
        func smallWindow() throws {
            let desktop = try SharedDesktop()
            let browser = try Browser.shared()
            let page = try browser.newPage("about:blank")
            try page.setViewport(width: 360, height: 480)
            try page.navigate(desktop.link)
            try ViewerPage(page).waitUntilPlaying()
            try page.waitUntil("screenRelay.figures.includes('fps')")
            for (panel, button) in [("charts", "figures"), ("people", "people-button"), ("invitation", "meet")] {
                try page.waitUntil("document.getElementById('\(button)')?.hidden === false")
                try page.evaluate("document.getElementById('\(button)').click()")
                try page.waitUntil(
                    """
                    (() => {
                      const place = (id) => document.getElementById(id).getBoundingClientRect();
                      const [panel, bar] = [place('\(panel)'), place('bar')];
                      return panel.height > 0 && panel.top >= 0 && panel.left >= 0 && panel.right <= 360
                        && panel.bottom < bar.top && bar.bottom <= 480;
                    })()
                    """)
            }
        }
    }
}
