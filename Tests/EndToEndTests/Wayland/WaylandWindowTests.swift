import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// A shared window of a Wayland desktop: the person who is asked chooses the one with the keyboard.
    @Suite("A window of a Wayland desktop", .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable))
    struct WaylandWindowTests {
        private static let size = PictureSize(width: 320, height: 240)
        private static let largerSize = PictureSize(width: 478, height: 350)
        private static let blue = SceneColor(0, 0, 255)
        private static let green = SceneColor(0, 255, 0)
        private static let red = SceneColor(255, 0, 0)
        private static let yellow = SceneColor(255, 255, 0)
        private let desktop: WaylandDesktop

        init() throws { desktop = try WaylandDesktop(size: PictureSize(width: 640, height: 480)) }

        /// The colours of a picture in its corners, halfway between them, and in the middle.
        private static func colors(of picture: I420Picture) -> [SceneColor] {
            let (right, bottom) = (picture.size.width - 1, picture.size.height - 1)
            return [0, bottom / 2, bottom].flatMap { y in [0, right / 2, right].compactMap { picture.color($0, y) } }
        }

        /// Waits until the picture has this size, and shows only this colour.
        private func wait(for color: SceneColor, _ size: PictureSize, _ capture: LinkedCapture) throws {
            try capture.wait(for: "\(color) in \(size)") {
                guard let picture = try capture.picture(), picture.size == size else { return false }
                return Self.colors(of: picture).allSatisfy { $0.isClose(to: color) }
            }
        }

        @Test("is captured in its own size and resized, with nothing of what is beside or over it, until it is closed")
        func captured() throws {
            let beside = try WaylandWindow(on: desktop, "00ff00")
            let window = try WaylandWindow(on: desktop, "0000ff", size: Self.size)
            // What a person sees there.
            let monitor = try LinkedCapture(source: ["--monitor", "any"], prefix: desktop.prefix())
            try monitor.wait(for: Self.green, at: 639, 479, "the window beside it")
            try monitor.wait(for: Self.blue, at: 200, 150, "the window")

            let capture = try LinkedCapture(source: ["--window", "any"], prefix: desktop.prefix())
            var others = 0
            capture.onPicture = { capture in
                guard let picture = try capture.picture() else { return }
                others += Self.colors(of: picture).count { $0.isClose(to: Self.green) || $0.isClose(to: Self.red) }
            }
            try wait(for: Self.blue, Self.size, capture)
            #expect(desktop.count(of: "select types=2 cursor=4 persist=2 restores=0") == 1)
            try window.paint("ffff00", size: Self.largerSize)
            try wait(for: Self.yellow, Self.largerSize, capture)

            let over = try WaylandWindow(on: desktop, "ff0000")
            try monitor.wait(for: Self.red, at: 200, 150, "the window over it")
            try window.paint("0000ff")
            try wait(for: Self.blue, Self.largerSize, capture)
            try window.paint("ffff00", size: Self.size)
            try wait(for: Self.yellow, Self.size, capture)
            #expect(others == 0)

            window.close()
            try capture.wait(for: "the end") { capture.end != nil }
            #expect(capture.end?.reason == .stopped)
            let status = try eventually("the end of capture") { capture.program.child.poll() }
            #expect(status == .exited(75))
            capture.program.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(capture.program.log.contains("--source wayland: the desktop has stopped sharing the screen"))
            withExtendedLifetime((beside, over)) {}
        }

        @Test("is shared in its own size, even after a resize, and ends the share with 75 when it is closed")
        func shared() throws {
            let beside = try WaylandWindow(on: desktop, "00ff00")
            let window = try WaylandWindow(on: desktop, "0000ff", size: Self.size)
            let share = try RunningProgram(
                "screenrelay", ["share", "--window", "any"] + LinkSocket.hostOptions, prefix: desktop.prefix())
            let link = try share.printedLink()
            func waitFor(_ color: SceneColor, _ size: PictureSize) throws {
                try eventually(
                    "\(color) in \(size)",
                    holds: {
                        let snapshot = try LinkSnapshot(of: link)
                        return snapshot.picture.width == size.width && snapshot.picture.height == size.height
                            && snapshot.isFilled(with: color)
                    })
            }
            try waitFor(Self.blue, Self.size)
            try window.paint("ff0000", size: Self.largerSize)
            try waitFor(Self.red, Self.largerSize)

            window.close()
            let status = try eventually("the end of the share") { share.child.poll() }
            #expect(status == .exited(75))
            share.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(share.log.contains("--source wayland: the desktop has stopped sharing the screen"))
            // It isn't asked for another window.
            #expect(desktop.count(of: "start") == 1)
            withExtendedLifetime(beside) {}
        }
    }
}
