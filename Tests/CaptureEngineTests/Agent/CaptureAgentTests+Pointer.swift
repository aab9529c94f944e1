import CaptureLink
import Glibc
import MediaTypes
import TestScene
import TestSupport
import Testing
import X11Capture

@testable import CaptureEngine

/// The pointer beside the pictures.
extension CaptureAgentTests {
    @Test("a pointer that rests is told anew when the pictures get another size, as large as it is in them")
    func pointerInOtherSize() throws {
        let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
        let client = try DisplayClient(screen.name)
        client.showPointer(at: (300, 200))
        let shape = try #require(
            try ScreenCapture(display: screen.name).takePointerShape(in: PictureSize(width: 640, height: 480)))
        let (capture, host) = try RunningCapture.pair(display: screen.name) {
            $0.scale = .within(PictureSize(width: 320, height: 240))
        }
        try host.sendHello()
        try host.send(.pointerMode(.apart))
        func position() -> PointerPosition? {
            host.messages.lazy.compactMap { if case .pointerPosition(let position) = $0.body { position } else { nil } }
                .last
        }
        func image() -> CursorImage? {
            host.messages.lazy.compactMap { if case .pointerShape(let image) = $0.body { image } else { nil } }.last
        }
        try host.wait(for: "its place") { position() == PointerPosition(x: 150, y: 100, isVisible: true) }
        try host.wait(for: "its shape") { image() != nil }
        let half = try #require(image())
        #expect(half.size == PictureSize(width: (shape.size.width + 1) / 2, height: (shape.size.height + 1) / 2))
        #expect(half.hotX == shape.hotX * half.size.width / shape.size.width)
        #expect(half.hotY == shape.hotY * half.size.height / shape.size.height)
        #expect(half.pixels.count == half.size.width * half.size.height)
        try screen.resize(to: PictureSize(width: 400, height: 300))
        // 320 by 240 is 4/5 of that.
        try host.wait(for: "its place in the new size") {
            position() == PointerPosition(x: 240, y: 160, isVisible: true)
        }
        try host.wait(for: "its larger shape") {
            image()?.size
                == PictureSize(width: (shape.size.width * 4 + 2) / 5, height: (shape.size.height * 4 + 2) / 5)
        }
        capture.stop()
    }

    @Test("while the pointer is apart, the host hears where it goes, 30 times a second, up to where it stops")
    func pointerApart() throws {
        let screen = try VirtualScreen(PictureSize(width: 640, height: 480))
        let window = try SceneWindow(display: screen.name, kind: .pointer)
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.sendHello()
        try host.send(.pointerMode(.apart))
        func positions() -> [PointerPosition] {
            host.messages.compactMap { if case .pointerPosition(let position) = $0.body { position } else { nil } }
        }
        try host.wait(for: "the first place and a shape") {
            !positions().isEmpty && host.messages.contains { $0.header.kind == .pointerShape }
        }
        // Motion and rest in turns: each time the last place arrives.
        var fewest = Int.max
        for turn in 1...4 {
            let (count, begin) = (positions().count, now())
            var steps = 0
            // On, where the machine is busy, until three places were told on the way.
            try eventually(
                "three places of turn \(turn)",
                holds: {
                    steps += 1
                    try window.show(tick: turn * 30 + steps)
                    try host.read(for: .milliseconds(10))
                    return steps >= 20 && positions().count - count >= 3
                })
            fewest = min(fewest, steps)
            let angle = Double(turn * 30 + steps) * 2 * Double.pi / 180
            let last = PointerPosition(
                x: 320 + Int(640 * 0.3 * cos(angle)), y: 240 + Int(480 * 0.3 * sin(2 * angle)), isVisible: true)
            try host.wait(for: "the last place of turn \(turn)") { positions().last == last }
            let most = Int((now() - begin).milliseconds / 33) + 3
            #expect(positions().count - count <= most)
            try host.read(for: .milliseconds(Int64(turn) * 100))
        }
        #expect(fewest == 20, "20 steps are 300 ms and more: three places where nothing held up capture")
        capture.stop()
        #expect(try eventually("the end") { try capture.end?.get() } == .stopped)
    }
}
