import CaptureEngine
import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import Synchronization
import TestSupport
import Testing

@Suite("what is painted again", .serialized)
struct RepaintedScreenTests {
    /// A part that is compared by its samples, and one that is compared as motion is searched.
    static let parts = [
        PixelRectangle(x: 30, y: 20, width: 33, height: 17), PixelRectangle(x: 0, y: 0, width: 320, height: 160),
    ]

    @Test("is in no picture if it looks as before, and at once if it doesn't", arguments: parts)
    func unchanged(part: PixelRectangle) throws {
        let paint = Paint()
        let pair = try LinkSocketPair()
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        let looks = Looks()
        // Shades up to 15 look the same.
        let capture = try RunningCapture(CaptureConfiguration(link: .descriptor(descriptor))) { _ in
            PaintedScreen(
                paint, size: PictureSize(width: 480, height: 272),
                changes: { _, _ in
                    looks.add()
                    return [part]
                }, grey: { _, _, shade in shade / 16 * 16 + 40 })
        }
        let host = try ReceivingHost(pair.connection)
        try host.sendHello()
        defer { capture.stop() }
        try host.wait(for: "the first picture") { host.picture != nil }
        let first = host.count
        for shade in UInt8(1)...15 {
            paint.show(shade)
            try host.wait(for: "a look at shade \(shade)") { looks.count == shade }
        }
        paint.show(16)
        try host.wait(for: "the change") {
            host.picture.map { abs(Int($0.bytes[(part.y + 8) * 480 + part.x + 8]) - (16 + 56 * 219 / 255)) <= 4 }
                == true
        }
        let changes = host.units[first...].compactMap(\.notice).filter { !$0.damage.isEmpty }
        #expect(changes.last.map { $0.damage.intersection(part) == part } == true)
        // One that keeps the stream alive has what is painted at that moment.
        #expect(changes.count <= 3, "\(changes.count) pictures")
    }

    @Test(
        "of an X display is in no picture either, large parts only in 4:2:0", .enabled(if: VirtualScreen.isAvailable),
        arguments: [(ChromaPreference.yuv420, parts[0]), (.yuv420, parts[1]), (.yuv444, parts[0])])
    func display(chroma: ChromaPreference, part: PixelRectangle) throws {
        let screen = try VirtualScreen(PictureSize(width: 480, height: 272))
        let client = try DisplayClient(screen.name)
        client.fill(part, color: 0xFF_FFFF)
        let (capture, host) = try RunningCapture.pair(display: screen.name) {
            $0.keepAlive = .seconds(600)
            $0.chroma = chroma
        }
        defer { capture.stop() }
        try host.wait(for: "a picture") { host.count > 0 }
        try host.waitForSilence()
        let count = host.count
        for _ in 1...10 {
            client.fill(part, color: 0xFF_FFFF)
            try host.read(for: .milliseconds(60))
        }
        #expect(host.count == count)
        client.fill(part, color: 0)
        try host.wait(for: "a picture of another colour") { host.count > count }
    }

    /// How often the capture has asked what has changed.
    private final class Looks: Sendable {
        private let value = Mutex<UInt8>(0)
        var count: UInt8 { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }
}
