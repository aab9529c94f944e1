import CaptureEngine
import ColorConversion
import MediaTypes
import Testing

@testable import X11Capture

@Suite("pointer shape")
struct PointerShapeTests {
    @Test("premultiplied colours are laid over what is there")
    func blending() {
        #expect(PointerShape.blend(0xFF12_3456, on: 0x00AB_CDEF) & 0xFF_FFFF == 0x12_3456)
        #expect(PointerShape.blend(0x0000_0000, on: 0x00AB_CDEF) & 0xFF_FFFF == 0xAB_CDEF)
        // Half of white over black is grey, over white is white.
        #expect(PointerShape.blend(0x8080_8080, on: 0) & 0xFF_FFFF == 0x80_8080)
        #expect(PointerShape.blend(0x8080_8080, on: 0xFF_FFFF) & 0xFF_FFFF == 0xFF_FFFF)
        // Not really premultiplied: too bright, but it stays in its own colour.
        #expect(PointerShape.blend(0x10FF_0000, on: 0xFF_00FF) & 0xFF_FFFF == 0xFF_00EF)
    }

    @Test("only the part that lies on the grabbed pixels is drawn, wherever it sticks out")
    func clipping() {
        let shape = PointerShape(
            width: 4, height: 4, hotX: 0, hotY: 0, pixels: [UInt32](repeating: 0xFFFF_FFFF, count: 16))
        for y in -5...9 {
            for x in -5...9 {
                let area = PixelRectangle(x: x, y: y, width: 4, height: 4)
                for format in [ScreenToPlanes.PixelFormat.bgrx, .rgb565] {
                    #expect(drawn(shape, area, format) == expected(area))
                }
            }
        }
    }

    @Test("a large shape is made smaller, with its colours and the pixel that points")
    func fitting() {
        let half = [UInt32](repeating: 0xFFFF_0000, count: 96 * 192)
        let tall = PointerShape(
            width: 96, height: 384, hotX: 95, hotY: 383,
            pixels: half + [UInt32](repeating: 0x8000_0040, count: 96 * 192))
        let small = tall.fitting()
        #expect(small.width == 24 && small.height == 96 && small.hotX == 23 && small.hotY == 95)
        #expect(small.pixels.count == 24 * 96)
        #expect(small.pixels.first == 0xFFFF_0000 && small.pixels.last == 0x8000_0040)
        let fits = PointerShape(width: 2, height: 1, hotX: 0, hotY: 0, pixels: [0xFF00_0000, 0])
        #expect(fits.fitting() == fits)
        #expect(PointerShape(width: 2, height: 1, hotX: 0, hotY: 0, pixels: [0, 0]).fitting().pixels.isEmpty)
    }

    @Test("a shape in scaled pictures is as much smaller as they are, and points at the same")
    func scaling() {
        let shape = PointerShape(
            width: 24, height: 20, hotX: 23, hotY: 10, pixels: [UInt32](repeating: 0x8040_2010, count: 480))
        let screen = PictureSize(width: 1920, height: 1080)
        let third = shape.scaled(from: screen, to: PictureSize(width: 640, height: 360))
        #expect((third.width, third.height, third.hotX, third.hotY) == (8, 7, 7, 3))
        #expect(third.pixels == [UInt32](repeating: 0x8040_2010, count: 56))
        let tiny = shape.scaled(from: screen, to: PictureSize(width: 19, height: 11))
        #expect((tiny.width, tiny.height, tiny.hotX, tiny.hotY) == (1, 1, 0, 0))
        #expect(shape.scaled(from: screen, to: screen) == shape)
        #expect(PointerShape().scaled(from: screen, to: PictureSize(width: 640, height: 360)) == PointerShape())
    }

    @Test("strangers' words can't steer a terminal")
    func harmless() {
        #expect(PrintableText.harmless("a\u{1B}[31m\nb\u{202E}c\u{7F}\u{9B}d") == "a [31m b c  d")
        #expect(PrintableText.harmless("Übung – 日本 🙂") == "Übung – 日本 🙂")
        #expect(PrintableText.harmless(String(repeating: "e\u{301}", count: 500)).unicodeScalars.count == 200)
        #expect(PrintableText.latin1([0x41, 0xE9]) == "Aé")
    }

    @Test("a shape whose pixels are missing is invisible and harmless")
    func missingPixels() {
        let shape = PointerShape(width: 4, height: 4, hotX: 0, hotY: 0, pixels: [0xFFFF_FFFF])
        #expect(shape.isInvisible)
        #expect(drawn(shape, PixelRectangle(x: 2, y: 2, width: 4, height: 4), .bgrx).allSatisfy { !$0 })
    }

    /// Which pixels of `piece`, black before, are white.
    private func drawn(_ shape: PointerShape, _ area: PixelRectangle, _ format: ScreenToPlanes.PixelFormat) -> [Bool] {
        let stride = piece.width * format.bytesPerPixel
        var bytes = [UInt8](repeating: 0, count: stride * piece.height)
        bytes.withUnsafeMutableBytes { memory in
            guard let base = memory.baseAddress else { return }
            shape.draw(at: area, into: GrabbedPixels(rectangle: piece, base: base, stride: stride), format: format)
        }
        return (0..<piece.width * piece.height).map { index in
            let first = index * format.bytesPerPixel
            return bytes[first] == 255 && bytes[first + 1] == 255
        }
    }

    private func expected(_ area: PixelRectangle) -> [Bool] {
        (0..<piece.width * piece.height).map { index in
            let pixel = PixelRectangle(
                x: piece.x + index % piece.width, y: piece.y + index / piece.width, width: 1, height: 1)
            return !pixel.intersection(area).isEmpty
        }
    }

    private let piece = PixelRectangle(x: 2, y: 2, width: 6, height: 5)
}
