import BrowserDriver
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// A room with several tracks, in the page.
    @Suite("The choice of a track", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserTrackChoiceTests {
        @Test(
            "both are shown, one large and one small, a click or a key changes them over, and each has its own state",
            .timeLimit(.minutes(5)))
        func two() throws {
            let folder = try TemporaryFolder()
            let address = "unix:" + folder.file("second.sock")
            let desktop = try SharedDesktop(
                apart: .hostFirst, scene: ["--fps", "10"],
                hostOptions: [
                    "--track", "second=\(address)", "--track-text", "second=Slides of Ann", "--track-data",
                    #"second={"seat":4}"#,
                ])
            let viewer = try ViewerPage(desktop.link, in: Browser.shared())
            try viewer.waitUntilPlaying()
            #expect(try viewer.reconnects() == 0)
            let rooms = try CommandLineRun([
                "screenrelay", "rooms", "--json", "--pid", "\(desktop.host.child.processID)",
            ])
            #expect(rooms.output.contains(#""data":{"seat":4},"message""#) && rooms.output.contains("Slides of Ann"))
            #expect(try viewer.tracks() == ["screen live shown", "second waiting"])

            let screen = try VirtualScreen(PictureSize(width: 800, height: 600))
            let scene = try RunningProgram(
                "screenrelay-scene", ["--display", screen.name, "--scene", "patches", "--fps", "10"])
            let capture = try RunningProgram(
                "screenrelay", ["capture", "--link", address, "--display", screen.name])
            try viewer.waitForSmallPicture(width: 800)
            #expect(try viewer.tracks() == ["screen live shown", "second live"])
            #expect(
                try viewer.page.evaluate("document.getElementById('tracks').innerText").string?.contains(
                    "Slides of Ann")
                    == true)
            try viewer.expectMotion()
            #expect(try viewer.reconnects() == 0)
            // The strip is as dark as the stage, also in the light scheme, which a headless browser has.
            #expect(try viewer.page.evaluate("matchMedia('(prefers-color-scheme: light)').matches").bool == true)
            #expect(
                try viewer.page.evaluate("getComputedStyle(document.getElementById('tracks')).backgroundColor").string
                    == "rgb(34, 36, 41)")

            // Side by side, or one above the other on a phone, both are equally large and move.
            func areEqual(_ order: String) -> String {
                """
                (([small, large]) => Math.abs(small.width - large.width) < 1 && \(order)
                  && Math.abs(small.height - large.height) < 1)(['#tracks li:not([hidden]) video', '#video']
                    .map((selector) => document.querySelector(selector).getBoundingClientRect()))
                """
            }
            #expect(try viewer.page.evaluate(areEqual("small.right <= large.left + 1")).bool == false)
            try viewer.press("b")
            _ = try viewer.page.waitUntil(areEqual("small.right <= large.left + 1"))
            try viewer.page.setViewport(width: 360, height: 740)
            _ = try viewer.page.waitUntil(areEqual("small.bottom <= large.top + 1"))
            try viewer.page.send("Emulation.clearDeviceMetricsOverride")
            _ = try viewer.page.waitUntil(areEqual("small.right <= large.left + 1"))
            try viewer.waitForSmallPicture(width: 800)
            try viewer.expectMotion()
            try viewer.press("b")
            _ = try viewer.page.waitUntil("document.querySelector('#tracks li video').clientWidth < 200")

            try viewer.page.evaluate(
                "const second = document.querySelectorAll('#tracks .track')[1]; second.focus(); second.click()")
            _ = try viewer.page.waitUntil("screenRelay.videoWidth === 800")
            try viewer.expectMotion()
            try viewer.waitForSmallPicture(width: 640)
            #expect(try viewer.tracks() == ["screen live", "second live shown"])
            // Whoever uses the keyboard goes on from there.
            #expect(
                try viewer.page.evaluate("document.activeElement.matches('#tracks li:nth-child(2) .track')").bool
                    == true)
            #expect(try viewer.reconnects() == 0)

            // Its capture ends: the page says so for this track alone, and still knows it when the track is shown
            // again.
            capture.stop()
            _ = try viewer.page.waitUntil("screenRelay.source === 'gone'")
            try viewer.press("t")
            _ = try viewer.page.waitUntil("screenRelay.videoWidth === 640 && screenRelay.source === 'live'")
            try viewer.expectMotion()
            #expect(try viewer.tracks() == ["screen live shown", "second gone"])
            try viewer.press("t")
            _ = try viewer.page.waitUntil("screenRelay.source === 'gone'")
            #expect(try viewer.tracks() == ["screen live", "second gone shown"])
            #expect(try viewer.reconnects() == 0)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
            scene.stop()
            screen.close()
        }

        @Test("with one nothing is seen of them", .timeLimit(.minutes(5)))
        func one() throws {
            let desktop = try SharedDesktop()
            let viewer = try ViewerPage(desktop.link, in: Browser.shared())
            try viewer.waitUntilPlaying()
            #expect(try viewer.page.evaluate("document.getElementById('tracks').hidden").bool == true)
            #expect(try viewer.page.evaluate("connections.length").int == 1)
            try viewer.press("t")
            #expect(try viewer.page.evaluate("screenRelay.phase").string == "playing")
        }
    }
}

extension ViewerPage {
    /// The tracks as the page has them: name, state and which is the large one.
    fileprivate func tracks() throws -> [String] {
        try page.evaluate(
            "screenRelay.tracks.map(({ name, source, shown }) => `${name} ${source}${shown ? ' shown' : ''}`)"
        ).array?.compactMap(\.string) ?? []
    }

    /// Waits for a small picture of that width that moves.
    fileprivate func waitForSmallPicture(width: Int) throws {
        let frames = """
            ([...document.querySelectorAll('#tracks video')].find((video) => video.videoWidth === \(width))
              ?.getVideoPlaybackQuality().totalVideoFrames ?? 0)
            """
        _ = try page.waitUntil("\(frames) > 0")
        let before = try page.evaluate(frames).int ?? 0
        _ = try page.waitUntil("\(frames) > \(before + 5)")
    }

    /// Presses a letter.
    fileprivate func press(_ key: String) throws {
        for type in ["keyDown", "keyUp"] {
            try page.send("Input.dispatchKeyEvent", ["type": .string(type), "key": .string(key), "text": .string(key)])
        }
    }
}
