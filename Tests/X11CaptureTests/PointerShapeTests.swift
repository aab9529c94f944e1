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
                for format in [ScreenPixelFormat.bgrx, .rgb565] {
                    #expect(drawn(shape, area, format) == expected(area))
                }
            }
        }
    }

    @Test("a shape whose pixels are missing is invisible and harmless")
    func missingPixels() {
        let shape = PointerShape(width: 4, height: 4, hotX: 0, hotY: 0, pixels: [0xFFFF_FFFF])
        #expect(shape.isInvisible)
        #expect(drawn(shape, PixelRectangle(x: 2, y: 2, width: 4, height: 4), .bgrx).allSatisfy { !$0 })
    }

    /// Which pixels of `piece`, black before, are white.
    private func drawn(_ shape: PointerShape, _ area: PixelRectangle, _ format: ScreenPixelFormat) -> [Bool] {
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
