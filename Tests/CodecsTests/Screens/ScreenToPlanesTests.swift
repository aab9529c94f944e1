import ColorConversion
import MediaTypes
import Testing

@Suite("screen to I420")
struct ScreenToPlanesTests {
    @Test("colours become BT.601 with limited range, from both pixel formats")
    func colours() {
        // ITU-R BT.601: Y = 16 + 65.481 R + 128.553 G + 24.966 B, Cb and Cr about 128; R, G, B in 0...1.
        let expected: [(red: UInt8, green: UInt8, blue: UInt8, y: Int, cb: Int, cr: Int)] = [
            (0, 0, 0, 16, 128, 128), (255, 255, 255, 235, 128, 128), (255, 0, 0, 81, 90, 240), (0, 255, 0, 145, 54, 34),
            (0, 0, 255, 41, 240, 110),
        ]
        for color in expected {
            let wide = [color.blue, color.green, color.red, 0]
            let narrow = UInt16(color.red >> 3) << 11 | UInt16(color.green >> 2) << 5 | UInt16(color.blue >> 3)
            let pixels: [(ScreenToPlanes.PixelFormat, [UInt8])] = [
                (.bgrx, wide), (.rgb565, [UInt8(narrow & 255), UInt8(narrow >> 8)]),
            ]
            for (format, pixel) in pixels {
                var planes = Planes(width: 4, height: 4)
                let whole = PixelRectangle(x: 0, y: 0, width: 4, height: 4)
                let isDone = planes.convert((0..<16).flatMap { _ in pixel }, format, whole)
                #expect(isDone)
                #expect(planes.luma.allSatisfy { abs(Int($0) - color.y) <= 2 })
                #expect(planes.chroma.prefix(4).allSatisfy { abs(Int($0) - color.cb) <= 2 })
                #expect(planes.chroma.suffix(4).allSatisfy { abs(Int($0) - color.cr) <= 2 })
            }
        }
    }

    @Test("only the rectangle is written, up to an odd edge of the picture")
    func rectangle() {
        var planes = Planes(width: 7, height: 5)
        let corner = PixelRectangle(x: 4, y: 2, width: 3, height: 3)
        let isDone = planes.convert([UInt8](repeating: 255, count: 3 * 3 * 4), .bgrx, corner)
        #expect(isDone)
        for y in 0..<5 {
            for x in 0..<7 { #expect(planes.luma[y * 8 + x] == (x >= 4 && y >= 2 ? 235 : 0)) }
        }
        // What lies behind the edge isn't touched.
        #expect((0..<5).allSatisfy { planes.luma[$0 * 8 + 7] == 0 })
        #expect(planes.chroma.prefix(12).enumerated().allSatisfy { $1 == ($0 % 4 >= 2 && $0 >= 4 ? 128 : 0) })
    }

    @Test("a rectangle that isn't inside, or not aligned, is refused and nothing is written")
    func refusals() {
        var planes = Planes(width: 8, height: 8)
        let wrong = [
            PixelRectangle(x: 1, y: 0, width: 2, height: 2), PixelRectangle(x: 0, y: 1, width: 2, height: 2),
            PixelRectangle(x: -2, y: 0, width: 2, height: 2), PixelRectangle(x: 6, y: 0, width: 4, height: 2),
            PixelRectangle(x: 0, y: 8, width: 2, height: 2), PixelRectangle(x: 0, y: 0, width: 0, height: 2),
            PixelRectangle(x: 0, y: 0, width: 2, height: .max),
        ]
        for rectangle in wrong {
            let isDone = planes.convert([UInt8](repeating: 255, count: 256), .bgrx, rectangle)
            #expect(!isDone)
        }
        #expect(planes.luma.allSatisfy { $0 == 0 } && planes.chroma.allSatisfy { $0 == 0 })
    }

    /// Planes with rows of eight bytes and half of it, zero at first.
    private struct Planes {
        let size: PictureSize
        var luma: [UInt8]
        /// Cb, then Cr.
        var chroma: [UInt8]

        init(width: Int, height: Int) {
            size = PictureSize(width: width, height: height)
            luma = [UInt8](repeating: 0, count: (width + 1) / 2 * 2 * height)
            chroma = [UInt8](repeating: 0, count: (width + 1) / 2 * ((height + 1) / 2) * 2)
        }

        mutating func convert(
            _ pixels: [UInt8], _ format: ScreenToPlanes.PixelFormat, _ rectangle: PixelRectangle
        ) -> Bool {
            let size = size
            let stride = (size.width + 1) / 2 * 2
            return luma.withUnsafeMutableBufferPointer { luma in
                chroma.withUnsafeMutableBufferPointer { chroma in
                    guard let y = luma.baseAddress, let cb = chroma.baseAddress else { return false }
                    let destination = ScreenToPlanes.Destination(
                        luma: y, blueDifference: cb, redDifference: cb + chroma.count / 2, lumaStride: stride,
                        chromaStride: stride / 2, size: size)
                    return pixels.withUnsafeBytes { bytes in
                        guard let base = bytes.baseAddress else { return false }
                        return ScreenToPlanes.convert(
                            base, stride: max(0, rectangle.width) * format.bytesPerPixel, format: format,
                            rectangle: rectangle, into: destination)
                    }
                }
            }
        }
    }
}
