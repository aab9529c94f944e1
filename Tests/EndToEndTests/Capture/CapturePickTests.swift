import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// `--pick`: the user's mouse chooses what is shared.
    @Suite("What is picked", .enabled(if: EndToEnd.isPossible))
    struct CapturePickTests {
        private let screen: VirtualScreen
        private let client: DisplayClient
        private let window: UInt32

        init() throws {
            screen = try VirtualScreen(PictureSize(width: 640, height: 480))
            client = try DisplayClient(screen.name)
            window = client.window(
                PixelRectangle(x: 20, y: 30, width: 300, height: 200), color: 0xFF0000, title: "the one")
            _ = client.window(PixelRectangle(x: 400, y: 30, width: 200, height: 200), color: 0xFF00, title: "other")
        }

        private func share() throws -> RunningProgram {
            let program = try RunningProgram(
                "screenrelay", ["share", "--pick", "--display", screen.name] + LinkSocket.hostOptions)
            try eventually("it waits for a choice") { client.isPointerGrabbed ? () : nil }
            return program
        }

        @Test(
            "a click on a window shares that window, by its name, after clicks beside all windows",
            .timeLimit(.minutes(5)))
        func click() throws {
            let program = try share()
            for place in [(350, 400), (100, 100)] {
                client.moveMouse(to: place)
                client.button(1, isDown: true)
                client.button(1, isDown: false)
            }
            _ = try program.printedLink()
            #expect(program.output.contains("Sharing window 'the one' to the room"))
            #expect(!client.isPointerGrabbed)
            // Only that window's end ends the share.
            client.destroy(window)
            #expect(program.child.wait(within: .seconds(90)) == .exited(66))
        }

        @Test("dragging shares a region, with an outline that is gone afterwards", .timeLimit(.minutes(5)))
        func drag() throws {
            let program = try share()
            client.moveMouse(to: (340, 250))
            client.button(1, isDown: true)
            client.moveMouse(to: (539, 369))
            try eventually("the outline") { client.topWindow(at: (440, 249)) != 0 ? () : nil }
            client.button(1, isDown: false)
            _ = try program.printedLink()
            #expect(program.output.contains("Sharing region '200x120+340+250' to the room"))
            #expect(client.topWindow(at: (440, 249)) == 0)
            program.stop()
        }

        @Test("Escape and the right button end it with exit code 1", .timeLimit(.minutes(5)), arguments: [false, true])
        func cancel(byButton: Bool) throws {
            let program = try share()
            if byButton {
                client.moveMouse(to: (100, 100))
                client.button(3, isDown: true)
                client.button(3, isDown: false)
            }
            let status = try eventually("the end", within: .seconds(90)) {
                // The keyboard is grabbed a moment after the pointer.
                if !byButton { client.type(key: 9) }
                return program.child.wait(within: .milliseconds(100))
            }
            #expect(status == .exited(1))
            #expect(program.log.contains("--pick: cancelled"))
            #expect(!program.output.contains("Sharing"))
            #expect(!client.isPointerGrabbed)
        }

        @Test("capture, by itself, shares the window that is clicked on", .timeLimit(.minutes(5)))
        func captured() throws {
            let folder = try TemporaryFolder()
            let program = try RunningProgram(
                "screenrelay",
                [
                    "capture", "--pick", "--display", screen.name, "--record", folder.file("one.srr"), "--link",
                    "unix:" + folder.file("s.sock"),
                ])
            try eventually("it waits for a choice") { client.isPointerGrabbed ? () : nil }
            client.moveMouse(to: (100, 100))
            client.button(1, isDown: true)
            client.button(1, isDown: false)
            try program.waitForLog("sharing window 'the one'")
            try program.waitForLog("300x200")
            program.stop()
        }
    }
}
