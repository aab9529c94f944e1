import MediaTypes
import Testing
import VideoEncoding

@testable import CaptureEngine

@Suite("reading the screen into scaled pictures")
struct ScreenReaderTests {
    /// Corner to corner, so near that they need the same pixels of the screen.
    static let near = [
        PixelRectangle(x: 32, y: 16, width: 20, height: 20), PixelRectangle(x: 54, y: 38, width: 20, height: 20),
    ]
    static let far = [
        PixelRectangle(x: 32, y: 16, width: 20, height: 20), PixelRectangle(x: 104, y: 58, width: 20, height: 20),
    ]

    @Test("writes nothing but what it says before", arguments: [near, far])
    func written(parts: [PixelRectangle]) throws {
        let paint = Paint()
        let screen = PaintedScreen(paint, size: PictureSize(width: 320, height: 192))
        let size = PictureSize(width: 160, height: 96)
        let canvas = PictureCanvas(size, chroma: .yuv420)
        let reader = ScreenReader(screen, into: canvas, at: size.whole)
        var time = Interval.zero
        paint.show(200)
        let isWhole = try reader.read(reader.affected(by: screen.fullDamage()), converting: &time)
        let before = Self.luma(canvas)
        paint.show(100)
        _ = screen.fullDamage()
        let asked = DamagedArea(parts, in: size)
        #expect(asked.rectangles.count == 2)
        let written = reader.written(by: asked)
        #expect(written.rectangles.count == (parts == Self.near ? 1 : 2))
        let isRead = try reader.read(written, converting: &time)
        #expect(isWhole && isRead)
        let after = Self.luma(canvas)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let pixel = PixelRectangle(x: x, y: y, width: 1, height: 1)
                let isWritten = written.rectangles.contains { $0.contains(pixel) }
                #expect((before[y * size.width + x] != after[y * size.width + x]) == isWritten, "\(x), \(y)")
            }
        }
    }

    private static func luma(_ canvas: PictureCanvas) -> [UInt8] {
        let planes = canvas.planes
        return (0..<canvas.size.height).flatMap { y in
            (0..<canvas.size.width).map { x in planes.luma[y * planes.lumaStride + x] }
        }
    }
}
