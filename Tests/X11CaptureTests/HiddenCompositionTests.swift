import CXCB
import CaptureEngine
import MediaTypes
import TestScene
import TestSupport
import Testing

@testable import X11Capture

@Suite("pictures without hidden windows", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct HiddenCompositionTests {
    private static let place = PixelRectangle(x: 60, y: 60, width: 80, height: 40)
    private static let grey = SceneColor(0x80, 0x80, 0x80)
    private static let magenta = SceneColor(0xFF, 0, 0xFF)

    private let screen: VirtualScreen
    private let client: DisplayClient
    /// The program with the hidden windows.
    private let owner: DisplayClient

    init() throws {
        screen = try VirtualScreen(TestScreen.size)
        client = try DisplayClient(screen.name)
        owner = try DisplayClient(screen.name)
        client.background(0x808080)
    }

    private func capture() throws -> ScreenCapture {
        try ScreenCapture(display: screen.name, hidden: [.title("secret")], drawsPointer: false)
    }

    private func secret() -> UInt32 { owner.window(Self.place, color: 0xFF00FF, title: "secret") }

    /// The next picture, once nothing changes any more.
    private func picture(_ capture: ScreenCapture) throws -> GrabbedPicture {
        _ = try capture.readEvents()
        var picture = try GrabbedPicture(capture)
        var quiet = 0
        while quiet < 2 {
            _ = try capture.readEvents()
            let area = try capture.fetchDamage()
            quiet = area.isEmpty ? quiet + 1 : 0
            try picture.update(capture, area)
        }
        return picture
    }

    /// A window whose background the server leaves to the program.
    private func windowWithoutBackground(_ area: PixelRectangle) -> UInt32 {
        let window = xcb_generate_id(client.connection)
        xcb_create_window(
            client.connection, UInt8(XCB_COPY_FROM_PARENT), window, client.root, Int16(area.x), Int16(area.y),
            UInt16(area.width), UInt16(area.height), 0, UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), 0, 0, nil)
        client.map(window)
        return window
    }

    @Test("a program that doesn't repaint keeps nothing of the window that lay below its own when that goes")
    func lyingAbove() throws {
        let window = secret()
        let capture = try capture()
        #expect(try picture(capture).color(80, 80) == TestScreen.black)
        let lazy = windowWithoutBackground(TestScreen.all)
        #expect(try !shows(picture(capture)))
        owner.destroy(window)
        #expect(try !shows(picture(capture)))
        // The screen itself still has it, or this would prove nothing.
        #expect(try shows(GrabbedPicture(ScreenCapture(display: screen.name, drawsPointer: false))))
        client.fill(TestScreen.all, color: 0x0000FF, on: lazy)
        #expect(try picture(capture).color(80, 80) == TestScreen.blue)
    }

    @Test("a program that doesn't repaint keeps nothing of the window that lay above its own when that moves or goes")
    func lyingBelow() throws {
        let lazy = windowWithoutBackground(TestScreen.all)
        client.fill(TestScreen.all, color: 0x0000FF, on: lazy)
        let window = secret()
        let capture = try capture()
        #expect(try picture(capture).color(80, 80) == TestScreen.black)
        owner.move(window, to: 200, 200)
        #expect(try !shows(picture(capture)))
        owner.unmap(window)
        #expect(try !shows(picture(capture)))
        client.fill(TestScreen.all, color: 0x00FF00, on: lazy)
        #expect(try picture(capture).color(80, 80) == TestScreen.green)
    }

    @Test("a window above a hidden one shows, also while it moves, and what is drawn below it is no change")
    func above() throws {
        let below = client.window(TestScreen.all, color: 0x00FF00)
        _ = secret()
        let capture = try capture()
        let cover = client.window(PixelRectangle(x: 100, y: 50, width: 100, height: 100), color: 0xFF0000, border: 3)
        var picture = try picture(capture)
        #expect(picture.color(80, 80) == TestScreen.black && picture.color(120, 80) == TestScreen.red)
        #expect(picture.color(20, 20) == TestScreen.green)
        client.move(cover, to: 50, 50)
        picture = try self.picture(capture)
        #expect(picture.color(80, 80) == TestScreen.red && picture.color(170, 100) == TestScreen.green)
        client.fill(PixelRectangle(x: 60, y: 60, width: 20, height: 20), color: 0x0000FF, on: below)
        _ = try capture.readEvents()
        #expect(try capture.fetchDamage().isEmpty)
        client.fill(PixelRectangle(x: 300, y: 60, width: 20, height: 20), color: 0x0000FF, on: below)
        try eventually("the change") {
            _ = try capture.readEvents()
            return try capture.fetchDamage().rectangles == [PixelRectangle(x: 300, y: 60, width: 20, height: 20)]
        }
    }

    @Test("shapes, transparent windows, the order of the windows and the background are as on the screen")
    func likeTheScreen() throws {
        let capture = try capture()
        let left = client.window(PixelRectangle(x: 10, y: 10, width: 100, height: 100), color: 0xFF0000, border: 2)
        let right = client.window(PixelRectangle(x: 60, y: 60, width: 100, height: 100), color: 0x00FF00)
        var hole = xcb_rectangle_t(x: 20, y: 20, width: 30, height: 30)
        xcb_shape_rectangles(
            client.connection, UInt8(XCB_SHAPE_SO_SUBTRACT.rawValue), UInt8(XCB_SHAPE_SK_BOUNDING.rawValue), 0, right,
            0, 0, 1, &hole)
        let glass = try #require(client.windowWithAlpha(PixelRectangle(x: 0, y: 0, width: 80, height: 80)))
        client.fill(
            PixelRectangle(x: 0, y: 0, width: 80, height: 80), color: 0xFF00_FF00, on: glass, withAlpha: true)
        client.fill(
            PixelRectangle(x: 0, y: 0, width: 80, height: 40), color: 0, on: glass, withAlpha: true)
        var picture = try picture(capture)
        #expect(picture.color(30, 30) == TestScreen.red)
        #expect(picture.color(30, 60) == TestScreen.green)
        #expect(picture.color(90, 90) == TestScreen.red)
        #expect(picture.color(150, 150) == TestScreen.green)
        #expect(picture.color(300, 200) == Self.grey)
        client.raise(left)
        picture = try self.picture(capture)
        #expect(picture.color(70, 100) == TestScreen.red && picture.color(30, 60) == TestScreen.red)
        xcb_circulate_window(client.connection, UInt8(XCB_CIRCULATE_LOWER_HIGHEST.rawValue), client.root)
        client.background(0x202020)
        picture = try self.picture(capture)
        #expect(picture.color(70, 100) == TestScreen.green)
        #expect(picture.color(300, 200) == SceneColor(0x20, 0x20, 0x20))
    }

    @Test("a panel's pop-ups are black, as they may show thumbnails; its menus and other programs' pop-ups are seen")
    func panels() throws {
        let kind = "_NET_WM_WINDOW_TYPE"
        let panel = client.window(PixelRectangle(x: 0, y: 0, width: 400, height: 20), color: 0x00FF00, isMapped: false)
        client.numbers(panel, kind, [client.atom("_NET_WM_WINDOW_TYPE_DOCK")])
        client.map(panel)
        let capture = try capture()
        func popUp(_ client: DisplayClient, _ x: Int, _ type: String?) {
            let window = client.window(
                PixelRectangle(x: x, y: 30, width: 50, height: 50), color: 0xFF0000, isMapped: false,
                isOverrideRedirect: true)
            if let type { client.numbers(window, kind, [client.atom(type)]) }
            client.map(window)
        }
        popUp(client, 0, nil)
        popUp(client, 100, "_NET_WM_WINDOW_TYPE_POPUP_MENU")
        let other = try DisplayClient(screen.name)
        popUp(other, 200, nil)
        let picture = try picture(capture)
        #expect(picture.color(10, 10) == TestScreen.green)
        #expect(picture.color(10, 40) == TestScreen.black)
        #expect(picture.color(110, 40) == TestScreen.red && picture.color(210, 40) == TestScreen.red)
    }

    private func shows(_ picture: GrabbedPicture) -> Bool {
        for y in 0..<TestScreen.size.height {
            for x in 0..<TestScreen.size.width where picture.color(x, y) == Self.magenta { return true }
        }
        return false
    }
}
