import CaptureEngine
import CaptureLink
import Glibc
import MediaTypes
import TestSupport
import Testing
import X11Capture

/// The pointer where the server lacks something.
extension PointerTests {
    @Test("without XInput the pointer is polled: 30 times a second in motion, twice at rest")
    func polling() throws {
        let screen = try VirtualScreen(TestScreen.size, options: ["-extension", "XInputExtension"])
        let client = try DisplayClient(screen.name)
        // Some servers don't let go of XInput; then there is nothing to see here.
        client.showPointer(at: (10, 10))
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        try rest(capture)
        #expect(capture.nextPointerLook <= now() + .seconds(1))
        client.warp(to: (50, 60))
        #expect(
            try capture.lookAtPointer(now: capture.nextPointerLook) == PointerPosition(x: 50, y: 60, isVisible: true))
    }

    @Test("where the server has no room for a second connection, a warning says so, and looks are timed by us")
    func refusedConnection() throws {
        let screen = try VirtualScreen(TestScreen.size, options: ["-maxclients", "64"])
        let client = try DisplayClient(screen.name)
        client.showPointer(at: (10, 10))
        var others: [DisplayClient] = []
        while others.count < 64, let next = try? DisplayClient(screen.name) { others.append(next) }
        // One place for the capture itself.
        others.removeLast()
        var warnings: [String] = []
        let capture = try eventually("room for one") {
            warnings = []
            return try? ScreenCapture(display: screen.name, drawsPointer: false, onWarning: { warnings.append($0) })
        }
        #expect(warnings.count == 1 && warnings.first?.contains("second connection") == true, "\(warnings)")
        #expect(capture.pointerDescriptor == -1)
        try timesLooksItself(capture, client)
    }

    @Test("without SYNC looks are timed by us")
    func withoutSync() throws {
        let screen = try VirtualScreen(TestScreen.size, options: ["-extension", "SYNC"])
        let client = try DisplayClient(screen.name)
        client.showPointer(at: (10, 10))
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        // Some servers don't let go of SYNC; then there is nothing to see here.
        if capture.pointerDescriptor == -1 { try timesLooksItself(capture, client) }
    }

    private func timesLooksItself(_ capture: ScreenCapture, _ client: DisplayClient) throws {
        try rest(capture)
        client.moveMouse(to: (20, 30))
        #expect(isReadable(capture, within: 2000))
        _ = try capture.readEvents()
        let time = now()
        #expect(try capture.lookAtPointer(now: time) == PointerPosition(x: 20, y: 30, isVisible: true))
        #expect(capture.nextPointerLook - time == .milliseconds(25))
        for step in 0..<100 { client.moveMouse(to: (20 + step, 30)) }
        #expect(!isReadable(capture, within: 30))
        #expect(try capture.lookAtPointer(now: now()) == PointerPosition(x: 119, y: 30, isVisible: true))
        try rest(capture)
        client.moveMouse(to: (5, 5))
        #expect(isReadable(capture, within: 2000))
    }
}
