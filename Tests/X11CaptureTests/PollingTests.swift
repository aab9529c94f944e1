import CaptureEngine
import CaptureLink
import Glibc
import MediaTypes
import TestScene
import TestSupport
import Testing

@testable import X11Capture

@Suite("polling and bands", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct PollingTests {
    @Test("every single pixel that changes is found, whatever its colour was", arguments: [24, 16])
    func everyPixel(depth: Int) throws {
        let size = PictureSize(width: 201, height: 133)
        let screen = try VirtualScreen(size, depth: depth)
        let client = try DisplayClient(screen.name)
        let capture = try ScreenCapture(display: screen.name, usesDamage: false, drawsPointer: false)
        var picture = try GrabbedPicture(capture)
        var random = SeededRandom(seed: 3)
        for step in 0..<150 {
            // The corners as well.
            let x = step == 0 ? 200 : Int.random(in: 0...200, using: &random)
            let y = step == 0 ? 132 : Int.random(in: 0...132, using: &random)
            client.fill(
                PixelRectangle(x: x, y: y, width: 1, height: 1),
                color: depth == 24 ? UInt32(step + 1) : UInt32(step % 60 + 1) << 5)
            let area = try capture.fetchDamage()
            #expect(area.rectangles.count == 1)
            #expect(
                area.rectangles.contains { !$0.intersection(PixelRectangle(x: x, y: y, width: 1, height: 1)).isEmpty })
            #expect(area.bounds.width <= 64 && area.bounds.height <= 64)
            try picture.update(capture, area)
        }
        #expect(try picture.bytes == GrabbedPicture(capture).bytes)
    }

    @Test(
        "looks become rarer while nothing changes, down to two a second, and are back at once, also where the pointer moves"
    )
    func slowing() throws {
        let screen = try VirtualScreen(PictureSize(width: 128, height: 96))
        let client = try DisplayClient(screen.name)
        let capture = try ScreenCapture(display: screen.name, usesDamage: false, drawsPointer: false)
        let period = Interval.milliseconds(33)
        #expect(capture.pollDue(period: period) == .zero)
        var gaps: [Interval] = []
        for _ in 0..<12 {
            _ = try capture.fetchDamage()
            // From one look to the next, whatever the time is now.
            gaps.append(capture.pollDue(period: period) - capture.pollDue(period: .zero))
        }
        #expect(gaps[0] == period)
        #expect(gaps.last == .milliseconds(500))
        client.fill(PixelRectangle(x: 0, y: 0, width: 1, height: 1), color: 0x112233)
        _ = try capture.fetchDamage()
        #expect(capture.pollDue(period: period) - capture.pollDue(period: .zero) == period)
        // A drawn pointer that moves is in no tile: at the pace of pictures all the same.
        client.showPointer(at: (20, 20))
        let pointing = try ScreenCapture(display: screen.name, usesDamage: false)
        _ = try pointing.lookAtPointer(now: now())
        for step in 0..<16 {
            if step >= 12 {
                client.warp(to: (20 + step, 20))
                try eventually("its place") {
                    _ = try pointing.readEvents()
                    return try pointing.lookAtPointer(now: now())
                        == PointerPosition(x: 20 + step, y: 20, isVisible: true)
                }
            }
            let gap = pointing.pollDue(period: period) - pointing.pollDue(period: .zero)
            if step == 11 { #expect(gap == .milliseconds(500)) }
            if step >= 12 { #expect(gap == period) }
            #expect(try pointing.fetchDamage().isEmpty == (1..<12).contains(step))
        }
        let reporting = try ScreenCapture(display: screen.name)
        #expect(reporting.pollDue(period: period) == .distantFuture)
    }

    @Test("a picture shows what was compared, even if something is painted before its pixels are taken")
    func paintedAfterComparison() throws {
        let size = PictureSize(width: 1280, height: 720)
        let screen = try VirtualScreen(size, options: ["-extension", "DAMAGE"])
        let client = try DisplayClient(screen.name)
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        _ = try capture.fullDamage()
        client.fill(PixelRectangle(x: 0, y: 0, width: 1280, height: 192), color: 0x0000FF)
        let area = try capture.fetchDamage()
        client.fill(PixelRectangle(x: 0, y: 0, width: 1280, height: 720), color: 0x00FF00)
        var colors: Set<UInt32> = []
        #expect(try capture.grab(area) { colors.insert($0.base.load(as: UInt32.self) & 0xFFFFFF) })
        #expect(colors == [0x0000FF])
        #expect(try !capture.fetchDamage().isEmpty)
    }

    @Test("bands give the same pixels as one whole grab", arguments: [2 << 20, 64 << 10, 24 << 10])
    func bands(segmentBytes: Int) throws {
        let size = PictureSize(width: 1279, height: 719)
        let screen = try VirtualScreen(size)
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let connection = try X11Connection(display: screen.name)
        let expected = ScenePicture(window.scene, tick: 0).bytes
        let rectangles = [
            PixelRectangle(x: 0, y: 0, width: 1279, height: 401), PixelRectangle(x: 0, y: 401, width: 700, height: 318),
            PixelRectangle(x: 700, y: 401, width: 579, height: 318),
        ]
        let all = PixelRectangle(x: 0, y: 0, width: 1279, height: 719)
        for method in GrabMethod.allCases {
            let grabber = try ScreenGrabber(
                connection, methods: [method], segmentBytes: segmentBytes,
                maxBytes: segmentBytes)
            let place = CapturePlace.screen(connection.root, area: all, screen: size)
            for _ in 0..<2 {
                var bytes = [UInt8](repeating: 0, count: 1279 * 719 * 3)
                var rows: [Int] = [0, 0, 0]
                try grabber.grab(rectangles, of: place, connection.pixels) { pixels in
                    let whole = pixels.rectangle
                    if let index = rectangles.firstIndex(where: { $0.intersection(whole) == whole }) {
                        #expect((whole.y - rectangles[index].y) % 2 == 0)
                        rows[index] += whole.height
                    }
                    copy(pixels, into: &bytes, width: 1279)
                }
                #expect(rows == [401, 318, 318])
                #expect(bytes == expected)
            }
        }
    }

    @Test(
        "what sticks out of the screen is black on every side, in every way of taking it",
        arguments: GrabMethod.allCases)
    func outside(method: GrabMethod) throws {
        let size = PictureSize(width: 101, height: 67)
        let screen = try VirtualScreen(size)
        let client = try DisplayClient(screen.name)
        client.fill(PixelRectangle(x: 0, y: 0, width: 101, height: 67), color: 0xFFFFFF)
        let connection = try X11Connection(display: screen.name)
        let grabber = try ScreenGrabber(
            connection, methods: [method], segmentBytes: 16 << 10,
            maxBytes: 16 << 10)
        for (x, y) in [(-20, -10), (0, 0), (15, 9), (-300, 5), (5, -300)] {
            let area = PixelRectangle(x: x, y: y, width: 140, height: 90)
            var bytes = [UInt8](repeating: 7, count: 140 * 90 * 3)
            try grabber.grab(
                [PixelRectangle(x: 0, y: 0, width: 140, height: 90)],
                of: .screen(connection.root, area: area, screen: size), connection.pixels
            ) { copy($0, into: &bytes, width: 140) }
            for row in 0..<90 {
                for column in 0..<140 {
                    let isInside = (0..<101).contains(column + x) && (0..<67).contains(row + y)
                    if bytes[(row * 140 + column) * 3] != (isInside ? 255 : 0) {
                        Issue.record("(\(column), \(row)) of an area at (\(x), \(y))")
                        return
                    }
                }
            }
        }
    }

    private func copy(_ pixels: GrabbedPixels, into bytes: inout [UInt8], width: Int) {
        for row in 0..<pixels.rectangle.height {
            for column in 0..<pixels.rectangle.width {
                let source = pixels.base + row * pixels.stride + column * 4
                let target = ((pixels.rectangle.y + row) * width + pixels.rectangle.x + column) * 3
                for part in 0..<3 { bytes[target + part] = source.load(fromByteOffset: 2 - part, as: UInt8.self) }
            }
        }
    }
}

@Suite("locked screen", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct LockTests {
    @Test("a screen saver, and xscreensaver's note, are a locked screen where that is watched")
    func locked() throws {
        let screen = try VirtualScreen(PictureSize(width: 128, height: 96))
        let client = try DisplayClient(screen.name)
        let capture = try ScreenCapture(display: screen.name, watchesLock: true)
        let blind = try ScreenCapture(display: screen.name)
        #expect(!capture.isLocked)
        client.saveScreen(true)
        try eventually("the saver") { try isLocked(capture) }
        #expect(try !isLocked(blind))
        // Who comes later is told as well.
        #expect(try ScreenCapture(display: screen.name, watchesLock: true).isLocked)
        client.saveScreen(false)
        try eventually("its end") { try !isLocked(capture) }
        client.numbers(client.root, "_SCREENSAVER_STATUS", [client.atom("LOCK"), 1_700_000_000, 0])
        try eventually("the note") { try isLocked(capture) }
        client.numbers(client.root, "_SCREENSAVER_STATUS", [0, 1_700_000_000, 0])
        try eventually("its end") { try !isLocked(capture) }
    }

    private func isLocked(_ capture: ScreenCapture) throws -> Bool {
        _ = try capture.readEvents()
        return capture.isLocked
    }
}
