import CXCB
import CaptureEngine
import ColorConversion
import Glibc
import MediaTypes
import TestScene
import TestSupport
import Testing
import X11Capture

@Suite("X11 capture", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct ScreenCaptureTests {
    @Test("every pixel is as it was drawn, whichever way it is taken", arguments: GrabMethod.allCases)
    func exactPixels(method: GrabMethod) throws {
        for size in [PictureSize(width: 640, height: 480), PictureSize(width: 1279, height: 719)] {
            let screen = try VirtualScreen(size)
            let window = try SceneWindow(display: screen.name, kind: .patches)
            let capture = try ScreenCapture(display: screen.name, methods: [method], drawsPointer: false)
            #expect(capture.grabMethod == method)
            #expect(capture.size == size)
            var picture = try GrabbedPicture(capture)
            #expect(picture.bytes == ScenePicture(window.scene, tick: 0).bytes)
            // What damage tells is enough to follow.
            for tick in 1..<4 {
                try window.show(tick: tick)
                let area = try changes(capture)
                #expect(area.bounds != PixelRectangle(x: 0, y: 0, width: size.width, height: size.height))
                try picture.update(capture, area)
                #expect(picture.bytes == ScenePicture(window.scene, tick: tick).bytes)
            }
        }
    }

    @Test("a still screen has no changes, and one rectangle drawn is one rectangle reported")
    func damage() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let capture = try ScreenCapture(display: screen.name)
        #expect(capture.reportsDamage)
        _ = try capture.fullDamage()
        for _ in 0..<3 {
            #expect(try !capture.readEvents())
            #expect(!capture.mayHaveChanged)
            #expect(try capture.fetchDamage().isEmpty)
        }
        let client = try DisplayClient(screen.name)
        client.fill(PixelRectangle(x: 20, y: 30, width: 8, height: 6), color: 0xFF8000)
        #expect(try changes(capture).rectangles == [PixelRectangle(x: 20, y: 30, width: 8, height: 6)])
        #expect(try capture.fetchDamage().isEmpty)
    }

    @Test("a change that came with the answer to a question is known before anybody sleeps")
    func queuedEvents() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        let client = try DisplayClient(screen.name)
        _ = try capture.fullDamage()
        _ = try capture.readEvents()
        #expect(!capture.pollQueuedEvents())
        client.fill(PixelRectangle(x: 20, y: 30, width: 8, height: 6), color: 0xFF8000)
        // The first look waits for an answer, which the event comes before.
        _ = try capture.lookAtPointer(now: now())
        var watched = pollfd(fd: capture.fileDescriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&watched, 1, 0) == 0 && !capture.mayHaveChanged)
        #expect(capture.pollQueuedEvents())
        #expect(capture.mayHaveChanged && !capture.pollQueuedEvents())
    }

    @Test("a program that paints while a picture is taken doesn't tear it", arguments: [1920, 3840])
    func tornPicture(width: Int) throws {
        // More than the segment holds at first.
        let screen = try VirtualScreen(PictureSize(width: width, height: 1080))
        let whole = PixelRectangle(x: 0, y: 0, width: width, height: 1080)
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        let client = try DisplayClient(screen.name)
        _ = try capture.fullDamage()
        for rectangles in [
            // The whole screen, and two parts that are far from each other and taken in one go.
            [whole],
            [
                PixelRectangle(x: 0, y: 0, width: width, height: 200),
                PixelRectangle(x: 0, y: 800, width: 400, height: 280),
            ],
        ] {
            client.fill(whole, color: 0x0000FF)
            _ = try capture.fullDamage()
            let area = DamagedArea(rectangles, in: screen.size)
            // What the picture shows at the left of each row: what was handed out last counts.
            var rows = [UInt8?](repeating: nil, count: screen.size.height)
            var isComplete = false
            for look in 0..<2 {
                isComplete = try capture.grab(area) { pixels in
                    // Painted once, between two pieces.
                    if rows.allSatisfy({ $0 == nil }) { client.fill(whole, color: 0xFF0000) }
                    for row in pixels.rectangle.y..<pixels.rectangle.y + pixels.rectangle.height {
                        rows[row] = pixels.base.load(as: UInt8.self)
                    }
                }
                // The second time, the pixels are as the last look at the changes said.
                if !capture.hasPendingDamage { break }
                #expect(look == 0)
                #expect(try capture.fetchDamage().rectangles == [whole])
            }
            #expect(isComplete && Set(rows.compactMap(\.self)).count == 1)
            #expect(rows.count { $0 != nil } == rectangles.reduce(0) { $0 + $1.height })
        }
    }

    @Test("while programs paint, the changes and the pixels are taken at the same time")
    func disturbedPicture() throws {
        let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
        let whole = PixelRectangle(x: 0, y: 0, width: 640, height: 480)
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        let client = try DisplayClient(screen.name)
        _ = try capture.fullDamage()
        func blue(_ area: DamagedArea) throws -> Set<UInt8> {
            var seen: Set<UInt8> = []
            #expect(try capture.grab(area) { seen.insert($0.base.load(as: UInt8.self)) })
            return seen
        }
        client.fill(whole, color: 0x10)
        let first = try changes(capture)
        client.fill(whole, color: 0x20)
        #expect(try blue(first) == [0x20])
        #expect(capture.hasPendingDamage)
        let second = try capture.fetchDamage()
        #expect(second.rectangles == [whole])
        client.fill(whole, color: 0x30)
        #expect(try blue(second) == [0x20])
        #expect(!capture.hasPendingDamage)
        let third = try changes(capture)
        #expect(third.rectangles == [whole])
        #expect(try blue(third) == [0x30])
    }

    @Test(
        "without the Damage extension changes are found by comparing", arguments: [GrabMethod.shmFD, .getImage])
    func comparison(method: GrabMethod) throws {
        let screen = try VirtualScreen(PictureSize(width: 321, height: 241), options: ["-extension", "DAMAGE"])
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let capture = try ScreenCapture(display: screen.name, methods: [method], drawsPointer: false)
        #expect(!capture.reportsDamage)
        var picture = try GrabbedPicture(capture)
        #expect(try capture.fetchDamage().isEmpty)
        try window.show(tick: 1)
        let area = try capture.fetchDamage()
        #expect(!area.isEmpty)
        #expect(area.bounds.height < 241)
        try picture.update(capture, area)
        #expect(picture.bytes == ScenePicture(window.scene, tick: 1).bytes)
    }

    @Test("a System V segment is marked for removal while it is used, and gone afterwards")
    func systemVSegment() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        defer { screen.close() }
        func capturedSegments() throws -> Set<UInt64> {
            let capture = try ScreenCapture(display: screen.name, methods: [.shmSegment])
            defer { withExtendedLifetime(capture) {} }
            _ = try GrabbedPicture(capture)
            // Nobody else shares memory with this server.
            let ours = Set(try mappedInodes(of: screen.processID, named: "/SYSV"))
            let modes = try systemVSegments().filter { ours.contains($0.identifier) }.map(\.mode)
            #expect(ours.count == 1 && modes.count == 1)
            // SHM_DEST
            #expect(modes.allSatisfy { $0 & 0o1000 != 0 })
            return ours
        }
        let ours = try capturedSegments()
        try eventually("the segment's end") { try systemVSegments().allSatisfy { !ours.contains($0.identifier) } }
    }

    @Test("a screen of depth 16 is taken with its own colours")
    func depth16() throws {
        let screen = try VirtualScreen(PictureSize(width: 639, height: 480), depth: 16)
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let capture = try ScreenCapture(display: screen.name, drawsPointer: false)
        #expect(capture.pixelFormat == .rgb565)
        let picture = try GrabbedPicture(capture)
        let expected = ScenePicture(window.scene, tick: 0)
        let furthest = zip(picture.bytes, expected.bytes).map { abs(Int($0) - Int($1)) }.max()
        #expect(try #require(furthest) <= 8)
    }

    @Test("a depth that we don't read is refused by name")
    func depth8() throws {
        let screen = try VirtualScreen(PictureSize(width: 64, height: 64), depth: 8)
        let error = #expect(throws: X11CaptureError.self) { try ScreenCapture(display: screen.name) }
        #expect(error?.description.contains("depth 8") == true)
    }

    @Test("the pointer is drawn into the picture, and what it covered comes back when it moves")
    func pointer() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let client = try DisplayClient(screen.name)
        client.fill(PixelRectangle(x: 0, y: 0, width: 320, height: 240), color: 0x0000FF)
        client.showPointer(at: (100, 100))
        let capture = try ScreenCapture(display: screen.name)
        var picture = try GrabbedPicture(capture)
        let blue = SceneColor(0, 0, 255)
        #expect(isPointer(in: picture, around: (100, 100), on: blue))
        client.showPointer(at: (200, 151))
        let area = try capture.fetchDamage()
        #expect(!area.isEmpty && area.bounds.width < 200)
        try picture.update(capture, area)
        #expect(!isPointer(in: picture, around: (100, 100), on: blue))
        #expect(isPointer(in: picture, around: (200, 151), on: blue))
        #expect(try capture.fetchDamage().isEmpty)
        // At the edge of the screen the part of it that is inside shows, just as it does elsewhere.
        let middle = picture
        client.showPointer(at: (314, 230))
        try picture.update(capture, capture.fetchDamage())
        #expect(!isPointer(in: picture, around: (200, 151), on: blue))
        #expect(isPointer(in: picture, around: (308, 228), on: blue))
        for y in -10..<10 {
            for x in -10..<6 { #expect(picture.color(314 + x, 230 + y) == middle.color(200 + x, 151 + y)) }
        }
        // And of an arrow whose tip is in the last corner, no more than that.
        client.showPointer(at: (319, 239))
        try picture.update(capture, capture.fetchDamage())
        #expect(picture.color(310, 230) == blue)
    }

    @Test("a display that ends is an error that names it")
    func displayGone() throws {
        // For good: it is the whole process's, and others count on it.
        signal(SIGPIPE, SIG_IGN)
        let screen = try VirtualScreen(PictureSize(width: 64, height: 64))
        let capture = try ScreenCapture(display: screen.name)
        screen.close()
        let error = #expect(throws: X11CaptureError.self) {
            try x11 { try eventually("an error") { try capture.fetchDamage().isEmpty && capture.readEvents() } }
        }
        #expect(error == .displayGone(display: screen.name))
    }

    @Test("a display that isn't there is an error that names it")
    func noDisplay() {
        #expect(throws: X11CaptureError.cannotOpen(display: ":9999")) { try ScreenCapture(display: ":9999") }
        #expect(throws: X11CaptureError.self) { try ScreenCapture(display: "nonsense") }
    }

    /// What has changed, once the server has told.
    private func changes(_ capture: ScreenCapture) throws -> DamagedArea {
        try eventually("damage") {
            _ = try capture.readEvents()
            let area = try capture.fetchDamage()
            return area.isEmpty ? nil : area
        }
    }

    private func isPointer(in picture: GrabbedPicture, around place: (x: Int, y: Int), on color: SceneColor) -> Bool {
        for y in place.y - 12..<place.y + 12 {
            for x in place.x - 12..<place.x + 12 where picture.color(x, y) != color { return true }
        }
        return false
    }
}

/// The System V segments of all processes (proc(5), /proc/sysvipc/shm).
private func systemVSegments() throws -> [(identifier: UInt64, mode: Int)] {
    let lines = String(decoding: try fileBytes("/proc/sysvipc/shm"), as: UTF8.self).split(separator: "\n").dropFirst()
    return lines.compactMap { line in
        // key shmid perms ...
        let fields = line.split(separator: " ")
        guard fields.count > 2, let identifier = UInt64(fields[1]), let mode = Int(fields[2], radix: 8) else {
            return nil
        }
        return (identifier, mode)
    }
}
