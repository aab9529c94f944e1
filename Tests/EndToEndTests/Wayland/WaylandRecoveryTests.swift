import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// What viewers see while parts of a Wayland desktop are gone, and after they are back.
    @Suite("A Wayland desktop that comes back", .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable))
    struct WaylandRecoveryTests {
        private static let size = PictureSize(width: 640, height: 480)
        private let desktop: WaylandDesktop

        init() throws { desktop = try WaylandDesktop(size: Self.size) }

        /// Shares a desktop in blue, ends `programs`, waits until the share rests for as long as it ever does, starts
        /// the programs again in the same order, and waits for the desktop in red, which must not have asked again.
        private func lose(_ programs: [String], because reason: String) throws {
            var window = try WaylandWindow(on: desktop, "0000ff")
            let home = try TemporaryFolder()
            let share = try RunningProgram(
                "screenrelay", ["share"] + LinkSocket.hostOptions, prefix: desktop.prefix(["HOME": home.path]))
            let link = try share.printedLink()
            try eventually("the first colour") {
                try LinkSnapshot(of: link).isFilled(with: SceneColor(0, 0, 255)) ? () : nil
            }
            let live = share.occurrences(of: "the source is live")

            for program in programs { try desktop.tell("end \(program)") }
            try share.waitForLog("capture is gone: \(reason)")
            try share.waitForLog("the source is gone")
            // The next pause would be longer if this weren't the longest.
            try share.waitForLog("restarting it in 1500 ms", count: 2)

            for program in programs { try desktop.tell("start \(program)") }
            if programs.contains("screen") { window = try WaylandWindow(on: desktop, "ff0000") }
            try window.paint("ff0000")
            try share.waitForLog("the source is live", count: live + 1)
            try eventually("the other colour") {
                try LinkSnapshot(of: link).isFilled(with: SceneColor(255, 0, 0)) ? () : nil
            }
            #expect(desktop.count(of: "select types=3 cursor=4 persist=2 restores=0") == 1)
            #expect(desktop.count(of: "select types=3 cursor=4 persist=2 restores=1") == 1)
            #expect(share.stop() == .exited(0))
        }

        @Test("its portal")
        func portal() throws { try lose(["portal"], because: "the desktop portal has ended") }

        @Test("its compositor, which isn't asked for anything before it answers")
        func compositor() throws { try lose(["screen"], because: "the desktop has ended the screen cast") }

        @Test("PipeWire with all that depends on it, although the compositor closes the session")
        func pipeWire() throws { try lose(["pipewire", "wireplumber", "screen"], because: "PipeWire has ended: ") }

        @Test("the loss of PipeWire alone isn't taken for the user's wish")
        func pipeWireAlone() throws {
            let window = try WaylandWindow(on: desktop, "0000ff")
            let capture = try LinkedCapture(source: [], prefix: desktop.prefix())
            try capture.wait(for: SceneColor(0, 0, 255), at: 320, 240, "the window")
            try desktop.tell("end pipewire")
            try capture.wait(for: "the end") { capture.end != nil }
            #expect(capture.end?.reason == .displayLost)
            let status = try eventually("the end of capture") { capture.program.child.poll() }
            #expect(status == .exited(69))
            capture.program.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(capture.program.log.contains("--source wayland: PipeWire has ended: "))
            withExtendedLifetime(window) {}
        }

        @Test("a session that logind says is locked is a slate with --pause-when-locked")
        func locked() throws {
            let bus = try LogindBus()
            let window = try WaylandWindow(on: desktop, "0000ff")
            let capture = try LinkedCapture(
                source: ["--pause-when-locked"], prefix: bus.prefix + desktop.prefix())
            try capture.wait(for: SceneColor(0, 0, 255), at: 320, 240, "the window")
            try bus.lock(true)
            try capture.wait(for: "the slate") { try capture.sharing == .locked && capture.showsSlate() }
            try window.paint("ff0000")
            try capture.read(for: .milliseconds(300))
            #expect(try capture.showsSlate())
            try bus.lock(false)
            try capture.wait(for: "the screen again") { capture.sharing == .live }
            try capture.wait(for: SceneColor(255, 0, 0), at: 320, 240, "the other colour")
        }
    }
}

extension LinkSnapshot {
    /// Whether its middle has this colour.
    func isFilled(with color: SceneColor) -> Bool {
        let middle = SceneRectangle(picture.width / 2, picture.height / 2, 8, 8)
        return picture.meanColor(of: middle)?.isClose(to: color) == true
    }
}
