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
        let capture = try RunningCapture(configuration) { _ in VideoScreen.painted(by: paint) }
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
            return pictures[apart].qp <= 18 && (video?.qp ?? 0) > 24
        }
        // What was shown last comes completely, and becomes sharp.
        let wanted = VideoScreen.luma(shade)
        try host.wait(for: "the last picture") {
            guard let picture = host.picture else { return false }
            return zip(picture.bytes, wanted).allSatisfy { abs(Int($0) - Int($1)) <= 24 }
        }
    }
}

/// Grey noise that is another with each shade, and beside it a grey square of every sixteenth shade, which is too
/// seldom for a video.
private enum VideoScreen {
    static let text = PixelRectangle(x: 400, y: 208, width: 16, height: 16)
    private static let video = PixelRectangle(x: 0, y: 0, width: 320, height: 160)
    private static let pictureSize = PictureSize(width: 480, height: 272)

    static func painted(by paint: Paint) -> PaintedScreen {
        PaintedScreen(
            paint, size: pictureSize,
            changes: { before, after in before / 16 == after / 16 ? [video] : [video, text] }, grey: grey)
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
