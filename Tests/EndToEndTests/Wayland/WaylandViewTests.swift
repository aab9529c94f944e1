import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// The window of `screenrelay view` on a Wayland desktop. A capture of that desktop sees what its user would see.
    @Suite("view in a window of a Wayland desktop", .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable))
    struct WaylandViewTests {
        private static let size = PictureSize(width: 640, height: 480)
        private static let whole = SceneRectangle(0, 0, size.width, size.height)
        private let desktop: WaylandDesktop
        private let shared: SharedDesktop

        init() throws {
            desktop = try WaylandDesktop(size: Self.size)
            shared = try SharedDesktop(scene: ["--still"], size: PictureSize(width: 320, height: 240))
        }

        private func view() throws -> RunningProgram {
            try RunningProgram("screenrelay", ["view", "--stats", "text", shared.link], prefix: desktop.prefix())
        }

        /// Whether the desktop shows all patches of the scene in this area.
        private func shows(_ area: SceneRectangle, _ capture: LinkedCapture) throws -> Bool {
            guard let picture = try capture.picture() else { return false }
            let scene = PatchScene(width: area.width, height: area.height)
            return PatchScene.patches.indices.allSatisfy { index in
                let patch = scene.rectangle(ofPatch: index)
                let (x, y) = (area.x + patch.x + patch.width / 2, area.y + patch.y + patch.height / 2)
                return picture.color(x, y)?.isClose(to: PatchScene.patches[index].color) == true
            }
        }

        /// Whether the desktop shows this patch anywhere.
        private func shows(patch index: Int, _ capture: LinkedCapture) throws -> Bool {
            guard let picture = try capture.picture() else { return false }
            return stride(from: 4, to: Self.size.height, by: 8).contains { y in
                stride(from: 4, to: Self.size.width, by: 8).contains { x in
                    picture.color(x, y)?.isClose(to: PatchScene.patches[index].color) == true
                }
            }
        }

        /// Presses keys, given by their evdev codes, until `condition` holds: the window may not have the keyboard yet.
        private func press(
            _ codes: String, until what: String, _ capture: LinkedCapture, _ condition: () throws -> Bool
        ) throws {
            try eventually(what) {
                try desktop.tell("press \(codes)")
                let end = now() + .seconds(5)
                repeat {
                    try capture.read(for: .milliseconds(50))
                    if try condition() { return () }
                } while now() < end
                return nil
            }
        }

        @Test("the window shows the shared screen, has the keys of one on X11, and at rest costs hardly any CPU time")
        func keys() throws {
            defer { shared.stop() }
            let viewer = try view()
            let capture = try LinkedCapture(source: [], prefix: desktop.prefix())
            try capture.wait(for: "the window") {
                if let status = viewer.child.poll() { throw ProgramEnded(status: status, log: viewer.log) }
                return try shows(patch: 1, capture) && shows(patch: 5, capture)
            }
            #expect(try !shows(Self.whole, capture))
            // 33 is the key f, 2 is 1, 11 is 0, 17 is w, and 1 is Escape.
            try press("33", until: "the whole screen", capture) { try shows(Self.whole, capture) }
            for code in ["11", "17", "2"] {
                try press("2", until: "the video in its own size", capture) {
                    try shows(SceneRectangle(160, 120, 320, 240), capture)
                        && capture.color(8, 8)?.isClose(to: .black) == true
                }
                try press(code, until: "the whole screen again after \(code)", capture) {
                    try shows(Self.whole, capture)
                }
            }
            try press("1", until: "the window without the whole screen", capture) {
                try !shows(Self.whole, capture) && shows(patch: 1, capture) && shows(patch: 5, capture)
            }

            try capture.settle()
            let before = try ProcessFigures(viewer.child.processID).cpuTime
            try capture.read(for: .seconds(3))
            let used = try ProcessFigures(viewer.child.processID).cpuTime - before
            #expect(used < .milliseconds(500))
            #expect(viewer.child.poll() == nil)
        }

        @Test("closing the window with Alt+F4 exits with 0, and --display names an X server even there")
        func closed() throws {
            defer { shared.stop() }
            var environment: [String: String] = [:]
            for (name, value) in desktop.environment { environment[name] = value }
            let named = try CommandLineRun(
                ["screenrelay", "view", "--display", ":9999", shared.link], environment: environment)
            #expect(named.status == .exited(69) && named.errorLine?.contains("no X server at :9999") == true)

            let viewer = try view()
            try eventually("a frame", holds: { viewer.output.contains(" fps, ") })
            let status = try eventually("the end") { () -> ProcessStatus? in
                // 56 is the left Alt key, and 62 is F4.
                try desktop.tell("press 56 62")
                return viewer.child.wait(within: .seconds(3))
            }
            viewer.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(status == .exited(0), "\(viewer.log)")
        }

        @Test("a compositor that ends is the reason of exit code 69, in one line")
        func lost() throws {
            defer { shared.stop() }
            let viewer = try view()
            try eventually("a frame", holds: { viewer.output.contains(" fps, ") })
            try desktop.tell("end screen")
            #expect(viewer.child.wait(within: .seconds(30)) == .exited(69))
            viewer.child.errorOutput?.waitForEnd(within: .seconds(2))
            let lines = viewer.log.split(separator: "\n")
            #expect(lines.count == 1, "\(viewer.log)")
            #expect(lines.first?.contains("the connection to the Wayland compositor was lost") == true)
        }
    }
}
