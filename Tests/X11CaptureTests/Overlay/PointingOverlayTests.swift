import CXCB
import CaptureEngine
import Glibc
import MediaTypes
import TestScene
import TestSupport
import Testing

@testable import X11Capture

/// Where viewers point, on the sharer's own screen.
@Suite("the overlay of viewers' dots and lines", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct PointingOverlayTests {
    private static let background: UInt32 = 0x40_5060
    private static let color = PointingRig.color

    @Test("a dot that moves is seen on the screen, but no picture shows it and nothing is to be read again")
    func dot() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let rig = try PointingRig(screen.name)
        rig.client.background(Self.background)
        _ = try rig.capture.readEvents()
        _ = try rig.capture.fetchDamage()
        let before = try GrabbedPicture(rig.capture)
        let screenBefore = rig.client.pixels(of: TestScreen.size)
        #expect(rig.capture.nextCheck == .distantFuture)
        for step in 1...20 {
            let x = Double(step) / 25
            rig.point(x, 0.5)
            try rig.wait(for: "the dot at \(x)") { rig.color(at: x, 0.5) == Self.color }
            #expect(try rig.capture.fetchDamage().isEmpty)
            #expect(try GrabbedPicture(rig.capture).bytes == before.bytes)
        }
        #expect(!rig.capture.showsAllChanges)
        // Without news it goes by itself.
        try rig.wait(for: "the end of the dot") { !rig.capture.overlay.isShown }
        #expect(rig.client.pixels(of: TestScreen.size) == screenBefore)
        #expect(try rig.capture.fetchDamage().isEmpty)
        #expect(try GrabbedPicture(rig.capture).bytes == before.bytes)
        #expect(rig.capture.nextCheck == .distantFuture && rig.capture.showsAllChanges)
    }

    @Test("all that changes beneath and beside dots is in the pictures in the end, and no dot is", arguments: [24, 16])
    func changing(depth: Int) throws {
        let screen = try VirtualScreen(TestScreen.size, depth: depth)
        let rig = try PointingRig(screen.name)
        // Greys, which no dot has.
        func grey(_ value: UInt32) -> UInt32 { depth == 24 ? value * 0x01_0101 : (value >> 3) * 0x0841 }
        let window = rig.client.window(TestScreen.all, color: grey(80))
        var picture = try GrabbedPicture(rig.capture)
        var random = SeededRandom(seed: 5)
        for step in 0..<60 {
            let (x, y) = (Double.random(in: 0...1, using: &random), Double.random(in: 0...1, using: &random))
            rig.point(x, y, viewer: UInt32(step % 3), path: step % 10 == 0 ? [nil, (x, y)] : [(x, y)])
            rig.client.fill(
                PixelRectangle(
                    x: Int.random(in: 0..<380, using: &random), y: Int.random(in: 0..<280, using: &random),
                    width: 40, height: 40), color: grey(UInt32.random(in: 0...250, using: &random)), on: window)
            poll(nil, 0, 10)
            _ = try rig.capture.readEvents()
            try picture.update(rig.capture, rig.capture.fetchDamage())
            #expect(!Self.hasColor(picture))
        }
        #expect(rig.capture.overlay.isShown)
        try rig.wait(for: "the end of the dots") { !rig.capture.overlay.isShown }
        try picture.update(rig.capture, rig.capture.fetchDamage())
        #expect(try picture.bytes == GrabbedPicture(rig.capture).bytes)
    }

    /// Whether a pixel isn't grey. In 16 bits, green has other steps than the rest.
    private static func hasColor(_ picture: GrabbedPicture) -> Bool {
        picture.bytes.withUnsafeBufferPointer { bytes in
            for index in stride(from: 0, to: bytes.count - 2, by: 3) {
                let (red, green, blue) = (Int(bytes[index]), Int(bytes[index + 1]), Int(bytes[index + 2]))
                if abs(red - green) > 12 || abs(red - blue) > 12 { return true }
            }
            return false
        }
    }

    @Test("what was drawn before a dot came, and was in no picture yet, isn't lost")
    func drawnBefore() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let rig = try PointingRig(screen.name)
        let window = rig.client.window(TestScreen.all, color: Self.background)
        var picture = try GrabbedPicture(rig.capture)
        rig.client.fill(PixelRectangle(x: 190, y: 140, width: 20, height: 20), color: 0xFF, on: window)
        rig.point(0.5, 0.5)
        try rig.wait(for: "the dot") { rig.color(at: 0.5, 0.5) == Self.color }
        try picture.update(rig.capture, rig.capture.fetchDamage())
        #expect(picture.color(200, 150) == TestScreen.blue)
        // After it has gone, the server paints the window's background there, which is in the pictures, too.
        rig.capture.showPoint(nil, in: TestScreen.size, content: TestScreen.all)
        try rig.wait(for: "the end of the dot") { !rig.capture.overlay.isShown }
        try picture.update(rig.capture, rig.capture.fetchDamage())
        #expect(picture.color(200, 150) == SceneColor(0x40, 0x50, 0x60))
        #expect(try picture.bytes == GrabbedPicture(rig.capture).bytes)
    }

    @Test("what changes beneath a dot that stays is in the pictures, none shows the dot, and it is on the screen again")
    func staying() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let rig = try PointingRig(screen.name)
        rig.client.background(Self.background)
        _ = try rig.capture.readEvents()
        _ = try rig.capture.fetchDamage()
        var picture = try GrabbedPicture(rig.capture)
        var rests = 0
        /// Pages repeat a dot that stays.
        func hold(until what: String, _ condition: () throws -> Bool) throws {
            try rig.wait(for: what) {
                rig.point(0.5, 0.5)
                try picture.update(rig.capture, rig.capture.fetchDamage())
                #expect(!Self.hasDot(picture))
                let overlay = rig.capture.overlay
                if overlay.rest.end != nil {
                    rests += 1
                    #expect(overlay.settledDue == overlay.tiles.nextLook, "the dot is away for too long")
                }
                return try condition()
            }
        }
        for (step, color) in [0x10_2030, 0x80_9070, Self.background].enumerated() {
            try hold(until: "the dot before change \(step)") { rig.color(at: 0.5, 0.5) == Self.color }
            rig.client.background(color)
            let (red, green, blue) = (UInt8(color >> 16), UInt8(color >> 8 & 0xFF), UInt8(color & 0xFF))
            try hold(until: "change \(step)") { picture.color(200, 150) == SceneColor(red, green, blue) }
        }
        try hold(until: "the dot after all changes") { rig.color(at: 0.5, 0.5) == Self.color }
        #expect(rests > 0)
        // Over a still screen it stays where it is.
        let end = now() + .milliseconds(1500)
        try hold(until: "the end") {
            #expect(rig.color(at: 0.5, 0.5) == Self.color)
            return now() >= end
        }
        #expect(try picture.bytes == GrabbedPicture(rig.capture).bytes)
    }

    @Test("clicks go to the window below")
    func clicks() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let rig = try PointingRig(screen.name)
        let window = rig.client.window(TestScreen.all, color: Self.background)
        xcb_change_window_attributes(
            rig.client.connection, window, XCB_CW_EVENT_MASK.rawValue, [XCB_EVENT_MASK_BUTTON_PRESS.rawValue])
        rig.point(0.5, 0.5)
        try rig.wait(for: "the dot") { rig.color(at: 0.5, 0.5) == Self.color }
        #expect(rig.client.topWindow(at: (200, 150)) == window)
        rig.client.moveMouse(to: (200, 150))
        rig.client.button(1, isDown: true)
        rig.client.button(1, isDown: false)
        try eventually(
            "the click",
            holds: {
                guard let event = xcb_poll_for_event(rig.client.connection) else { return false }
                defer { free(event) }
                return Int32(event.pointee.response_type & 0x7F) == XCB_BUTTON_PRESS
            })
    }

    @Test("a line is drawn from place to place, and gone three seconds later; the end of pointing removes all at once")
    func lines() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let rig = try PointingRig(screen.name)
        rig.client.background(Self.background)
        func draw() throws {
            rig.point(0.75, 0.25, path: [nil, (0.25, 0.25), (0.75, 0.25)])
            try rig.wait(for: "the line") { rig.color(at: 0.4, 0.25) == Self.color }
        }
        let begin = now()
        try draw()
        #expect(try !Self.hasDot(GrabbedPicture(rig.capture), rows: 60..<90))
        try rig.wait(for: "the end of the line") { rig.color(at: 0.4, 0.25) == Self.background }
        #expect(now() - begin >= .milliseconds(2900))
        try draw()
        let end = now()
        rig.capture.showPoint(nil, in: TestScreen.size, content: TestScreen.all)
        try rig.wait(for: "nothing") { rig.color(at: 0.4, 0.25) == Self.background }
        // No measurement: the line would have lasted for longer.
        #expect(now() - end < .milliseconds(2500))
        // A viewer that has left has no dot any more.
        rig.point(0.5, 0.5)
        try rig.wait(for: "the dot") { rig.color(at: 0.5, 0.5) == Self.color }
        rig.capture.showPoint(
            ViewerPoint(viewer: 1, name: PointingRig.viewer, place: nil), in: TestScreen.size, content: TestScreen.all)
        try rig.wait(for: "its end") { rig.color(at: 0.5, 0.5) == Self.background }
    }

    @Test("a dot is where it is in the picture: on a region, and with the picture scaled and bars beside it")
    func places() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        client.background(Self.background)
        let region = PixelRectangle(x: 100, y: 60, width: 200, height: 200)
        let capture = try ScreenCapture(display: screen.name, target: .region(region), drawsPointer: false)
        let picture = try GrabbedPicture(capture)
        let place = try #require(ViewerPoint.Place(fractions: 0.5, 0.25))
        // The region is in the middle of the picture, at half its size.
        capture.showPoint(
            ViewerPoint(viewer: 1, name: PointingRig.viewer, place: place), in: PictureSize(width: 200, height: 100),
            content: PixelRectangle(x: 50, y: 0, width: 100, height: 100))
        try eventually("the dot", within: .seconds(20)) {
            _ = try capture.readEvents()
            return client.color(at: (200, 110)) == Self.color ? () : nil
        }
        #expect(try GrabbedPicture(capture).bytes == picture.bytes)
        withExtendedLifetime(screen) {}
    }

    @Test("nothing is shown above a screen locker, even if a lock doesn't pause")
    func locker() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let rig = try PointingRig(screen.name)
        rig.client.background(Self.background)
        rig.point(0.5, 0.5)
        try rig.wait(for: "the dot") { rig.color(at: 0.5, 0.5) == Self.color }
        let locker = rig.client.window(TestScreen.all, color: 0xFF_FFFF, isOverrideRedirect: true)
        try rig.wait(for: "the locker alone") {
            !rig.capture.overlay.isShown && rig.color(at: 0.5, 0.5) == 0xFF_FFFF
        }
        #expect(!rig.capture.isLocked)
        // All dots are new; each would raise the overlay.
        let end = now() + .milliseconds(200)
        try rig.wait(for: "the end of the lock") {
            rig.point(0.25, 0.5)
            #expect(rig.color(at: 0.25, 0.5) == 0xFF_FFFF)
            return now() >= end
        }
        rig.client.destroy(locker)
        try rig.wait(for: "another dot") {
            rig.point(0.75, 0.5)
            return rig.color(at: 0.75, 0.5) == Self.color
        }
        #expect(rig.color(at: 0.25, 0.5) == Self.background)
    }

    @Test("with hidden windows there is no overlay")
    func hidden() throws {
        let screen = try VirtualScreen(TestScreen.size)
        let client = try DisplayClient(screen.name)
        let capture = try ScreenCapture(display: screen.name, hidden: [.title("secret")], drawsPointer: false)
        let place = try #require(ViewerPoint.Place(fractions: 0.5, 0.5))
        capture.showPoint(
            ViewerPoint(viewer: 1, name: PointingRig.viewer, place: place), in: TestScreen.size, content: TestScreen.all
        )
        #expect(capture.nextCheck == .distantFuture && !capture.overlay.isShown)
        withExtendedLifetime(client) {}
    }

    @Test(
        "no picture shows a dot under window managers and compositors", .enabled(if: Desktop.isAvailable),
        arguments: Desktop.Kind.allCases)
    func composed(kind: Desktop.Kind) throws {
        let desktop = try Desktop(kind, size: TestScreen.size)
        let rig = try PointingRig(desktop.screen.name)
        let window = rig.client.window(PixelRectangle(x: 50, y: 50, width: 300, height: 200), color: Self.background)
        var seen = 0
        for step in 0..<60 {
            let x = 0.2 + Double(step) / 100
            rig.client.fill(PixelRectangle(x: 60, y: 60, width: 100, height: 150), color: UInt32(step), on: window)
            let end = now() + .milliseconds(30)
            try eventually("the dot at \(x)") {
                // Pages repeat it. A window manager that starts may cover the screen for a moment, like a locker.
                rig.point(x, 0.5)
                _ = try rig.capture.readEvents()
                _ = try rig.capture.fetchDamage()
                if try Self.hasDot(GrabbedPicture(rig.capture)) { seen += 1 }
                return now() >= end && rig.color(at: x, 0.5) == Self.color ? () : nil
            }
        }
        let end = now() + .milliseconds(500)
        rig.capture.showPoint(nil, in: TestScreen.size, content: TestScreen.all)
        try rig.wait(for: "the end of the dot") {
            if try Self.hasDot(GrabbedPicture(rig.capture)) { seen += 1 }
            return now() >= end && !rig.capture.overlay.isShown
        }
        #expect(seen == 0)
        #expect(rig.color(at: 0.5, 0.5) != Self.color)
    }

    /// Whether a picture has the colour of the dots in these rows. Nothing else in these tests has it.
    private static func hasDot(_ picture: GrabbedPicture, rows: Range<Int> = 140..<160) -> Bool {
        picture.bytes.withUnsafeBufferPointer { bytes in
            let row = 3 * TestScreen.size.width
            for index in stride(from: rows.lowerBound * row, to: rows.upperBound * row, by: 3) {
                let (red, green, blue) = (UInt32(bytes[index]), UInt32(bytes[index + 1]), UInt32(bytes[index + 2]))
                if red << 16 | green << 8 | blue == color { return true }
            }
            return false
        }
    }
}
