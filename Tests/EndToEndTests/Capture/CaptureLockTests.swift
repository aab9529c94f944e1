import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    @Suite("A capture that pauses", .enabled(if: EndToEnd.isPossible))
    struct CaptureLockTests {
        @Test("with the screen saver on, viewers get a slate and nothing of the screen; then the screen again")
        func locked() throws {
            let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
            let client = try DisplayClient(screen.name)
            let whole = PixelRectangle(x: 0, y: 0, width: 640, height: 480)
            let window = client.window(whole, color: 0x0000FF)
            let capture = try LinkedCapture(screen, ["--pause-when-locked"])
            try capture.wait(for: SceneColor(0, 0, 255), at: 100, 100, "the screen")
            client.saveScreen(true)
            try capture.wait(for: "the slate") { try capture.sharing == .locked && capture.showsSlate() }
            let first = capture.taken.count
            #expect(capture.taken.last?.isIDR == true)
            for tick in 1...10 {
                client.fill(whole, color: UInt32(tick) << 20, on: window)
                try capture.read(for: .milliseconds(20))
            }
            #expect(capture.taken.count - first <= 1)
            #expect(try capture.showsSlate())
            client.saveScreen(false)
            client.fill(whole, color: 0x00FF00, on: window)
            try capture.wait(for: "the screen again") { capture.sharing == .live }
            try capture.wait(for: SceneColor(0, 255, 0), at: 100, 100, "the screen again")
            #expect(capture.program.stop() == .exited(0))
        }

        @Test("while i3lock covers the screen, viewers get a slate and nothing of it; then the screen again")
        func lockerWindow() throws {
            let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
            let client = try DisplayClient(screen.name)
            _ = client.window(PixelRectangle(x: 0, y: 0, width: 640, height: 480), color: 0x0000FF)
            let capture = try LinkedCapture(screen, ["--pause-when-locked"])
            try capture.wait(for: SceneColor(0, 0, 255), at: 100, 100, "the screen")
            capture.onPicture = { capture in
                if let color = try capture.color(100, 100), color.isClose(to: SceneColor(255, 0, 0)) {
                    Issue.record("the lock's own picture is seen")
                }
            }
            var launch = Launch("i3lock", ["-n", "-c", "ff0000"])
            launch.environment["DISPLAY"] = screen.name
            launch.standardError = .text(limit: 16 * 1024)
            let locker = try ChildProcess(launch)
            defer { locker.stop(within: .seconds(2)) }
            try capture.wait(for: "the slate") { try capture.sharing == .locked && capture.showsSlate() }
            #expect(capture.taken.last?.isIDR == true)
            locker.stop(within: .seconds(2))
            try capture.wait(for: "the screen again") { capture.sharing == .live }
            try capture.wait(for: SceneColor(0, 0, 255), at: 100, 100, "the screen again")
        }

        @Test(
            "what the desktop tells logind pauses as well, also if it was locked before; a lock of another is ignored")
        func loginSession() throws {
            let bus = try LogindBus()
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let capture = try LinkedCapture(screen, ["--pause-when-locked"], prefix: bus.prefix)
            try capture.wait(for: "a picture") { !capture.taken.isEmpty }
            try bus.lock(true)
            try capture.wait(for: "the slate") { try capture.sharing == .locked && capture.showsSlate() }
            let late = try LinkedCapture(screen, ["--pause-when-locked"], prefix: bus.prefix)
            try late.wait(for: "the slate") { try late.sharing == .locked && late.showsSlate() }
            try bus.lock(false)
            try capture.wait(for: "the screen") { capture.sharing == .live }
            try late.wait(for: "the screen") { late.sharing == .live }
            #expect(try Self.report(screen, bus.prefix) == "size 320 240\n")
            // Without its bus, nothing is locked and nothing is said.
            try bus.lock(true)
            try capture.wait(for: "the lock") { capture.sharing == .locked }
            bus.close()
            try capture.wait(for: "the screen without the bus") { capture.sharing == .live }
            #expect(capture.program.stop() == .exited(0))
            #expect(try Self.report(screen, bus.prefix) == "size 320 240\nunnoticed session\n")

            // The session of another display than the one that is captured.
            let other = try LogindBus(display: ":4711")
            #expect(try Self.report(screen, other.prefix) == "size 320 240\nunnoticed session\n")
            let same = try LogindBus(display: screen.name)
            #expect(try Self.report(screen, same.prefix) == "size 320 240\n")
        }

        /// What doctor is told.
        private static func report(_ screen: VirtualScreen, _ prefix: [String]) throws -> String {
            let program = try RunningProgram(
                "screenrelay-capture", ["--check", "--display", screen.name, "--pause-when-locked"], prefix: prefix)
            #expect(program.child.wait(within: .seconds(10)) == .exited(0), "\(program.log)")
            program.child.output?.waitForEnd(within: .seconds(2))
            return program.output
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
