import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import TestScene
import TestSupport
import Testing

@testable import CaptureEngine

@Suite("scheduled key frames", .enabled(if: VirtualScreen.isAvailable), .serialized)
struct ScheduledKeyFramesTests {
    @Test(
        "every so many frames, one is a key frame, also for a legacy receiver; others count as well",
        arguments: [false, true])
    func byFrames(isLegacy: Bool) throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let (capture, host) = try RunningCapture.pair(display: screen.name) {
            $0.keyFrames = .frames(4)
            $0.isLegacy = isLegacy
            // The number of frames doesn't depend on what is refined.
            $0.qp = 20
        }
        if !isLegacy { try host.sendHello() }
        try host.wait(for: "the first picture") { host.counter == 0 }
        for tick in 1...9 {
            try window.show(tick: tick)
            try host.wait(for: "tick \(tick)") { host.counter == tick }
        }
        func keyFrames() -> [Int] { host.units.indices.filter { host.units[$0].frame.isRandomAccess } }
        let first = keyFrames()
        #expect(first.count >= 3 && first == (0..<first.count).map { $0 * 4 })
        guard !isLegacy else { return capture.stop() }
        try host.send(.requestKeyFrame)
        try host.wait(for: "the one that was requested") { keyFrames().count == first.count + 1 }
        let requested = try #require(keyFrames().last)
        for tick in 10...15 {
            try window.show(tick: tick)
            try host.wait(for: "tick \(tick)") { host.counter == tick }
        }
        #expect(keyFrames().dropFirst(first.count + 1).first == requested + 4)
        capture.stop()
    }

    @Test("a still screen gets one each time the interval has passed, and nothing else")
    func byTime() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let (capture, host) = try RunningCapture.pair(display: screen.name) {
            $0.keyFrames = .time(.milliseconds(200))
            $0.qp = 20
        }
        try host.sendHello()
        try host.wait(for: "five key frames") { host.units.count { $0.frame.isRandomAccess } == 5 }
        #expect(host.units.allSatisfy { $0.frame.isRandomAccess })
        let times = host.units.compactMap(\.frame.captureTime)
        #expect(times.count == 5)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(200) })
        // Nobody watches, so there is nobody to send one to.
        try host.send(.unwatched)
        try host.waitForSilence(of: .milliseconds(600))
        capture.stop()
    }

    @Test("without an interval, a moving screen has one key frame")
    func none() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let window = try SceneWindow(display: screen.name, kind: .patches)
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        try host.wait(for: "the first picture") { host.counter == 0 }
        for tick in 1...12 {
            try window.show(tick: tick)
            try host.wait(for: "tick \(tick)") { host.counter == tick }
        }
        #expect(host.units.count { $0.frame.isRandomAccess } == 1)
        capture.stop()
    }

    @Test("one that is due waits for its turn at the frame rate, unlike one that is requested")
    func paced() throws {
        let paint = Paint()
        let (capture, host) = try painted(paint) {
            $0.framesPerSecond = 2
            $0.keyFrames = .frames(2)
        }
        try host.wait(for: "a picture") { host.count >= 1 }
        for shade: UInt8 in [50, 100, 150, 200] {
            paint.show(shade)
            let luma = 16 + Int(shade) * 219 / 255
            try host.wait(for: "shade \(shade)") { host.picture.map { abs(Int($0.bytes[0]) - luma) <= 3 } == true }
        }
        let times = host.units.filter(\.frame.isRandomAccess).compactMap(\.frame.captureTime)
        #expect(times.count >= 2)
        // Two periods of 500 ms, less the 3 % that may be made up for.
        #expect(zip(times.dropFirst(), times.dropFirst(2)).allSatisfy { $1 - $0 >= .milliseconds(900) })
        capture.stop()
    }
}

@Suite("pictures of an exact size")
struct ExactSizeTests {
    private static let white: UInt8 = 235
    private static let black: UInt8 = 16

    @Test(
        "what is shared is made as large as it fits, with black bars beside it",
        arguments: [
            // As large, with bars; smaller with bars; larger with bars; larger without; of odd sides.
            ((64, 48), (96, 48), PixelRectangle(x: 16, y: 0, width: 64, height: 48)),
            ((128, 96), (96, 96), PixelRectangle(x: 0, y: 12, width: 96, height: 72)),
            ((64, 48), (256, 96), PixelRectangle(x: 64, y: 0, width: 128, height: 96)),
            ((64, 48), (160, 120), PixelRectangle(x: 0, y: 0, width: 160, height: 120)),
            ((65, 49), (128, 120), PixelRectangle(x: 0, y: 12, width: 128, height: 96)),
        ])
    func bars(screen: (Int, Int), exact: (Int, Int), content: PixelRectangle) throws {
        let size = PictureSize(width: exact.0, height: exact.1)
        let shared = PictureSize(width: screen.0, height: screen.1)
        #expect(PictureScale.exactly(size).content(of: shared) == content)
        let paint = Paint()
        let (capture, host) = try painted(paint, shared) { $0.scale = .exactly(size) }
        try host.sendHello()
        paint.show(255)
        func isRight(_ inside: UInt8) -> Bool {
            guard let picture = host.picture, picture.size == size else { return false }
            return (0..<size.width * size.height).allSatisfy { index in
                let (y, x) = index.quotientAndRemainder(dividingBy: size.width)
                let pixel = PixelRectangle(x: x, y: y, width: 1, height: 1)
                let wanted = content.intersection(pixel).isEmpty ? Self.black : inside
                // Compression rings at the bars' edges.
                return abs(Int(picture.bytes[index]) - Int(wanted)) <= 12
            }
        }
        try host.wait(for: "white with bars") { isRight(Self.white) }
        try host.wait(for: "the size") { host.messages.contains { $0.body == .size(size) } }
        // Viewers of a pause see a grey slate all over; afterwards, the bars are black again.
        try host.send(.sharerPaused(true))
        try host.wait(for: "the slate") {
            host.picture.map { $0.bytes[0] > Self.black + 12 && $0.bytes[0] < Self.white - 12 } == true
        }
        try host.send(.sharerPaused(false))
        try host.wait(for: "the screen again") { isRight(Self.white) }
        capture.stop()
    }
}

/// A capture of a painted screen, and its host.
private func painted(
    _ paint: Paint, _ size: PictureSize = PictureSize(width: 64, height: 48),
    _ change: (inout CaptureConfiguration) -> Void
) throws -> (RunningCapture, ReceivingHost) {
    let pair = try LinkSocketPair()
    let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
    pair.closeChild()
    var configuration = CaptureConfiguration(link: .descriptor(descriptor))
    change(&configuration)
    let capture = try RunningCapture(configuration) { _ in PaintedScreen(paint, size: size) }
    return (capture, try ReceivingHost(pair.connection))
}
