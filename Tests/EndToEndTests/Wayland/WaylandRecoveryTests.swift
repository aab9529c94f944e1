import CaptureLink
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// What viewers see while parts of a Wayland desktop are gone, and after they are back.
    @Suite(
        "A Wayland desktop that comes back",
        .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable && PythonClient.isAvailable(.rtc)))
    struct WaylandRecoveryTests {
        private static let size = PictureSize(width: 640, height: 480)
        private let desktop: WaylandDesktop

        init() throws { desktop = try WaylandDesktop(size: Self.size) }

        /// Shares a desktop in blue with a viewer, ends `programs`, of which the viewer has to be told, waits until the
        /// share rests for as long as it ever does, and starts the programs again in the same order. The viewer has to
        /// see the desktop soon after that, and then in red, and the desktop must not have asked again.
        private func lose(_ programs: [String], because reason: String) throws {
            var window = try WaylandWindow(on: desktop, "0000ff")
            let home = try TemporaryFolder()
            let share = try RunningProgram(
                "screenrelay", ["share"] + LinkSocket.hostOptions, prefix: desktop.prefix(["HOME": home.path]))
            let link = try share.printedLink()
            let viewer = try DesktopViewer(of: link)
            try viewer.wait(forPicture: "the first colour") { $0.isBlue }
            try viewer.wait(for: "live")

            for program in programs { try desktop.tell("end \(program)") }
            let told = try viewer.wait(for: "gone")
            #expect(told.message.hasPrefix(reason), "\(told.message)")
            try share.waitForLog("capture is gone: \(reason)")
            // The next pause would be longer if this weren't the longest.
            try share.waitForLog("restarting it in 1500 ms", count: 2)

            // A compositor takes its windows with it.
            let isEmpty = programs.contains("screen")
            if !isEmpty { try window.paint("ff0000") }
            let last = try #require(viewer.pictures.last).number
            for program in programs { try desktop.tell("start \(program)") }
            let back = now()
            if isEmpty { window = try WaylandWindow(on: desktop, "ff0000") }
            let first = try viewer.wait(forPicture: "a frame of the desktop that is back", after: last)
            let time = first.time - back
            print("\(programs.joined(separator: ", ")): seen \(time.milliseconds) ms after the desktop was back")
            // The longest pause is 1.5 s. The rest is for a busy machine.
            #expect(time <= .seconds(5), "\(time.milliseconds) ms")
            try viewer.wait(for: "live")
            // Such a machine's mutter may leave out the last picture until something is painted.
            try window.paint("ff0000")
            try viewer.wait(forPicture: "the other colour", after: last) { $0.isRed }
            // The desktop that is back has never been blue.
            #expect(!viewer.pictures.contains { $0.number > last && $0.isBlue })
            // None of the attempts between has been told.
            #expect(viewer.states.map(\.source).suffix(3) == ["live", "gone", "live"])
            #expect(viewer.isServedWell)
            try eventually("the other colour in a snapshot") {
                try LinkSnapshot(of: link).isFilled(with: SceneColor(255, 0, 0)) ? () : nil
            }
            #expect(desktop.count(of: "select types=3 cursor=4 persist=2 restores=0") == 1)
            #expect(desktop.count(of: "select types=3 cursor=4 persist=2 restores=1") == 1)
            #expect(share.stop() == .exited(0))
            withExtendedLifetime(window) {}
        }

        @Test("its portal")
        func portal() throws { try lose(["portal"], because: "the desktop portal has ended") }

        @Test("its compositor, which isn't asked for anything before it answers")
        func compositor() throws { try lose(["screen"], because: "the desktop has ended the screen cast") }

        @Test("PipeWire with all that depends on it, although the compositor closes the session")
        func pipeWire() throws { try lose(["pipewire", "wireplumber", "screen"], because: "PipeWire has ended: ") }

        @Test("PipeWire and its session manager, to which the compositor connects again for each cast")
        func pipeWireWithoutCompositor() throws {
            try lose(["pipewire", "wireplumber"], because: "PipeWire has ended: ")
        }

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

        @Test("viewers are told of a lock, see the screen soon after it, and are told that the desktop stops sharing")
        func told() throws {
            let bus = try LogindBus()
            let window = try WaylandWindow(on: desktop, "0000ff")
            let folder = try TemporaryFolder()
            let address = "unix:" + folder.file("a.sock")
            let host = try RunningProgram.host(address)
            let link = try host.printedLink()
            /// Waits until a capture has ended as one whose user doesn't want to share.
            func waitForDeclined(_ capture: RunningProgram) throws {
                let status = try eventually("the end of capture") { capture.child.poll() }
                #expect(status == .exited(75))
            }
            func capture() throws -> RunningProgram {
                try RunningProgram(
                    "screenrelay", ["capture", "--link", address, "--pause-when-locked"],
                    prefix: bus.prefix + desktop.prefix())
            }
            let first = try capture()
            try eventually("the window", holds: { try LinkSnapshot(of: link).isFilled(with: SceneColor(0, 0, 255)) })
            let viewer = try DesktopViewer(of: link)
            try viewer.wait(forPicture: "the first colour") { $0.isBlue }
            try viewer.wait(for: "live")

            try bus.lock(true)
            let locked = try viewer.wait(for: "paused")
            #expect(locked.message == "The screen is locked.")
            try window.paint("ff0000")
            let last = try #require(viewer.pictures.last).number
            try bus.lock(false)
            let back = now()
            let picture = try viewer.wait(forPicture: "the other colour", after: last) { $0.isRed }
            let time = picture.time - back
            print("a lock: seen \(time.milliseconds) ms after it")
            #expect(time <= .seconds(5), "\(time.milliseconds) ms")
            try viewer.wait(for: "live")

            try desktop.tell("close")
            let stopped = try viewer.wait(for: "gone")
            #expect(stopped.message.hasPrefix("the desktop has stopped sharing the screen"), "\(stopped.message)")
            try waitForDeclined(first)
            // Of a dialog that is cancelled, viewers are told nothing: the next thing is that the screen is back.
            let count = viewer.states.count
            try desktop.tell("next 1")
            try waitForDeclined(capture())
            let second = try capture()
            try viewer.wait(for: "live")
            #expect(viewer.states.count == count + 1 && viewer.isServedWell)
            second.stop()
            withExtendedLifetime((window, host)) {}
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
