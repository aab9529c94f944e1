import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// What viewers see when the shared monitor of a Wayland desktop changes. The compositor ends its screen cast then,
    /// and the portal reports that in the same way as a user who stops sharing.
    @Suite("A monitor of a Wayland desktop", .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable))
    struct WaylandMonitorTests {
        private static let size = PictureSize(width: 640, height: 480)
        private static let blue = SceneColor(0, 0, 255)
        private static let red = SceneColor(255, 0, 0)
        private let desktop: WaylandDesktop
        private let home: TemporaryFolder

        init() throws {
            home = try TemporaryFolder()
            desktop = try WaylandDesktop(WaylandDesktop.Part.usual + [.second], size: Self.size)
            try desktop.tell("plug")
        }

        /// How often the desktop has been asked for a monitor or a window, with and without an earlier choice.
        private func requests(restoring: Bool) -> Int {
            desktop.count(of: "select types=3 cursor=4 persist=2 restores=\(restoring ? 1 : 0)")
        }

        private func share() throws -> RunningProgram {
            try RunningProgram(
                "screenrelay", ["share"] + LinkSocket.hostOptions, prefix: desktop.prefix(["HOME": home.path]))
        }

        private func wait(for color: SceneColor, at link: String, size: PictureSize = Self.size) throws {
            try eventually(
                "\(color)",
                holds: {
                    let snapshot = try LinkSnapshot(of: link)
                    return snapshot.picture.width == size.width && snapshot.isFilled(with: color)
                })
        }

        /// Takes the monitor away, and ends the screen cast as mutter does then. mutter 43 itself may crash.
        private func unplug() throws {
            try desktop.tell("unplug")
            try desktop.tell("close")
        }

        @Test("is a slate while it is unplugged, and capture ends with 69 once there is one to ask for")
        func slate() throws {
            try desktop.tell("fault send color=0000ff")
            let capture = try LinkedCapture(source: [], prefix: desktop.prefix())
            try capture.wait(for: Self.blue, at: 320, 240, "the first picture")
            // So that a picture has just arrived, as when a desktop paints because of the monitor.
            try desktop.tell("fault send color=00ff00")
            try unplug()
            try capture.wait(for: "the slate") { try capture.sharing == .windowHidden && capture.showsSlate() }
            #expect(capture.end == nil)
            // A capture that doesn't sleep takes all of them.
            let before = try ProcessFigures(capture.processID).cpuTime
            try capture.read(for: .milliseconds(400))
            #expect(try ProcessFigures(capture.processID).cpuTime - before < .milliseconds(200))
            try desktop.tell("plug")
            try capture.wait(for: "the end") { capture.end != nil }
            #expect(capture.end?.reason == .displayLost)
            let status = try eventually("the end of capture") { capture.program.child.poll() }
            capture.program.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(status == .exited(69))
            #expect(capture.program.log.contains("the desktop has ended the screen cast, because its monitors have "))
        }

        @Test(
            "is shared again without a question soon after it is back, and not if the user stops that",
            .enabled(if: PythonClient.isAvailable(.rtc)))
        func unplugged() throws {
            try desktop.tell("fault send color=0000ff")
            let share = try share()
            let viewer = try DesktopViewer(of: share.printedLink())
            try viewer.wait(forPicture: "the first colour") { $0.isBlue }
            try unplug()
            try share.waitForLog("the source is paused")
            #expect(requests(restoring: false) == 1 && requests(restoring: true) == 0)

            try desktop.tell("plug")
            let back = now()
            try desktop.tell("fault send color=ff0000")
            let picture = try viewer.wait(forPicture: "the monitor that is back") { $0.isRed }
            let time = picture.time - back
            print("a monitor: seen \(time.milliseconds) ms after it was back")
            // The longest pause is 1.5 s. The rest is for a busy machine.
            #expect(time <= .seconds(5), "\(time.milliseconds) ms")
            try viewer.wait(for: "live")
            #expect(viewer.isServedWell)
            #expect(requests(restoring: false) == 1 && requests(restoring: true) == 1)

            try desktop.tell("close")
            let status = try eventually("the end of the share") { share.child.poll() }
            #expect(status == .exited(75))
        }

        @Test("is shared again at once, without a question, if it is rotated")
        func rotated() throws {
            // The window has to be on the monitor that is shared.
            try desktop.tell("monitor 0 1")
            var window: WaylandWindow? = try WaylandWindow(on: desktop, "0000ff")
            let share = try share()
            let link = try share.printedLink()
            try wait(for: Self.blue, at: link)
            window = nil
            let live = share.occurrences(of: "the source is live")
            try desktop.tell("monitor 1 1")
            try share.waitForLog("the source is live", count: live + 1)
            window = try WaylandWindow(on: desktop, "ff0000")
            try wait(for: Self.red, at: link, size: PictureSize(width: 480, height: 640))
            #expect(requests(restoring: false) == 1 && requests(restoring: true) == 1)
            #expect(share.stop() == .exited(0))
            withExtendedLifetime(window) {}
        }
    }
}
