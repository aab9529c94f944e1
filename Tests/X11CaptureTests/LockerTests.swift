import CXCB
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

@testable import X11Capture

@Suite("a screen locker", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct LockerTests {
    private static let left = PixelRectangle(x: 0, y: 0, width: 200, height: 300)
    private static let right = PixelRectangle(x: 200, y: 0, width: 200, height: 300)
    private let screen: VirtualScreen
    private let client: DisplayClient
    private let capture: ScreenCapture

    init() throws {
        screen = try VirtualScreen(TestScreen.size)
        client = try DisplayClient(screen.name)
        capture = try ScreenCapture(display: screen.name, watchesLock: true)
    }

    /// Whether it is locked, once everything that the client did has been noticed.
    private func isLocked() throws -> Bool {
        // All events from before come ahead of the reply.
        _ = try capture.connection.rootSize()
        _ = try capture.readEvents()
        return capture.isLocked
    }

    private func lock(_ area: PixelRectangle, isMapped: Bool = true) -> xcb_window_t {
        client.window(area, color: 0xFFFFFF, isMapped: isMapped, isOverrideRedirect: true)
    }

    @Test("windows that no window manager places and that together cover the screen are a lock, until one of them goes")
    func together() throws {
        #expect(try !isLocked())
        let first = lock(Self.left)
        #expect(try !isLocked())
        let second = lock(Self.right)
        #expect(try isLocked())
        client.unmap(first)
        #expect(try !isLocked())
        client.map(first)
        #expect(try isLocked())
        client.move(second, to: 201, 0)
        #expect(try !isLocked())
        client.move(second, to: 200, 0)
        #expect(try isLocked())
        let parent = client.window(PixelRectangle(x: 0, y: 0, width: 10, height: 10), color: 0)
        client.reparent(second, into: parent)
        #expect(try !isLocked())
        client.destroy(parent)
        let third = lock(TestScreen.all)
        #expect(try isLocked())
        client.destroy(third)
        #expect(try !isLocked())
    }

    @Test("a lock that is there at the start, or comes with its program's end, is noticed")
    func beginningAndEnd() throws {
        var locker: DisplayClient? = try DisplayClient(screen.name)
        _ = locker?.window(TestScreen.all, color: 0, isOverrideRedirect: true)
        #expect(try ScreenCapture(display: screen.name, watchesLock: true).isLocked)
        #expect(try !ScreenCapture(display: screen.name).isLocked)
        #expect(try isLocked())
        locker = nil
        try eventually("the end of the lock") { try !isLocked() }
    }

    @Test("other windows as large as the screen are no lock")
    func others() throws {
        // One of a program that a window manager would place.
        let placed = client.window(TestScreen.all, color: 0)
        #expect(try !isLocked())
        client.destroy(placed)
        // An overlay through which the screen can be seen, as of a program that takes screenshots.
        let overlay = try #require(client.windowWithAlpha(TestScreen.all))
        client.unmap(overlay)
        client.setOverrideRedirect(overlay)
        client.map(overlay)
        #expect(try !isLocked())
        client.destroy(overlay)
        // The same with a hole instead of an alpha channel: only its edge is there.
        let frame = lock(TestScreen.all, isMapped: false)
        client.shape(
            frame,
            [
                PixelRectangle(x: 0, y: 0, width: 400, height: 4), PixelRectangle(x: 0, y: 0, width: 4, height: 300),
                PixelRectangle(x: 396, y: 0, width: 4, height: 300),
                PixelRectangle(x: 0, y: 296, width: 400, height: 4),
            ])
        client.map(frame)
        #expect(try !isLocked())
        client.destroy(frame)
        // One without pixels, and one that is a little too small.
        let input = client.inputWindow(TestScreen.all)
        client.unmap(input)
        client.setOverrideRedirect(input)
        client.map(input)
        #expect(try !isLocked())
        client.destroy(input)
        let small = lock(PixelRectangle(x: 0, y: 0, width: 400, height: 298))
        #expect(try !isLocked())
        client.resize(small, 400, 299)
        #expect(try isLocked())
    }

    @Test("the overlay window of a compositor is no lock, whether it was there before or not")
    func compositor() throws {
        let overlay = try #require(client.compositeOverlay())
        #expect(try !isLocked())
        #expect(try !ScreenCapture(display: screen.name, watchesLock: true).isLocked)
        // It is as large as the screen, and there to be seen.
        let attributes = xcb_get_window_attributes_reply(
            client.connection, xcb_get_window_attributes(client.connection, overlay), nil)
        defer { free(attributes) }
        #expect(attributes?.pointee.override_redirect == 1 && attributes?.pointee.map_state == 2)
    }

    @Test("a lock that covers all monitors leaves out what none of them shows")
    func deadCorner() throws {
        // Turns the server's own monitor off.
        try screen.resize(to: PictureSize(width: 300, height: 200))
        client.setMonitor("LEFT", PixelRectangle(x: 0, y: 0, width: 150, height: 200))
        client.setMonitor("RIGHT", PixelRectangle(x: 150, y: 0, width: 150, height: 100))
        let first = lock(PixelRectangle(x: 0, y: 0, width: 150, height: 200))
        #expect(try !isLocked())
        _ = lock(PixelRectangle(x: 150, y: 0, width: 150, height: 100))
        #expect(try isLocked())
        client.destroy(first)
        #expect(try !isLocked())
    }

    @Test("whether areas cover a rectangle is told to the pixel")
    func coverage() {
        let all = TestScreen.all
        #expect(all.isCovered(by: [all]) && !all.isCovered(by: []))
        #expect(all.isCovered(by: [Self.left, Self.right]))
        #expect(!all.isCovered(by: [Self.left, PixelRectangle(x: 200, y: 0, width: 199, height: 300)]))
        #expect(all.isCovered(by: [PixelRectangle(x: -50, y: -50, width: 1000, height: 1000)]))
        var generator = SeededRandom(seed: 7)
        for _ in 0..<200 {
            let target = PixelRectangle(x: 2, y: 2, width: 6, height: 6)
            let areas = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                PixelRectangle(
                    x: Int.random(in: 0...8, using: &generator), y: Int.random(in: 0...8, using: &generator),
                    width: Int.random(in: 0...8, using: &generator), height: Int.random(in: 0...8, using: &generator))
            }
            let expected = (2..<8).allSatisfy { y in
                (2..<8).allSatisfy { x in
                    areas.contains {
                        ($0.x..<$0.x + $0.width).contains(x) && ($0.y..<$0.y + $0.height).contains(y)
                    }
                }
            }
            #expect(target.isCovered(by: areas) == expected, "\(areas)")
        }
    }

    @Test(
        "real screen lockers are noticed, and their end",
        arguments: ["i3lock", "slock", "xsecurelock"].filter { ProgramLookup.path(of: $0) != nil })
    func lockers(_ name: String) throws {
        // A copy of the program has no capabilities. Those of slock aren't needed here, and a container may refuse
        // them.
        let folder = try TemporaryFolder()
        let program = folder.file(name)
        let path = try #require(ProgramLookup.path(of: name))
        #expect(try ChildProcess.run(Launch("cp", [path, program]), within: .seconds(5)).0?.isSuccess == true)
        var launch = Launch(program, name == "i3lock" ? ["-n"] : [])
        launch.environment["DISPLAY"] = screen.name
        // What xsecurelock shows beside its windows doesn't matter here.
        launch.environment["XSECURELOCK_SAVER"] = "saver_blank"
        launch.standardError = .text(limit: 16 * 1024)
        let locker = try ChildProcess(launch)
        defer { locker.stop(within: .seconds(2)) }
        try eventually("the lock by \(name): \(locker.errorOutput?.text ?? "")") { try isLocked() }
        locker.stop(within: .seconds(2))
        try eventually("the end of \(name)") { try !isLocked() }
    }
}

