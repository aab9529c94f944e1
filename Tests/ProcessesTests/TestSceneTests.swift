import MediaTypes
import TestScene
import TestSupport
import Testing

@Suite("The test scene")
struct TestSceneTests {
    @Test("the counter is read back from a picture of any size", arguments: [(320, 240), (640, 480), (1921, 1081)])
    func counter(width: Int, height: Int) {
        let scene = PatchScene(width: width, height: height)
        for tick in [0, 1, 0x5555, 0xAAAA, 65535] {
            let picture = ScenePicture(scene, tick: tick)
            #expect(PatchScene.counterValue(in: picture) == tick)
        }
        #expect(PatchScene.counterValue(in: ScenePicture(scene, tick: 65537)) == 1)
    }

    @Test("the counter and the colours survive scaling", arguments: [(1280, 720), (400, 300), (1000, 333)])
    func scaled(width: Int, height: Int) throws {
        let original = ScenePicture(PatchScene(width: 640, height: 480), tick: 12345)
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let index = y * 480 / height * original.rowBytes + x * 640 / width * 3
                bytes += original.bytes[index..<index + 3] + [255]
            }
        }
        #expect(
            PatchScene.counterValue(inRGB: bytes, width: width, height: height, bytesPerPixel: 4) == 12345)
        let picture = try #require(ScenePicture(bytes: bytes, width: width, height: height, bytesPerPixel: 4))
        for (index, patch) in PatchScene.patches.enumerated() {
            #expect(PatchScene.color(ofPatch: index, in: picture) == patch.color)
        }
    }

    @Test("no counter is read where there is none, or where bytes are missing")
    func noCounter() {
        #expect(PatchScene.counterValue(in: ScenePicture(width: 640, height: 480)) == nil)
        #expect(PatchScene.counterValue(inRGB: [1, 2, 3], width: 640, height: 480) == nil)
        #expect(PatchScene.counterValue(inRGB: [], width: 0, height: 0) == nil)
        #expect(PatchScene.counterValue(inRGB: [], width: .max, height: .max) == nil)
    }

    @Test("patches and cells are as large as promised from 480x320 on", arguments: [(480, 320), (1280, 720)])
    func sizes(width: Int, height: Int) {
        let scene = PatchScene(width: width, height: height)
        for index in PatchScene.patches.indices {
            let patch = scene.rectangle(ofPatch: index)
            #expect(patch.width >= 64 && patch.height >= 64)
        }
        for bit in 0..<PatchScene.counterBits {
            let cell = scene.cells(ofBit: bit).lower
            #expect(cell.width >= 16 && cell.height >= 16)
        }
    }

    @Test(
        "painting tick after tick gives the same picture as painting it at once, and tells all that changed",
        arguments: SceneKind.allCases)
    func incremental(kind: SceneKind) {
        let scene = kind.scene(width: 640, height: 360, ticksPerSecond: 10)
        var picture = ScenePicture(scene, tick: 0)
        for tick in [1, 2, 3, 17, 40, 41, 150, 260, 700] {
            let before = picture
            let previous = tick == 1 ? 0 : [1, 2, 3, 17, 40, 41, 150, 260, 700].last { $0 < tick }
            let changed = scene.paint(tick: tick, after: previous, with: &picture)
            #expect(picture.bytes == ScenePicture(scene, tick: tick).bytes, "tick \(tick)")
            var copied = before
            for area in changed { copied.copy(area, from: picture) }
            #expect(copied.bytes == picture.bytes, "tick \(tick)")
        }
    }

    @Test("FFmpeg grabs the counter and the colours that a window shows", .enabled(if: isComplete))
    func onScreen() throws {
        let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        for tick in [0, 1, 4660] {
            if tick > 0 { try window.show(tick: tick) }
            let grabbed = try FFmpeg.grab(display: screen.name, width: 640, height: 480)
            let picture = try #require(
                ScenePicture(bytes: grabbed.bytes, width: 640, height: 480), "\(grabbed.messages)")
            #expect(PatchScene.counterValue(in: picture) == tick)
            for (index, patch) in PatchScene.patches.enumerated() {
                #expect(PatchScene.color(ofPatch: index, in: picture) == patch.color)
            }
            #expect(picture.bytes == ScenePicture(window.scene, tick: tick).bytes)
        }
        screen.close()
        #expect(throws: SceneError.connectionLost) { try window.show(tick: 5) }
    }

    @Test(
        "a scene to measure on is on the screen, pixel by pixel, what it is in memory",
        .enabled(if: isComplete), arguments: [SceneKind.typing, .scroll, .drag, .video, .full])
    func workOnScreen(kind: SceneKind) throws {
        let screen = try VirtualScreen(PictureSize(width: 400, height: 320))
        let window = try SceneWindow(display: screen.name, kind: kind)
        for tick in [1, 30] {
            try window.show(tick: tick)
            let grabbed = try FFmpeg.grab(display: screen.name, width: 400, height: 320)
            #expect(grabbed.bytes == ScenePicture(window.scene, tick: tick).bytes, "tick \(tick) \(grabbed.messages)")
        }
        screen.close()
    }

    @Test("a window repaints what was uncovered, and nothing beside it", .enabled(if: VirtualScreen.isAvailable))
    func uncovered() throws {
        let size = PictureSize(width: 400, height: 320)
        let screen = try VirtualScreen(size)
        let window = try SceneWindow(display: screen.name, kind: .idle)
        // The server has told of the whole window when it appeared.
        try window.settle()
        let client = try DisplayClient(screen.name)
        // What another program draws into the window stays until the window is repainted there.
        let foreign = PixelRectangle(x: 200, y: 200, width: 20, height: 20)
        client.fill(foreign, color: 0x12_3456, on: client.topWindow(at: (200, 200)))
        let before = try #require(client.pixels(of: size))
        let cover = client.window(PixelRectangle(x: 40, y: 50, width: 60, height: 70), color: 0xFF_0000)
        #expect(client.color(at: (60, 60)) == 0xFF_0000)
        client.destroy(cover)
        try eventually(
            "the scene where the other window was",
            holds: {
                try window.settle()
                return client.pixels(of: size) == before
            })
        #expect(client.color(at: (210, 210)) == 0x12_3456)
        screen.close()
    }

    @Test("a scene to measure on counts its changes, and what stands still counts none")
    func workCounter() {
        for (motion, tick, count) in [
            (WorkScene.Motion.scroll, 0x5555, 0x5555), (.typing, 31, 10), (.drag, 70_000, 4464), (.idle, 9, 0),
            (.pointer, 9, 0),
        ] {
            let scene = WorkScene(motion, width: 640, height: 360)
            #expect(SceneCounter.value(in: ScenePicture(scene, tick: tick)) == count)
        }
        #expect(SceneCounter.value(in: ScenePicture(width: 640, height: 360)) == nil)
        #expect(SceneCounter.value(in: ScenePicture(width: 4, height: 4)) == nil)
    }

    @Test("the pointer moves in its own scene, rests in the others to measure on, and is left alone elsewhere")
    func pointer() {
        let moving = SceneKind.pointer.scene(width: 640, height: 360, ticksPerSecond: 60)
        let resting = SceneKind.scroll.scene(width: 640, height: 360, ticksPerSecond: 30)
        let places = (0..<180).compactMap { moving.pointer(at: $0) }
        #expect(Set(places.map(\.x)).count > 60)
        #expect(places.allSatisfy { (0..<640).contains($0.x) && (0..<360).contains($0.y) })
        #expect(resting.pointer(at: 5).map { [$0.x, $0.y] } == resting.pointer(at: 6).map { [$0.x, $0.y] })
        #expect(SceneKind.desktop.scene(width: 640, height: 360, ticksPerSecond: 30).pointer(at: 3) == nil)
    }

    @Test("a scene to measure on says what words it shows and where")
    func facts() {
        let scroll = WorkScene(.scroll, width: 1280, height: 720)
        #expect(scroll.text(at: 0) != scroll.text(at: 60))
        #expect(scroll.text(at: 60).contains { $0.contains("the") })
        #expect(scroll.facts.contains("counter 0 0 256 32"))
        #expect(WorkScene(.typing, width: 1280, height: 720).facts.contains("ticks-per-count 3"))
        #expect(WorkScene(.full, width: 640, height: 360).text(at: 0).isEmpty)
    }

    @Test("scenes of any size are drawn", arguments: [(321, 327), (8, 8)])
    func anySize(width: Int, height: Int) {
        for kind in SceneKind.allCases {
            let scene = kind.scene(width: width, height: height, ticksPerSecond: 30)
            #expect(ScenePicture(scene, tick: 7).bytes.count == width * height * 3)
        }
    }

    @Test("a display that isn't there is an error by name")
    func noDisplay() {
        #expect(throws: SceneError.noDisplay(":no")) { try SceneWindow(display: ":no", kind: .desktop) }
    }

    private static var isComplete: Bool { VirtualScreen.isAvailable && FFmpeg.isAvailable }
}

extension ScenePicture {
    fileprivate mutating func copy(_ area: SceneRectangle, from other: ScenePicture) {
        let inside = area.intersection(SceneRectangle(0, 0, width, height))
        for y in inside.y..<inside.bottom {
            for x in inside.x..<inside.right {
                let index = y * other.rowBytes + x * 3
                fill(
                    SceneRectangle(x, y, 1, 1),
                    SceneColor(other.bytes[index], other.bytes[index + 1], other.bytes[index + 2]))
            }
        }
    }
}
