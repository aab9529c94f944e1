import BrowserDriver
import MediaTypes
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// Several viewers of one capture.
    @Suite("Several viewers", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserAudienceTests {
        @Test(
            "three watch one capture, one leaves unnoticed, and a fourth sees a still screen without a new key frame",
            .timeLimit(.minutes(5)))
        func several() throws {
            // At this rate the host keeps all pictures since the key frame for 30 s: it keeps 300.
            let desktop = try SharedDesktop(scene: ["--fps", "10"])
            let browser = try Browser.shared()
            let viewers = try (0..<3).map { _ in try ViewerPage(desktop.link, in: browser) }
            for viewer in viewers { try viewer.waitUntilPlaying() }
            for viewer in viewers { try viewer.expectMotion() }
            viewers[0].page.close()
            for viewer in viewers.dropFirst() {
                try viewer.expectMotion(by: 20)
                #expect(try viewer.reconnects() == 0)
            }

            desktop.scene.freeze()
            let drawn = try desktop.drawnCounter()
            for viewer in viewers.dropFirst() { try viewer.waitForCounter(past: drawn - 1) }
            let pictures = desktop.host.occurrences(of: "debug: key frame ")
            let fourth = try ViewerPage(desktop.link, in: browser)
            try fourth.waitUntilPlaying()
            #expect(try fourth.waitForCounter(past: drawn - 1) == drawn)
            #expect(desktop.host.occurrences(of: "debug: key frame ") == pictures)
            #expect(pictures >= 1)

            desktop.scene.thaw()
            for viewer in viewers.dropFirst() + [fourth] { try viewer.waitForCounter(past: drawn) }
            #expect(desktop.host.captureProcessIDs.count == 1)
            #expect(desktop.host.occurrences(of: "screen of 640x480") == 1)
        }
    }
}

extension SharedDesktop {
    /// The counter that the screen shows now, as grabbed by FFmpeg.
    func drawnCounter() throws -> Int {
        let (width, height) = (screen.size.width, screen.size.height)
        let grabbed = try FFmpeg.grab(display: screen.name, width: width, height: height)
        return try #require(
            PatchScene.counterValue(inRGB: grabbed.bytes, width: width, height: height), "\(grabbed.messages)")
    }
}
