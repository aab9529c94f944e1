import BrowserDriver
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndInBrowser {
    @Suite("A Wayland desktop in a browser", .enabled(if: EndToEnd.hasBrowser && WaylandDesktop.isAvailable))
    struct BrowserWaylandTests {
        @Test("is shown by Chromium in the colours that were drawn, and in motion", .timeLimit(.minutes(5)))
        func page() throws {
            let desktop = try WaylandDesktop(size: PictureSize(width: 640, height: 480))
            let scene = try WaylandWindow(ofPatchesOn: desktop)
            let share = try RunningProgram(
                "screenrelay", ["share"] + LinkSocket.hostOptions, prefix: desktop.prefix())
            let viewer = try ViewerPage(share.printedLink(), in: Browser.shared())
            try viewer.waitUntilPlaying()
            try viewer.expectMotion(by: 20)
            let picture = try #require(try viewer.picture())
            #expect(picture.width == 640 && picture.height == 480)
            expectPatches(in: picture, "Chromium's picture")
            // It still moves.
            try viewer.expectMotion()
            #expect(try viewer.reconnects() == 0)
            #expect(viewer.page.consoleErrors.isEmpty, "\(viewer.page.consoleErrors)")
            #expect(share.stop() == .exited(0))
            withExtendedLifetime(scene) {}
        }
    }
}
