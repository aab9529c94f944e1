import BrowserDriver
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// One Chromium with several cameras presents in the room, another one watches.
    @Suite("The choice of devices on the page", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserDeviceTests {
        private let first = ChoicePanel.first
        private let other = ChoicePanel.other

        /// The label of the camera whose picture is sent; null if there is none.
        private let sent = """
            connections.filter(({ connectionState }) => connectionState === 'connected')
              .flatMap((one) => one.getSenders()).map(({ track }) => track)
              .find((track) => track?.kind === 'video' && track.readyState === 'live')?.label ?? null
            """

        private let cameraTracks =
            "screenRelay.tracks.filter(({ name }) => name.startsWith('camera-')).map(({ name }) => name).join()"

        /// Waits until the viewer decodes `count` more pictures of the camera, and one of them isn't black.
        private func expectPictures(at viewer: ViewerPage, _ count: Int = 15) throws {
            let before = try viewer.page.evaluate("screenRelay.framesDecoded").int ?? 0
            try viewer.page.waitUntil(
                "screenRelay.source === 'live' && screenRelay.framesDecoded > \(before + count)")
            try eventually("a picture that isn't black") {
                guard let picture = try viewer.picture(columns: 64) else { return false }
                return picture.bytes.enumerated().contains { $0.offset % 4 != 3 && $0.element > 64 }
            }
        }

        @Test(
            "the chosen camera is seen in the room, another one takes its place there, and a reload keeps the choice",
            .timeLimit(.minutes(5)))
        func choice() throws {
            let room = try PublishedRoom(["--camera", "640x480@15"])
            let viewer = try ViewerPage(room.link, in: Browser.shared())
            let presenter = try PresentingPage(room, cameras: 4)
            let page = presenter.page
            try page.waitUntil("document.getElementById('present')?.hidden === false")
            let unused = try page.evaluate(
                "performance.getEntriesByType('resource').every(({ name }) => !name.includes('choice'))")
            #expect(unused == true, "the choice was loaded before it was needed")

            // Nothing is sent until the user starts.
            try presenter.press("camera")
            try presenter.choice.expectShown(first)
            #expect(try page.evaluate("screenRelay.presenting.camera").string == "choosing")
            try page.waitUntil("document.getElementById('choice-level').value > 0")
            let mirrored = "getComputedStyle(document.getElementById('choice-video')).transform.startsWith('matrix(-1')"
            #expect(try page.evaluate("\(mirrored) && document.getElementById('choice-video').muted") == true)
            try presenter.choice.choose(other)
            #expect(try viewer.page.evaluate(cameraTracks).string == "")
            try presenter.start()
            let track = try presenter.waitUntilLive("camera")
            #expect(try page.evaluate(sent).string == other)
            try viewer.page.waitUntil("screenRelay.tracks.find(({ shown }) => shown)?.name === '\(track)'")
            try viewer.waitUntilPlaying()
            try expectPictures(at: viewer)

            // While live: the same session and the same track of the room.
            try viewer.page.evaluate(
                "window.wasGone = false; setInterval(() => { wasGone ||= screenRelay.source !== 'live'; }, 50); 0")
            let connections = try page.evaluate("connections.length").int
            for camera in [first, other] {
                try page.evaluate("document.getElementById('choice-change').click()")
                try presenter.choice.choose(camera)
                try page.waitUntil("(\(sent)) === '\(camera)'")
                try page.evaluate("document.getElementById('choice-cancel').click()")
                try expectPictures(at: viewer)
            }
            #expect(try page.evaluate("connections.length").int == connections)
            #expect(try page.evaluate("screenRelay.presenting.camera").string == "live")
            #expect(try viewer.page.evaluate(cameraTracks).string == track)
            #expect(try viewer.page.evaluate("wasGone") == false)
            let open = "opened.filter(({ readyState }) => readyState === 'live').map(({ kind }) => kind).sort().join()"
            #expect(try page.evaluate(open).string == "audio,video", "former cameras are released")

            try page.evaluate("window.isOld = true; location.reload()")
            try page.waitUntil("!window.isOld && document.getElementById('present')?.hidden === false")
            try presenter.press("camera")
            try presenter.choice.expectShown(other)
            let kept = "Object.keys(JSON.parse(localStorage.getItem('screenrelay.devices'))).join()"
            #expect(try page.evaluate(kept).string == "camera")
            try page.evaluate("document.getElementById('choice-cancel').click()")
            try page.waitUntil("document.getElementById('choice') === null")
            #expect(try page.evaluate("opened.length > 0 && (\(open)) === ''") == true)
            #expect(try page.evaluate("document.activeElement.id").string == "present-camera")
            #expect(try page.evaluate("screenRelay.presenting.camera === undefined") == true)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test(
            "closing the panel cancels a share that hasn't begun, and a refusal is one sentence",
            .timeLimit(.minutes(5)))
        func withoutShare() throws {
            let room = try PublishedRoom()
            let presenter = try PresentingPage(room)
            try presenter.press("camera")
            try presenter.page.waitUntil("document.getElementById('choice-start')?.disabled === false")
            try presenter.page.evaluate("document.getElementById('present').click()")
            try presenter.page.waitUntil("screenRelay.presenting.camera === undefined")
            let released = "opened.length === 2 && opened.every(({ readyState }) => readyState === 'ended')"
            try presenter.page.waitUntil(released)

            let refused = try PresentingPage(room, permission: .denied)
            try refused.press("camera")
            try refused.page.waitUntil(
                """
                document.querySelector('#present-camera + .note').textContent
                  === "Camera and microphone are blocked in this browser's settings."
                """)
            #expect(try refused.page.evaluate("document.getElementById('choice') === null") == true)
        }
    }
}
