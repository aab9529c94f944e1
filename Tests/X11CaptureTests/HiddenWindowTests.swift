import CaptureEngine
import Glibc
import MediaTypes
import TestScene
import TestSupport
import Testing

@testable import X11Capture

private let secret = SceneColor(0xFF, 0, 0xFF)

@Suite("hidden windows", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct HiddenWindowTests {
    @Test("no picture has a pixel of a hidden window while it comes, moves, is raised and goes")
    func never() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.background(0x0000FF)
        let cover = client.window(PixelRectangle(x: 50, y: 50, width: 100, height: 100), color: 0x00FF00)
        let capture = try ScreenCapture(
            display: screen.name, hidden: [.title("Passwords")], drawsPointer: false)
        var picture = try GrabbedPicture(capture)
        // Of another program: all windows of one are hidden together.
        let manager = try DisplayClient(screen.name)
        let window = manager.window(
            PixelRectangle(x: 60, y: 60, width: 80, height: 40), color: 0xFF00FF, title: "my passwords", border: 2)
        try follow()
        for step in 0..<20 {
            manager.move(window, to: step * 17 % 350 - 20, step * 13 % 280)
            if step % 3 == 0 { manager.raise(window) }
            if step % 5 == 0 { client.raise(cover) }
            if step % 4 == 0 { manager.resize(window, 80 + step, 40 + step) }
            try follow()
        }
        // Another title doesn't make it less private.
        manager.title(window, "something else")
        manager.fill(PixelRectangle(x: 0, y: 0, width: 30, height: 30), color: 0xFF00FF, on: window)
        try follow()
        manager.unmap(window)
        manager.map(window)
        try follow()
        manager.destroy(window)
        client.destroy(cover)
        let later = try settle()
        for y in 0..<300 { for x in 0..<400 { #expect(later.color(x, y) == SceneColor(0, 0, 0xFF)) } }

        func follow() throws {
            let settled = try settle()
            #expect(!shows(settled))
        }
        func settle() throws -> GrabbedPicture {
            var quiet = 0
            while quiet < 2 {
                _ = try capture.readEvents()
                let area = try capture.fetchDamage()
                quiet = area.isEmpty ? quiet + 1 : 0
                try picture.update(capture, area)
                #expect(!shows(picture))
            }
            return picture
        }
    }

    @Test("what happens while pixels are on their way is known before they are handed out")
    func race() throws {
        // Several bands a picture.
        let size = PictureSize(width: 1280, height: 720)
        let whole = PixelRectangle(x: 0, y: 0, width: 1280, height: 720)
        let screen = try VirtualScreen(size)
        try DisplayClient(screen.name).background(0x101010)
        let capture = try ScreenCapture(display: screen.name, hidden: [.title("passwords")], drawsPointer: false)
        let open = try ScreenCapture(display: screen.name, drawsPointer: false)
        let other = try DisplayClient(screen.name)
        // The server takes turns between what we ask for and this.
        other.waits = false
        var (seen, seenOpenly) = (0, 0)
        // Who is served first is the server's choice: where it always was the grab, the race goes on until it wasn't.
        var step = 0
        while step < 300 || seenOpenly == 0 && step < 20_000 {
            defer { step += 1 }
            let window = other.window(
                PixelRectangle(x: step * 37 % 1200, y: step * 29 % 660, width: 60, height: 50), color: 0xFF00FF,
                title: step % 3 == 1 ? "something" : "passwords", isMapped: step % 3 == 0)
            // A title that comes just before its window shows.
            other.title(window, "my passwords")
            other.map(window)
            for move in 0..<20 {
                other.move(window, to: (step * 41 + move * 220) % 1200, (step * 31 + move * 90) % 660)
            }
            if step % 2 == 0 { other.destroy(window) } else { other.unmap(window) }
            // Without readEvents: grabs alone have to be safe.
            let area = DamagedArea([whole], in: size)
            for _ in 0..<2 {
                _ = try capture.grab(area) { if shows($0) { seen += 1 } }
            }
            // Where nothing is hidden it does show; or this would prove nothing.
            for move in 0..<20 { other.move(window, to: move * 20, move * 30) }
            other.map(window)
            _ = try open.grab(area) { if shows($0) { seenOpenly += 1 } }
            other.destroy(window)
        }
        #expect(seen == 0)
        #expect(seenOpenly > 0)
    }

    /// Whether there is a byte that nothing else on the screen has.
    private func shows(_ pixels: GrabbedPixels) -> Bool {
        memchr(pixels.base, 0xFF, pixels.stride * pixels.rectangle.height) != nil
    }

    @Test("a window in a frame hides its frame, also where its title comes late; the place shows again when it is gone")
    func frames() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.background(0x0000FF)
        let capture = try ScreenCapture(
            display: screen.name, target: .region(PixelRectangle(x: 100, y: 100, width: 200, height: 150)),
            hidden: [.title("secret")], drawsPointer: false)
        var picture = try GrabbedPicture(capture)
        let frame = client.window(
            PixelRectangle(x: 90, y: 90, width: 60, height: 60), color: 0x00FF00, isMapped: false)
        let window = client.window(
            PixelRectangle(x: 100, y: 100, width: 50, height: 50), color: 0xFF00FF, isMapped: false)
        client.reparent(window, into: frame)
        client.map(window)
        client.map(frame)
        client.title(window, "a secret")
        try update()
        #expect(picture.color(0, 0) == SceneColor(0, 0, 0) && picture.color(49, 49) == SceneColor(0, 0, 0))
        #expect(picture.color(50, 50) == SceneColor(0, 0, 0xFF))
        client.destroy(frame)
        client.background(0x0000FF)
        try update()
        #expect(picture.color(0, 0) == SceneColor(0, 0, 0xFF))

        func update() throws {
            for _ in 0..<3 {
                _ = try capture.readEvents()
                try picture.update(capture, capture.fetchDamage())
            }
        }
    }

    @Test(
        "a window is hidden also where its title is long or has characters that no terminal should see",
        arguments: [
            (String(repeating: "x", count: 250) + " secret", "secret"),
            (String(repeating: "x", count: 60_000) + " secret", "SECRET"), ("my\u{1}secret", "my\u{1}secret"),
            ("my\u{1}secret", "my secret"), ("secret\r\n", "secret\r"),
        ])
    func strangeTitles(title: String, wanted: String) throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.background(0x0000FF)
        let window = client.window(PixelRectangle(x: 60, y: 60, width: 80, height: 40), color: 0xFF00FF, title: title)
        #expect(
            try !shows(
                GrabbedPicture(ScreenCapture(display: screen.name, hidden: [.title(wanted)], drawsPointer: false)))
        )
        // And the same window is the one that may be captured by that.
        let capture = try ScreenCapture(display: screen.name, target: .window(.title(wanted)), drawsPointer: false)
        #expect(capture.size == PictureSize(width: 80, height: 40))
        // What is printed of it is cut.
        let listed = try ScreenCapture.listing(display: screen.name).windows.first { $0.identifier == window }
        #expect(listed?.title == PrintableText.harmless(title))
        #expect(try #require(listed).title.count <= PrintableText.maxCharacters)
    }

    private func shows(_ picture: GrabbedPicture) -> Bool {
        for index in stride(from: 0, to: picture.bytes.count, by: 3)
        where picture.bytes[index] == secret.red && picture.bytes[index + 1] == 0 && picture.bytes[index + 2] == 0xFF {
            return true
        }
        return false
    }
}
