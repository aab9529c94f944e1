import CaptureEngine
import ColorConversion
import LinkTransport
import MediaTypes
import TestScene
import TestSupport
import Testing
import X11Capture

@Suite("X11 capture of a window", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct WindowTests {
    @Test("a window is seen while covered, moved and resized; it waits while unmapped, and ends when destroyed")
    func life() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let window = client.window(
            PixelRectangle(x: 20, y: 30, width: 100, height: 80), color: 0xFF0000, title: "the one", border: 3)
        let cover = client.window(TestScreen.all, color: 0x0000FF, title: "another")
        let capture = try ScreenCapture(
            display: screen.name, target: .window(.title("THE ONE")), drawsPointer: false)
        #expect(capture.size == PictureSize(width: 100, height: 80))
        // What is drawn on it while it is covered is damage, in its own coordinates.
        client.fill(PixelRectangle(x: 0, y: 0, width: 100, height: 80), color: 0xFF0000, on: window)
        var picture = try GrabbedPicture(capture)
        #expect(picture.color(0, 0) == TestScreen.red && picture.color(99, 79) == TestScreen.red)
        _ = try capture.readEvents()
        _ = try capture.fetchDamage()
        client.fill(PixelRectangle(x: 90, y: 70, width: 10, height: 10), color: 0x00FF00, on: window)
        let area = try eventually("damage") { try someChanges(capture) }
        #expect(area.rectangles == [PixelRectangle(x: 90, y: 70, width: 10, height: 10)])
        try picture.update(capture, area)
        #expect(picture.color(99, 79) == TestScreen.green && picture.color(89, 79) == TestScreen.red)
        // Drawing elsewhere is nothing to it, and neither is a move.
        client.fill(TestScreen.all, color: 0x123456, on: cover)
        #expect(try !capture.readEvents())
        #expect(!capture.mayHaveChanged)
        client.move(window, to: -50, 60)
        #expect(try !capture.readEvents())
        #expect(!capture.needsFullGrab)
        client.resize(window, 120, 61)
        try eventually("the new size") { try capture.readEvents() }
        #expect(capture.size == PictureSize(width: 120, height: 61))
        client.fill(PixelRectangle(x: 0, y: 0, width: 120, height: 61), color: 0x00FF00, on: window)
        picture = try GrabbedPicture(capture)
        #expect(picture.color(0, 0) == TestScreen.green && picture.color(119, 60) == TestScreen.green)
        client.unmap(window)
        try eventually("the wait") {
            _ = try capture.readEvents()
            return capture.isWaiting
        }
        #expect(try !capture.mayHaveChanged && capture.fullDamage().isEmpty)
        #expect(capture.nextPointerLook == .distantFuture)
        client.map(window)
        try eventually("its return") {
            _ = try capture.readEvents()
            return !capture.isWaiting
        }
        #expect(capture.mayHaveChanged)
        client.fill(PixelRectangle(x: 0, y: 0, width: 120, height: 61), color: 0x0000FF, on: window)
        #expect(try GrabbedPicture(capture).color(60, 30) == TestScreen.blue)
        client.destroy(window)
        let error = #expect(throws: X11CaptureError.self) {
            try x11 { try eventually("an error") { try capture.readEvents() } }
        }
        #expect(error?.description.contains("'the one' has been closed") == true)
    }

    @Test("a window in a frame waits while its frame is unmapped")
    func frame() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let frame = client.window(PixelRectangle(x: 20, y: 30, width: 100, height: 80), color: 0)
        let window = client.window(
            PixelRectangle(x: 4, y: 4, width: 90, height: 70), color: 0xFF0000, title: "inside", parent: frame)
        let capture = try ScreenCapture(
            display: screen.name, target: .window(.identifier(window)), drawsPointer: false)
        client.fill(PixelRectangle(x: 0, y: 0, width: 90, height: 70), color: 0xFF0000, on: window)
        #expect(try GrabbedPicture(capture).color(0, 0) == TestScreen.red)
        client.unmap(frame)
        try eventually("the wait") {
            _ = try capture.readEvents()
            return capture.isWaiting
        }
        client.map(frame)
        try eventually("its return") {
            _ = try capture.readEvents()
            return !capture.isWaiting
        }
    }

    @Test("a window with an alpha channel is captured as its colours say")
    func depth32() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let window = try #require(client.windowWithAlpha(PixelRectangle(x: 20, y: 30, width: 101, height: 80)))
        let area = PixelRectangle(x: 0, y: 0, width: 101, height: 80)
        client.fill(area, color: 0x8000_FF00, on: window, withAlpha: true)
        let capture = try ScreenCapture(
            display: screen.name, target: .window(.identifier(window)), drawsPointer: false)
        client.fill(area, color: 0x8000_FF00, on: window, withAlpha: true)
        #expect(capture.pixelFormat == .bgrx)
        #expect(try GrabbedPicture(capture).color(100, 79) == TestScreen.green)
    }

    @Test("a window that isn't there, or isn't the only one, or shows nothing, is refused in words that help")
    func refusals() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let area = PixelRectangle(x: 0, y: 0, width: 10, height: 10)
        let windows = (0..<7).map { client.window(area, color: 0, title: "note \($0)", className: "Notes") }
        func refusal(_ selector: WindowSelector) -> String {
            do {
                _ = try ScreenCapture(display: screen.name, target: .window(selector))
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(refusal(.title("nothing of the kind")).contains("--list"))
        #expect(refusal(.identifier(0xDEAD_BEEF)).contains("0xdeadbeef"))
        #expect(refusal(.title("")).contains("no window"))
        let several = refusal(.title("notes"))
        #expect(several.contains("note 4") && !several.contains("note 5"))
        let ambiguous = #expect(throws: X11CaptureError.self) {
            _ = try ScreenCapture(display: screen.name, target: .window(.title("notes")))
        }
        #expect(ambiguous?.kind == .usage)
        // A title that is equal goes first.
        client.title(windows[6], "note")
        #expect(refusal(.title("note")) == "")
    }

    @Test("a menu, a dialog or a helper window of its own program doesn't make a window's name ambiguous")
    func ownMenus() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let area = PixelRectangle(x: 0, y: 0, width: 30, height: 20)
        let window = client.window(
            PixelRectangle(x: 0, y: 0, width: 60, height: 50), color: 0, title: "Untitled - Editor", className: "Editor"
        )
        _ = client.window(area, color: 0, title: "editor", className: "Editor", isOverrideRedirect: true)
        _ = client.window(PixelRectangle(x: 0, y: 0, width: 1, height: 1), color: 0, className: "Editor")
        let dialog = client.window(area, color: 0, title: "Open", className: "Editor")
        client.numbers(dialog, "WM_TRANSIENT_FOR", [window])
        var warnings: [String] = []
        let capture = try ScreenCapture(
            display: screen.name, target: .window(.title("editor")), onWarning: { warnings.append($0) })
        #expect(capture.size == PictureSize(width: 60, height: 50))
        #expect(warnings == ["only the window itself is shared: viewers don't see its menus and dialogs"])
        // By its own title, or by its number, the dialog can be shared as well.
        for selector in [WindowSelector.title("open"), .identifier(dialog)] {
            let capture = try ScreenCapture(display: screen.name, target: .window(selector))
            #expect(capture.size == PictureSize(width: 30, height: 20))
        }
    }

    @Test("without Composite a window's visible part is captured, wherever the window moves")
    func withoutComposite() throws {
        let screen = try VirtualScreen(TestScreen.size, options: ["-extension", "Composite"])
        let client = try DisplayClient(screen.name)
        let window = client.window(
            PixelRectangle(x: 20, y: 30, width: 100, height: 80), color: 0xFF0000, title: "the one")
        var warnings: [String] = []
        let capture = try ScreenCapture(
            display: screen.name, target: .window(.identifier(window)), drawsPointer: false,
            onWarning: { warnings.append($0) })
        #expect(warnings.count == 1)
        #expect(try GrabbedPicture(capture).color(99, 79) == TestScreen.red)
        client.move(window, to: -50, -40)
        _ = try capture.readEvents()
        let picture = try GrabbedPicture(capture)
        #expect(
            picture.color(49, 79) == TestScreen.black && picture.color(50, 39) == TestScreen.black
                && picture.color(50, 40) == TestScreen.red)
        client.destroy(window)
        #expect(throws: X11CaptureError.self) {
            try x11 { try eventually("an error") { try capture.readEvents() } }
        }
    }

    @Test("without Composite nothing can be hidden; with it there is nothing to hide where a window is captured")
    func hiddenCover() throws {
        for isComposed in [false, true] {
            let screen = try VirtualScreen(TestScreen.size, options: isComposed ? [] : ["-extension", "Composite"])
            let client = try DisplayClient(screen.name)
            let window = client.window(
                PixelRectangle(x: 20, y: 30, width: 100, height: 80), color: 0xFF0000, title: "the one")
            let other = try DisplayClient(screen.name)
            _ = other.window(PixelRectangle(x: 30, y: 40, width: 20, height: 20), color: 0x00FF00, title: "secret")
            var warnings: [String] = []
            if !isComposed {
                #expect(throws: X11CaptureError.cannotHide(display: screen.name)) {
                    try ScreenCapture(
                        display: screen.name, target: .window(.identifier(window)), hidden: [.title("secret")])
                }
                continue
            }
            let capture = try ScreenCapture(
                display: screen.name, target: .window(.identifier(window)), hidden: [.title("secret")],
                drawsPointer: false, onWarning: { warnings.append($0) })
            #expect(warnings.count == 2)
            client.fill(PixelRectangle(x: 0, y: 0, width: 100, height: 80), color: 0xFF0000, on: window)
            let picture = try GrabbedPicture(capture)
            #expect(picture.color(9, 9) == TestScreen.red && picture.color(30, 30) == TestScreen.red)
            #expect(picture.color(15, 15) == TestScreen.red)
        }
    }

    @Test("a window deep inside others waits while any of them is unmapped, and is seen again after that")
    func deep() throws {
        for isComposed in [false, true] {
            let screen = try VirtualScreen(
                TestScreen.size, options: isComposed ? [] : ["-extension", "Composite"])
            let client = try DisplayClient(screen.name)
            let frame = client.window(PixelRectangle(x: 20, y: 30, width: 100, height: 80), color: 0)
            let tab = client.window(PixelRectangle(x: 4, y: 4, width: 90, height: 70), color: 0, parent: frame)
            let window = client.window(
                PixelRectangle(x: 0, y: 0, width: 80, height: 60), color: 0xFF0000, title: "inside", parent: tab)
            let area = PixelRectangle(x: 0, y: 0, width: 80, height: 60)
            let capture = try ScreenCapture(
                display: screen.name, target: .window(.identifier(window)), drawsPointer: false)
            client.fill(area, color: 0xFF0000, on: window)
            #expect(try GrabbedPicture(capture).color(40, 30) == TestScreen.red)
            client.unmap(tab)
            try eventually("the wait") {
                _ = try capture.readEvents()
                return capture.isWaiting
            }
            client.map(tab)
            try eventually("its return") {
                _ = try capture.readEvents()
                return !capture.isWaiting
            }
            client.fill(area, color: 0x00FF00, on: window)
            #expect(try GrabbedPicture(capture).color(40, 30) == TestScreen.green)
        }
    }

    @Test("200 new sizes of a window, and as many of the screen, leave nothing behind")
    func noLeak() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let window = client.window(
            PixelRectangle(x: 20, y: 30, width: 100, height: 80), color: 0xFF0000, title: "the one")
        let captures = [
            try ScreenCapture(display: screen.name, target: .window(.identifier(window))),
            try ScreenCapture(display: screen.name),
        ]
        let holdings = ServerHoldings(of: screen)
        for step in 0..<4 { try change(step) }
        let before = (try holdings.count(), try client.resources())
        // A segment of each capture, or there would be nothing to count.
        #expect(before.0.connections >= 3 && before.0.mappings == 2, "\(before.0)")
        for step in 0..<200 { try change(step) }
        #expect(try holdings.count() == before.0)
        #expect(try client.resources() == before.1)

        func change(_ step: Int) throws {
            client.resize(window, 100 + step % 4, 80 + step % 3)
            try screen.resize(to: PictureSize(width: 400 - step % 4 * 20, height: 300))
            for capture in captures {
                try eventually("the size") { try capture.readEvents() || step == 0 }
                _ = try capture.grab(capture.fullDamage()) { _ in }
            }
            try holdings.noteSegments()
        }
    }
}
