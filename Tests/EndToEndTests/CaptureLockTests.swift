import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A capture that pauses", .enabled(if: EndToEnd.isPossible))
    struct CaptureLockTests {
        @Test("with the screen saver on, viewers get a slate and nothing of the screen; then the screen again")
        func locked() throws {
            let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
            let window = try SceneWindow(display: screen.name, kind: .patches)
            let client = try DisplayClient(screen.name)
            let capture = try LinkedCapture(screen, ["--pause-when-locked"])
            func counter() throws -> Int? { try capture.picture()?.counter }
            try capture.wait(for: "the scene") { try counter() == 0 }
            client.saveScreen(true)
            try capture.wait(for: "the slate") { try capture.sharing == .locked && capture.showsSlate() }
            let first = capture.taken.count
            #expect(capture.taken.last?.isIDR == true)
            for tick in 1...10 {
                try window.show(tick: tick)
                try capture.read(for: .milliseconds(20))
            }
            #expect(capture.taken.count - first <= 1)
            #expect(try capture.showsSlate())
            client.saveScreen(false)
            try window.show(tick: 11)
            try capture.wait(for: "the scene again") { try capture.sharing == .live && counter() == 11 }
            #expect(capture.program.stop() == .exited(0))
        }

        @Test("without the option a locked screen goes on as what the X server shows")
        func unasked() throws {
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let client = try DisplayClient(screen.name)
            let capture = try LinkedCapture(screen)
            try capture.wait(for: "a picture") { !capture.taken.isEmpty }
            client.saveScreen(true)
            try capture.read(for: .milliseconds(300))
            #expect(capture.sharing == .live && capture.sharingMessages == 0)
        }
    }
}

extension I420Picture {
    /// What the patch scene's counter shows.
    var counter: Int? {
        PatchScene.counterValue(
            inRGB: Array(bytes.prefix(lumaCount)), width: size.width, height: size.height, bytesPerPixel: 1)
    }
}
