import CaptureEngine
import MediaTypes
import TestScene
import TestSupport
import Testing
import X11Capture

/// Screens whose size changes.
extension ScreenCaptureTests {
    @Test("another size of the screen is told, and then taken")
    func resize() throws {
        let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        _ = try GrabbedPicture(capture)
        let client = try DisplayClient(screen.name)
        try screen.resize(to: PictureSize(width: 500, height: 301))
        try eventually("the new size") { try capture.readEvents() }
        #expect(capture.size == PictureSize(width: 500, height: 301))
        client.fill(PixelRectangle(x: 0, y: 0, width: 500, height: 301), color: 0x102030)
        let picture = try GrabbedPicture(capture)
        #expect(picture.color(499, 300) == SceneColor(0x10, 0x20, 0x30))
    }

    @Test("pixels that are refused while the screen is smaller for a moment are taken later", arguments: [true, false])
    func refusedForAMoment(usesDamage: Bool) throws {
        let size = PictureSize(width: 640, height: 480)
        let screen = try VirtualScreen(size)
        let client = try DisplayClient(screen.name)
        let capture = try ScreenCapture(display: screen.name, usesDamage: usesDamage, drawsPointer: false)
        _ = try GrabbedPicture(capture)
        // More often than refusals are endured in a row.
        for step in 1...6 {
            let area = DamagedArea([PixelRectangle(x: 0, y: 0, width: 640, height: 480)], in: size)
            try screen.resize(to: PictureSize(width: 320, height: 200))
            // What was compared is there already; the next comparison is refused.
            #expect(try capture.grab(area) { _ in } != usesDamage)
            if !usesDamage { #expect(try capture.fetchDamage().isEmpty) }
            #expect(capture.needsFullGrab && capture.mayHaveChanged)
            // Only `readEvents` gives it another size.
            #expect(capture.size == size)
            try screen.resize(to: size)
            client.fill(PixelRectangle(x: 0, y: 0, width: 640, height: 480), color: 0x101010 * UInt32(step))
            #expect(try !capture.readEvents())
            let all = try capture.fetchDamage()
            #expect(all.bounds == PixelRectangle(x: 0, y: 0, width: 640, height: 480))
            #expect(!capture.needsFullGrab)
            var seen: [UInt32] = []
            #expect(try capture.grab(all) { seen.append($0.base.loadUnaligned(as: UInt32.self) & 0xFFFFFF) })
            #expect(seen.allSatisfy { $0 == 0x101010 * UInt32(step) } && !seen.isEmpty)
        }
    }

    @Test("a screen that keeps changing its size is captured throughout", arguments: [true, false])
    func resizeStorm(usesDamage: Bool) async throws {
        let sizes = [(640, 480), (320, 200), (638, 478), (64, 64)].map { PictureSize(width: $0.0, height: $0.1) }
        let screen = try VirtualScreen(sizes[0])
        async let resizing: Void = { for step in 0...200 { try screen.resize(to: sizes[step % sizes.count]) } }()
        let capture = try ScreenCapture(display: screen.name, usesDamage: usesDamage)
        var pictures = 0
        for _ in 0..<400 {
            _ = try capture.readEvents()
            let size = capture.size
            let area = pictures % 2 == 0 ? try capture.fullDamage() : try capture.fetchDamage()
            #expect(capture.size == size)
            if try capture.grab(area, { _ in }) { pictures += 1 }
        }
        try await resizing
        #expect(pictures > 0)
        try eventually("the last size") {
            _ = try capture.readEvents()
            return capture.size == sizes[0] ? () : nil
        }
        try DisplayClient(screen.name).fill(PixelRectangle(x: 0, y: 0, width: 640, height: 480), color: 0x102030)
        #expect(try GrabbedPicture(capture).color(639, 479) == SceneColor(0x10, 0x20, 0x30))
    }
}
