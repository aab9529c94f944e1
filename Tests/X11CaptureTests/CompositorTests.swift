import CXCB
import CaptureEngine
import ColorConversion
import Glibc
import MediaTypes
import TestSupport
import Testing

@testable import X11Capture

@Suite("hidden windows under window managers and compositors", .enabled(if: Desktop.isAvailable), .serialized)
struct CompositorTests {
    @Test(
        "no picture has a pixel of a hidden window while it is minimised, moved, killed, or has a dialog",
        arguments: Desktop.Kind.allCases)
    func operations(kind: Desktop.Kind) throws {
        let desktop = try Desktop(kind, size: TestScreen.size)
        let capture = try ScreenCapture(
            display: desktop.screen.name, hidden: [.title("secret")], drawsPointer: false)
        let open = try ScreenCapture(display: desktop.screen.name, drawsPointer: false)
        var (seen, seenOpenly, pictures) = (0, 0, 0)
        for step in 0..<8 {
            var program: DisplayClient? = try DisplayClient(desktop.screen.name)
            let window = try #require(program).window(
                PixelRectangle(x: 40 + step * 7, y: 40, width: 120, height: 90), color: 0xFF00FF, title: "secret")
            try look(for: { seenOpenly > 0 })
            switch step % 4 {
            case 0: desktop.minimise(window)
            case 1: program?.move(window, to: 200, 120 + step)
            case 2:
                let dialog = try #require(program).window(
                    PixelRectangle(x: 100, y: 120, width: 90, height: 60), color: 0xFF00FF, isMapped: false)
                program?.numbers(dialog, "WM_TRANSIENT_FOR", [window])
                program?.map(dialog)
                try look(for: { true })
                program?.destroy(dialog)
            default: break
            }
            try look(for: { true })
            // Its connection ends as that of a program that was killed does.
            program = nil
            try look(for: { true })
        }
        #expect(seen == 0)
        #expect(pictures > 20)
        // What no window hides does show, or this would prove nothing.
        #expect(seenOpenly > 0)

        /// Takes pictures until a compositor has had time for its animations and `isEnough` holds.
        func look(for isEnough: () -> Bool) throws {
            let end = now() + .milliseconds(100)
            try eventually("the window on the screen") {
                _ = try capture.readEvents()
                let area = try capture.fetchDamage()
                pictures += area.isEmpty ? 0 : 1
                _ = try capture.grab(area) { if Self.hasSecret($0) { seen += 1 } }
                _ = try open.readEvents()
                _ = try open.grab(open.fullDamage()) { if Self.hasSecret($0) { seenOpenly += 1 } }
                return now() >= end && isEnough()
            }
        }
    }

    @Test("thumbnails and previews of hidden windows are black", arguments: [Desktop.Kind.xfwm4])
    func previews(kind: Desktop.Kind) throws {
        let desktop = try Desktop(kind, size: TestScreen.size)
        let capture = try ScreenCapture(
            display: desktop.screen.name, hidden: [.title("secret")], drawsPointer: false)
        let open = try ScreenCapture(display: desktop.screen.name, drawsPointer: false)
        let (owner, other) = (try DisplayClient(desktop.screen.name), try DisplayClient(desktop.screen.name))
        let window = owner.window(
            PixelRectangle(x: 0, y: 0, width: 120, height: 90), color: 0xFF00FF, title: "secret")
        // It covers the hidden window, so that only a preview can show that.
        let cover = other.window(
            PixelRectangle(x: 0, y: 0, width: 400, height: 300), color: 0x008000, title: "cover")
        try eventually("the hidden window below the other") {
            other.raise(cover)
            _ = window
            return try !Self.shows(open)
        }
        // Alt_L and Tab; again if the window manager wasn't ready for them.
        defer { desktop.key([0xFF09, 0xFFE9], isDown: false) }
        try eventually("the preview on the screen") {
            desktop.key([0xFFE9, 0xFF09], isDown: true)
            let preview: Bool? = try? eventually("it", within: .seconds(1)) { try Self.shows(open) ? true : nil }
            if preview == nil { desktop.key([0xFF09, 0xFFE9], isDown: false) }
            return preview == true
        }
        for _ in 0..<20 { #expect(try !Self.shows(capture)) }
    }

    private static func shows(_ capture: ScreenCapture) throws -> Bool {
        _ = try capture.readEvents()
        var result = false
        _ = try capture.grab(capture.fullDamage()) { if hasSecret($0) { result = true } }
        return result
    }

    /// Whether a pixel is magenta, or a mixture with it.
    private static func hasSecret(_ pixels: GrabbedPixels) -> Bool {
        (0..<pixels.rectangle.height).contains { row in
            let line = (pixels.base + row * pixels.stride).assumingMemoryBound(to: UInt32.self)
            return Desktop.hasMagenta(UnsafeBufferPointer(start: line, count: pixels.rectangle.width))
        }
    }
}
