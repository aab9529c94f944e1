import CaptureLink
import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// On a desktop of the real parts, where only the person who is asked is played.
    @Suite("A Wayland desktop", .enabled(if: EndToEnd.isPossible && WaylandDesktop.isAvailable))
    struct WaylandShareTests {
        private static let size = PictureSize(width: 640, height: 480)
        private static let red = SceneColor(255, 0, 0)
        private static let blue = SceneColor(0, 0, 255)
        private let desktop: WaylandDesktop

        init() throws { desktop = try WaylandDesktop(size: Self.size) }

        /// How often the desktop has been asked for a monitor or a window, with and without an earlier choice.
        private func requests(restoring: Bool) -> Int {
            desktop.count(of: "select types=3 cursor=4 persist=2 restores=\(restoring ? 1 : 0)")
        }

        @Test("is captured as it is painted, sends nothing while it stands still, and ends capture when it stops that")
        func captured() throws {
            let window = try WaylandWindow(on: desktop, "0000ff")
            let capture = try LinkedCapture(source: [], prefix: desktop.prefix())
            try capture.wait(for: Self.blue, at: 320, 240, "the window")
            #expect(capture.pictureSize == Self.size)
            #expect(requests(restoring: false) == 1)
            try window.paint("ff0000")
            try capture.wait(for: Self.red, at: 639, 479, "the other colour")

            try capture.settle()
            let count = capture.taken.count
            try capture.read(for: .seconds(2))
            let sent = capture.taken.dropFirst(count)
            #expect(sent.count <= 1 && sent.allSatisfy { $0.notice.damage.isEmpty })

            try desktop.tell("close")
            try capture.wait(for: "the end") { capture.end != nil }
            #expect(capture.end?.reason == .stopped)
            let status = try eventually("the end of capture") { capture.program.child.poll() }
            #expect(status == .exited(75))
            capture.program.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(capture.program.log.contains("--source wayland: the desktop has stopped sharing the screen"))
        }

        @Test("sends no frames while nobody watches, and nothing old to viewers who come later")
        func unwatched() throws {
            let window = try WaylandWindow(on: desktop, "0000ff")
            let capture = try LinkedCapture(source: [], prefix: desktop.prefix())
            try capture.wait(for: Self.blue, at: 320, 240, "the window")
            var shade = 0
            /// How often capture wakes up while the desktop has something to show for at least half a second.
            func wakeUps() throws -> Int {
                let before = try ProcessFigures(capture.processID).wakeUps
                for _ in 0..<20 {
                    shade = (shade + 8) % 128
                    try window.paint(String(0x100_0000 | 0xFF00 | shade, radix: 16).suffix(6).description)
                    try capture.read(for: .milliseconds(25))
                }
                return try ProcessFigures(capture.processID).wakeUps - before
            }
            #expect(try wakeUps() > 10)
            try capture.send(.unwatched)
            try eventually("a desktop that sends nothing", holds: { try wakeUps() <= 2 })

            try window.paint("ff0000")
            // WirePlumber suspends a node that has been idle for 5 s.
            try capture.read(for: .seconds(6))
            var first: SceneColor?
            capture.onPicture = { capture in
                if first == nil { first = try capture.color(320, 240) }
            }
            try capture.send(.watched)
            try capture.wait(for: "a frame") { first != nil }
            #expect(first?.isClose(to: Self.red) == true)
            #expect(!capture.program.log.contains("the desktop sends no new picture"))
            try window.paint("0000ff")
            try capture.wait(for: Self.blue, at: 320, 240, "the next colour")
        }

        @Test("shows viewers who come back what was painted last, even if a picture was on its way as the others left")
        func leftWhilePainting() throws {
            // The more pixels, the longer a picture is on its way.
            let desktop = try WaylandDesktop(size: PictureSize(width: 1920, height: 1080))
            let window = try WaylandWindow(on: desktop, "0000ff")
            let capture = try LinkedCapture(source: [], prefix: desktop.prefix())
            try capture.wait(for: Self.blue, at: 320, 240, "the window")
            for round in 0..<Int64(12) {
                try window.paint("00ff00")
                try capture.read(for: .milliseconds(2 * round))
                try capture.send(.unwatched)
                let isRed = round.isMultiple(of: 2)
                try window.paint(isRed ? "ff0000" : "0000ff")
                try capture.read(for: .milliseconds(200))
                try capture.send(.watched)
                try capture.wait(for: isRed ? Self.red : Self.blue, at: 320, 240, "the colour of round \(round)")
            }
            #expect(!capture.program.log.contains("the desktop sends no new picture"))
        }

        @Test("shows what was painted last, even if capture was too busy to take all of it, and nothing follows")
        func busy() throws {
            let window = try WaylandWindow(on: desktop, "0000ff")
            let capture = try LinkedCapture(source: [], prefix: desktop.prefix())
            try capture.wait(for: Self.blue, at: 320, 240, "the window")
            for count in 1...6 {
                kill(capture.processID, SIGSTOP)
                for color in (0..<count).map({ "00ff0\($0)" }) + ["ff0000"] {
                    try window.paint(color)
                    // Time for the compositor to send it.
                    poll(nil, 0, 50)
                }
                kill(capture.processID, SIGCONT)
                try capture.wait(for: Self.red, at: 320, 240, "the last of \(count + 1) colours")
                try window.paint("0000ff")
                try capture.wait(for: Self.blue, at: 320, 240, "the next colour")
            }
        }

        @Test("is shared upright from a monitor that the compositor rotates")
        func rotated() throws {
            try desktop.tell("monitor 1 1")
            try expectWindow(on: desktop, size: PictureSize(width: 480, height: 640))
        }

        @Test("is shared in all pixels of a monitor with a scale of 2")
        func scaled() throws {
            // Smaller ones can't have that scale.
            let size = PictureSize(width: 1920, height: 1080)
            let desktop = try WaylandDesktop(size: size)
            try desktop.tell("monitor 0 2")
            try expectWindow(on: desktop, size: size)
        }

        private func expectWindow(on desktop: WaylandDesktop, size: PictureSize) throws {
            let window = try WaylandWindow(on: desktop, "0000ff")
            let capture = try LinkedCapture(source: [], prefix: desktop.prefix())
            try capture.wait(for: Self.blue, at: size.width - 1, size.height - 1, "the last corner")
            #expect(capture.pictureSize == size)
            try window.paint("ff0000")
            try capture.wait(for: Self.red, at: size.width - 1, 0, "the other colour")
        }

        @Test("is shared again without a question, with --ask with one, and not if that is declined")
        func shared() throws {
            let home = try TemporaryFolder()
            let window = try WaylandWindow(on: desktop, "0000ff")
            func share(_ options: [String] = []) throws -> RunningProgram {
                try RunningProgram(
                    "screenrelay", ["share"] + LinkSocket.hostOptions + options,
                    prefix: desktop.prefix(["HOME": home.path]))
            }
            let first = try share()
            #expect(try LinkSnapshot(of: first.printedLink()).picture.width == Self.size.width)
            #expect(requests(restoring: false) == 1)
            first.stop()

            let second = try share()
            #expect(try LinkSnapshot(of: second.printedLink()).picture.width == Self.size.width)
            #expect(requests(restoring: false) == 1 && requests(restoring: true) == 1)
            // A capture that is started again needs no answer, either.
            let capture = try #require(second.captureProcessIDs.last)
            kill(capture, SIGKILL)
            try eventually("another session", holds: { requests(restoring: true) == 2 })
            second.stop()

            try desktop.tell("answer 1")
            let third = try share(["--ask"])
            let status = try eventually("the end of the share") { third.child.poll() }
            third.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(status == .exited(75))
            #expect(third.log.contains("the desktop's dialog was cancelled"))
            #expect(requests(restoring: false) == 2)
            withExtendedLifetime(window) {}
        }

        @Test("shares again what was chosen for the same share if capture crashes, whatever others have chosen since")
        func ownChoice() throws {
            let home = try TemporaryFolder()
            let window = try WaylandWindow(on: desktop, "0000ff")
            let places = try [
                ["--room", "one"], ["--room", "two"], ["--room", "one", "--listen", "\(freePort())"],
            ]
            let shares = try places.map { place in
                let share = try RunningProgram(
                    "screenrelay", ["share", "--ask"] + LinkSocket.hostOptions + place,
                    prefix: desktop.prefix(["HOME": home.path]))
                #expect(try LinkSnapshot(of: share.printedLink()).picture.width == Self.size.width)
                return share
            }
            #expect(requests(restoring: false) == shares.count)
            for (index, share) in shares.enumerated() {
                let capture = try #require(share.captureProcessIDs.last)
                kill(capture, SIGKILL)
                try eventually("another session", holds: { requests(restoring: true) == index + 1 })
                #expect(desktop.count(of: "choice \(index + 1)") == 1, "\(desktop.lines)")
            }
            #expect(requests(restoring: false) == shares.count)
            withExtendedLifetime(window) {}
        }

        @Test("is asked with a question again for --ask if capture crashes before the user has answered")
        func crashWhileAsked() throws {
            let home = try TemporaryFolder()
            let window = try WaylandWindow(on: desktop, "0000ff")
            func share(_ options: [String] = []) throws -> RunningProgram {
                try RunningProgram(
                    "screenrelay", ["share"] + options + LinkSocket.hostOptions,
                    prefix: desktop.prefix(["HOME": home.path]))
            }
            let first = try share()
            #expect(try LinkSnapshot(of: first.printedLink()).picture.width == Self.size.width)
            first.stop()
            try desktop.tell("hold")
            let second = try share(["--ask"])
            try eventually("the dialog", holds: { desktop.count(of: "start") == 2 })
            kill(try #require(second.captureProcessIDs.last), SIGKILL)
            try eventually("another dialog", holds: { desktop.count(of: "start") == 3 })
            #expect(requests(restoring: false) == 3 && requests(restoring: true) == 0)
            second.stop()
            withExtendedLifetime(window) {}
        }

        @Test("is asked again if it refuses to share what it has shared before")
        func notRestored() throws {
            let home = try TemporaryFolder()
            let window = try WaylandWindow(on: desktop, "0000ff")
            func share() throws -> RunningProgram {
                let share = try RunningProgram(
                    "screenrelay", ["share"] + LinkSocket.hostOptions, prefix: desktop.prefix(["HOME": home.path]))
                #expect(try LinkSnapshot(of: share.printedLink()).picture.width == Self.size.width)
                return share
            }
            try share().stop()
            #expect(requests(restoring: false) == 1)
            try desktop.tell("next 2")
            let second = try share()
            #expect(requests(restoring: true) == 1 && requests(restoring: false) == 2)
            #expect(second.log.contains("refused to share again what it has shared before, so it is asked again"))
            second.stop()
            // What it was asked for last is kept.
            try share().stop()
            #expect(requests(restoring: true) == 2 && requests(restoring: false) == 2)
            withExtendedLifetime(window) {}
        }

        @Test("is asked only for a monitor, or only for a window, if the options say so")
        func kinds() throws {
            let home = try TemporaryFolder()
            // One is cancelled, and the other refused.
            for (option, types, answer) in [("--monitor", 1, 1), ("--window", 2, 2)] {
                try desktop.tell("answer \(answer)")
                let share = try RunningProgram(
                    "screenrelay", ["share", option, "any"] + LinkSocket.hostOptions,
                    prefix: desktop.prefix(["HOME": home.path]))
                let status = try eventually("the end of the share") { share.child.poll() }
                #expect(status == .exited(75))
                #expect(desktop.count(of: "select types=\(types) cursor=4 persist=2 restores=0") == 1)
            }
        }

        @Test("ends the share when it stops that, and a share that waits for the answer can be ended")
        func stopped() throws {
            let window = try WaylandWindow(on: desktop, "0000ff")
            let words = ["share"] + LinkSocket.hostOptions
            let share = try RunningProgram("screenrelay", words, prefix: desktop.prefix())
            #expect(try LinkSnapshot(of: share.printedLink()).picture.width == Self.size.width)
            try desktop.tell("close")
            let status = try eventually("the end of the share") { share.child.poll() }
            #expect(status == .exited(75))

            try desktop.tell("hold")
            let started = desktop.count(of: "start")
            let asking = try RunningProgram("screenrelay", words, prefix: desktop.prefix())
            try eventually("the question", holds: { desktop.count(of: "start") > started })
            #expect(asking.stop() == .exited(0))
            withExtendedLifetime(window) {}
        }

        @Test("that has no portal is an error that names what can be shared without one, for share, doctor and --list")
        func withoutPortal() throws {
            let desktop = try WaylandDesktop([.screen], size: Self.size)
            var environment: [String: String] = [:]
            for (name, value) in desktop.environment { environment[name] = value }
            let ports = RunningProgram.anyPorts
            for words in [["share"] + ports, ["doctor"] + ports, ["share", "--list"]] {
                let run = try CommandLineRun(["screenrelay"] + words, display: ":47", environment: environment)
                #expect(run.status == .exited(69))
                let lines = (run.output + run.errorOutput).split(separator: "\n").filter {
                    $0.contains("--source wayland: there is no desktop portal on the user bus")
                }
                #expect(lines.count == 1 && lines.first?.contains("--source x11 shares only") == true, "\(run)")
            }
        }

        @Test("is checked by doctor, and its sources are listed, without a question")
        func checked() throws {
            var environment: [String: String] = [:]
            for (name, value) in desktop.environment { environment[name] = value }
            let doctor = ["screenrelay", "doctor"] + RunningProgram.anyPorts
            let sound = try CommandLineRun(doctor, environment: environment)
            #expect(sound.output.hasPrefix("Nothing is wrong.\n") && sound.errorOutput.isEmpty)
            let list = try CommandLineRun(["screenrelay", "share", "--list"], environment: environment)
            #expect(list.status == .exited(0))
            #expect(list.output.contains("--monitor any") && list.output.contains("--window any"))
            #expect(requests(restoring: false) == 0)

            try desktop.tell("end wireplumber")
            let unmanaged = try CommandLineRun(doctor, environment: environment)
            #expect(unmanaged.status == .exited(69))
            #expect(unmanaged.output.contains("PipeWire has no session manager"))
            // Its socket's file stays.
            try desktop.tell("end pipewire")
            let silent = try CommandLineRun(doctor, environment: environment)
            #expect(silent.status == .exited(69))
            #expect(silent.output.contains("PipeWire, over which a Wayland desktop shares its screen, isn't running"))
            try desktop.tell("end portal")
            let broken = try CommandLineRun(doctor, environment: environment)
            #expect(broken.status == .exited(69))
            #expect(broken.output.contains("there is no desktop portal on the user bus"))
        }
    }
}
