import CLinux
import CaptureEngine
import CaptureLink
import ColorConversion
import Glibc
import LinkTransport
import MediaTypes
import TestSupport
import Testing

@Suite("text beside a video", .serialized)
struct TextBesideVideoTests {
    @Test("has pictures of its own, which are fine, and viewers end up with all of both")
    func textIsApart() throws {
        let paint = Paint()
        let pair = try LinkSocketPair()
        let descriptor = fcntl(pair.childDescriptor, F_DUPFD_CLOEXEC, 3)
        pair.closeChild()
        var configuration = CaptureConfiguration(link: .descriptor(descriptor))
        configuration.bitRate = BitRate(bitsPerSecond: 1_000_000)
        let capture = try RunningCapture(configuration) { _ in VideoScreen(paint) }
        let host = try ReceivingHost(pair.connection)
        try host.sendHello()
        defer { capture.stop() }
        var shade: UInt8 = 0
        var seen = 0
        let text = VideoScreen.text
        try host.wait(for: "a fine picture of the text beside coarse ones of the video") {
            if host.count > seen {
                seen = host.count
                shade &+= 1
                paint.show(shade)
            }
            let pictures = host.units.compactMap(\.notice)
            guard let apart = pictures.lastIndex(where: { $0.damage == text }) else { return false }
            let video = pictures[..<apart].last { $0.damage != text }
            return pictures[apart].quantizer <= 18 && (video?.quantizer ?? 0) > 24
        }
        // What was shown last comes completely, and becomes sharp.
        let wanted = VideoScreen.luma(shade)
        try host.wait(for: "the last picture") {
            guard let picture = host.picture else { return false }
            return zip(picture.bytes, wanted).allSatisfy { abs(Int($0) - Int($1)) <= 24 }
        }
    }
}

/// A screen of grey noise that is another with each shade, and beside it a grey square of every sixteenth shade, which is too seldom for a video.
private final class VideoScreen: ScreenSource {
    static let text = PixelRectangle(x: 400, y: 208, width: 16, height: 16)
    private static let video = PixelRectangle(x: 0, y: 0, width: 320, height: 160)
    private static let pictureSize = PictureSize(width: 480, height: 272)

    let description = "a painted video"
    let target = CaptureTarget.screen
    let size = VideoScreen.pictureSize
    let pixelFormat = ScreenToPlanes.PixelFormat.bgrx
    let isWaiting = false
    let isLocked = false
    let reportsDamage = true
    let showsAllChanges = true
    let isIncomplete = false
    let pointerDescriptor: Int32 = -1
    let nextCheck = MonotonicTime.distantFuture
    let nextPointerLook = MonotonicTime.distantFuture
    var drawsPointer = false
    private let paint: Paint
    private var shown: UInt8 = 0

    init(_ paint: Paint) { self.paint = paint }

    var fileDescriptor: Int32 { paint.descriptor }
    var mayHaveChanged: Bool { paint.shade != shown }

    func takeQueuedEvents() -> Bool { false }
    func pollDue(period: Interval) -> MonotonicTime { .distantFuture }
    func hasChangedMeanwhile() -> Bool { false }
    func lookAtPointer(now: MonotonicTime) -> PointerPosition? { nil }
    func takePointerShape(in pictures: PictureSize) -> PointerImage? { nil }
    func forgetToldPointer() {}

    func readEvents(isReadable: Bool, isPointerReadable: Bool) throws(CaptureError) -> Bool {
        var count: UInt64 = 0
        if isReadable { eventfd_read(paint.descriptor, &count) }
        return false
    }

    func takeChanges() -> DamagedArea {
        let before = shown
        shown = paint.shade ?? 0
        if before == shown { return DamagedArea() }
        return DamagedArea(before / 16 == shown / 16 ? [Self.video] : [Self.video, Self.text], in: size)
    }

    func takeEverything() -> DamagedArea {
        shown = paint.shade ?? 0
        return DamagedArea([PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)], in: size)
    }

    func grab(_ area: DamagedArea, _ body: (GrabbedPixels) -> Void) -> Bool {
        for rectangle in area.rectangles {
            let stride = rectangle.width * 4
            var pixels: [UInt8] = []
            for y in rectangle.y..<rectangle.y + rectangle.height {
                for x in rectangle.x..<rectangle.x + rectangle.width {
                    pixels += [UInt8](repeating: Self.grey(x, y, shown), count: 4)
                }
            }
            pixels.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                body(GrabbedPixels(rectangle: rectangle, base: base, stride: stride))
            }
        }
        return true
    }

    /// All of it, in BT.601 with limited range.
    static func luma(_ shade: UInt8) -> [UInt8] {
        (0..<pictureSize.width * pictureSize.height).map {
            UInt8(16 + Int(grey($0 % pictureSize.width, $0 / pictureSize.width, shade)) * 219 / 255)
        }
    }

    private static func grey(_ x: Int, _ y: Int, _ shade: UInt8) -> UInt8 {
        if x < video.width, y < video.height {
            // Squares of four pixels.
            var random = SeededRandom(seed: UInt64(x / 4 + y / 4 * 1_000) * 256 + UInt64(shade))
            return UInt8(random.next() >> 57) + 64
        }
        let isText = x >= text.x && y >= text.y && x < text.x + text.width && y < text.y + text.height
        return isText ? shade / 16 * 8 + 40 : 200
    }
}
