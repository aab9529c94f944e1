import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// `--monitor new`: a monitor that the compositor makes for the share, and that has nothing on it at first.
    @Suite("A new monitor of a Wayland desktop", .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable))
    struct WaylandNewMonitorTests {
        private static let size = PictureSize(width: 800, height: 600)
        private static let options = ["--monitor", "new", "--size", "800x600"]
        private static let black = SceneColor(0, 0, 0)
        private static let blue = SceneColor(0, 0, 255)
        private static let red = SceneColor(255, 0, 0)
        private let home: TemporaryFolder

        init() throws { home = try TemporaryFolder() }

        private func prefix(_ desktop: WaylandDesktop) -> [String] { desktop.prefix(["HOME": home.path]) }

        private func requests(_ desktop: WaylandDesktop, types: Int = 4, restoring: Bool) -> Int {
            desktop.count(of: "select types=\(types) cursor=4 persist=2 restores=\(restoring ? 1 : 0)")
        }

        @Test("is the only one of a machine without a monitor, has the size of --size, and goes with its capture")
        func onlyOne() throws {
            let desktop = try WaylandDesktop(WaylandDesktop.Part.usual + [.newMonitors, .bare])
            try desktop.tell("monitors 0")
            let capture = try LinkedCapture(source: Self.options, prefix: prefix(desktop))
            try capture.wait(for: "a frame") { capture.pictureSize == Self.size }
            try desktop.tell("monitors 1")
            let window = try WaylandWindow(on: desktop, "0000ff")
            try capture.wait(for: Self.blue, at: 799, 599, "the window")
            try window.paint("ff0000")
            try capture.wait(for: Self.red, at: 0, 0, "the other colour")
            #expect(capture.size == Self.size && capture.pictureSize == Self.size)
            #expect(requests(desktop, restoring: false) == 1)
            #expect(capture.program.stop() == .exited(0))
            try desktop.tell("monitors 0")
        }

        @Test("is shown again in the same size to viewers who come after nobody has watched, and has nothing to unplug")
        func unwatched() throws {
            let desktop = try WaylandDesktop(WaylandDesktop.Part.usual + [.newMonitors, .bare])
            let capture = try LinkedCapture(source: Self.options, prefix: prefix(desktop))
            try capture.wait(for: "a frame") { capture.pictureSize == Self.size }
            try desktop.tell("monitors 1")
            let window = try WaylandWindow(on: desktop, "0000ff")
            try capture.wait(for: Self.blue, at: 400, 300, "the window")
            try capture.send(.unwatched)
            try window.paint("ff0000")
            // WirePlumber suspends a node that has been idle for 5 s, and the format is agreed on again after that.
            try capture.read(for: .seconds(6))
            try capture.send(.watched)
            try capture.wait(for: Self.red, at: 400, 300, "the other colour")
            #expect(capture.pictureSize == Self.size && capture.sharing == .live)

            try desktop.tell("close")
            try capture.wait(for: "the end") { capture.end != nil }
            #expect(capture.end?.reason == .stopped)
            let status = try eventually("the end of capture") { capture.program.child.poll() }
            #expect(status == .exited(75))
        }

        @Test("is shared beside a monitor, again without a question, and apart from what any monitor was chosen for")
        func shared() throws {
            let desktop = try WaylandDesktop(WaylandDesktop.Part.usual + [.newMonitors])
            func share(_ options: [String]) throws -> RunningProgram {
                try RunningProgram(
                    "screenrelay", ["share"] + options + LinkSocket.hostOptions, prefix: prefix(desktop))
            }
            for isAgain in [false, true] {
                let share = try share(Self.options)
                let picture = try LinkSnapshot(of: share.printedLink()).picture
                #expect(picture.width == Self.size.width && picture.height == Self.size.height)
                try desktop.tell("monitors 2")
                #expect(requests(desktop, restoring: false) == 1)
                #expect(requests(desktop, restoring: true) == (isAgain ? 1 : 0))
                #expect(share.stop() == .exited(0))
                try desktop.tell("monitors 1")
            }

            try desktop.tell("answer 1")
            let other = try share(["--monitor", "any"])
            let status = try eventually("the end of the share") { other.child.poll() }
            #expect(status == .exited(75))
            #expect(requests(desktop, types: 1, restoring: false) == 1)
        }

        @Test("is black while the desktop has sent no picture of it, and scaled if the desktop chooses another size")
        func notPainted() throws {
            let desktop = try WaylandDesktop(WaylandDesktop.Part.usual + [.newMonitors])
            // Its node offers no other size, and sends nothing yet.
            try desktop.tell("fault format 8 640x480")
            let capture = try LinkedCapture(source: Self.options, prefix: prefix(desktop))
            try capture.wait(for: Self.black, at: 400, 300, "an empty monitor")
            #expect(capture.pictureSize == Self.size)
            try desktop.tell("fault send color=0000ff")
            try capture.wait(for: Self.blue, at: 799, 599, "a picture")
            #expect(capture.pictureSize == Self.size && capture.end == nil)
            #expect(!capture.program.log.contains("sends no picture"))
        }

        @Test("is a track beside a monitor in one room, each with its own capture")
        func twoTracks() throws {
            let desktop = try WaylandDesktop(WaylandDesktop.Part.usual + [.newMonitors])
            let window = try WaylandWindow(on: desktop, "0000ff")
            let folder = try TemporaryFolder()
            let (first, second) = ("unix:" + folder.file("a.sock"), "unix:" + folder.file("b.sock"))
            let host = try RunningProgram.host(first, ["--track", "second=\(second)"])
            let link = try host.printedLink()
            let captures = try [(first, ["--monitor", "any"]), (second, Self.options)].map { address, options in
                try RunningProgram("screenrelay", ["capture", "--link", address] + options, prefix: prefix(desktop))
            }
            try eventually("the window", holds: { try LinkSnapshot(of: link).isFilled(with: Self.blue) })
            let other = try LinkSnapshot(of: link, track: "second")
            #expect(other.picture.width == Self.size.width && other.picture.height == Self.size.height)
            #expect(!other.isFilled(with: Self.blue))
            // The first one still is what it was.
            try window.paint("ff0000")
            try eventually("the other colour", holds: { try LinkSnapshot(of: link).isFilled(with: Self.red) })
            for capture in captures { #expect(capture.stop() == .exited(0)) }
        }

        @Test("is refused with what the desktop offers if that can't make one; --list and doctor know it")
        func notOffered() throws {
            let refusal = "the desktop portal can't share this source (new monitor); it can share: monitor, window"
            let desktop = try WaylandDesktop()
            let share = try RunningProgram(
                "screenrelay", ["share"] + Self.options + LinkSocket.hostOptions, prefix: prefix(desktop))
            let status = try eventually("the end of the share") { share.child.poll() }
            share.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(status == .exited(64))
            #expect(share.log.contains("--source wayland: \(refusal)"))
            #expect(!desktop.lines.contains { $0.hasPrefix("select ") })

            func run(_ words: [String], on desktop: WaylandDesktop) throws -> CommandLineRun {
                var environment = ["HOME": home.path]
                for (name, value) in desktop.environment { environment[name] = value }
                return try CommandLineRun(["screenrelay"] + words, environment: environment)
            }
            let (list, doctor) = (["share", "--list"], ["doctor", "--monitor", "new"] + RunningProgram.anyPorts)
            #expect(try !run(list, on: desktop).output.contains("--monitor new"))
            let found = try run(doctor, on: desktop)
            #expect(found.status == .exited(69) && found.output.contains(refusal))

            let able = try WaylandDesktop([.portal, .backend, .screen, .newMonitors])
            #expect(try run(list, on: able).output.contains("--monitor new"))
            #expect(try run(doctor, on: able).output.hasPrefix("Nothing is wrong.\n"))
        }
    }
}