extension DisplayClient {
    fileprivate func setOverrideRedirect(_ window: xcb_window_t) {
        xcb_change_window_attributes(connection, window, XCB_CW_OVERRIDE_REDIRECT.rawValue, [UInt32(1)])
    }

    /// Gives a window a shape of these rectangles.
    fileprivate func shape(_ window: xcb_window_t, _ rectangles: [PixelRectangle]) {
        free(xcb_xfixes_query_version_reply(connection, xcb_xfixes_query_version(connection, 5, 0), nil))
        let region = xcb_generate_id(connection)
        let parts = rectangles.map {
            xcb_rectangle_t(x: Int16($0.x), y: Int16($0.y), width: UInt16($0.width), height: UInt16($0.height))
        }
        xcb_xfixes_create_region(connection, region, UInt32(parts.count), parts)
        xcb_xfixes_set_window_shape_region(
            connection, window, xcb_shape_kind_t(XCB_SHAPE_SK_BOUNDING.rawValue), 0, 0, region)
    }

    /// The window that a compositor draws on, which the server makes and maps for it.
    fileprivate func compositeOverlay() -> xcb_window_t? {
        free(xcb_composite_query_version_reply(connection, xcb_composite_query_version(connection, 0, 4), nil))
        let reply = xcb_composite_get_overlay_window_reply(
            connection, xcb_composite_get_overlay_window(connection, root), nil)
        defer { free(reply) }
        return reply?.pointee.overlay_win
    }
}
