import CXCB
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

    @Test(
        "where the server refuses the pointer's shape, capture goes on without it, and gets it as soon as it can be had"
    )
    func refusedShape() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let probe = try DisplayClient(screen.name)
        // These keep the places that the capture gets afterwards, so that nobody has the owner's.
        var others = try (0..<4).map { _ in try DisplayClient(screen.name) }
        var owner: DisplayClient? = try DisplayClient(screen.name)
        owner?.showPointer(at: (30, 40))
        #expect(probe.shapeError == 0)
        owner = nil
        others = []
        // BadAccess: the SECURITY extension doesn't know whose shape that is.
        try eventually("the server's refusal") { probe.shapeError == 10 }
        var warnings: [String] = []
        let capture = try ScreenCapture(display: screen.name, onWarning: { warnings.append($0) })
        for _ in 0..<3 {
            probe.fill(TestScreen.all, color: 0xFF0000)
            let area = try eventually("damage") { try someChanges(capture) }
            #expect(try capture.grab(area) { _ in })
            _ = try capture.lookAtPointer(now: capture.nextPointerLook)
        }
        #expect(try capture.takePointerShape(in: TestScreen.size)?.pixels.isEmpty == true)
        #expect(warnings.count { $0.contains("error 10") } == 1, "\(warnings)")
        probe.showPointer(at: (30, 40))
        let shape = try eventually("the new shape") {
            _ = try capture.readEvents()
            return try capture.takePointerShape(in: TestScreen.size)
        }
        #expect(!shape.pixels.isEmpty && others.isEmpty)
        #expect(warnings.count { $0.contains("error 10") } == 1, "\(warnings)")
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

extension DisplayClient {
    /// The error with which the server refuses the pointer's shape; 0 if it doesn't.
    fileprivate var shapeError: UInt8 {
        free(xcb_xfixes_query_version_reply(connection, xcb_xfixes_query_version(connection, 5, 0), nil))
        var error: UnsafeMutablePointer<xcb_generic_error_t>?
        free(
            xcb_xfixes_get_cursor_image_reply(connection, xcb_xfixes_get_cursor_image(connection), &error))
        defer { free(error) }
        return error?.pointee.error_code ?? 0
    }
}
