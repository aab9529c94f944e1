import MediaTypes
import ScreenRelayClient
import TestSupport
import Testing

@Suite("Pixels of an application")
struct PixelsTests {
    private let size = PictureSize(width: 6, height: 4)

    @Test("a picture of four bytes a pixel, with rows apart, comes out as it went in")
    func bgrx() throws {
        let stride = 40
        var pixels = [UInt8](repeating: 7, count: stride * 3 + 24)
        for row in 0..<4 {
            for column in 0..<6 {
                let colour: [UInt8] = column < 2 ? [200, 40, 40, 0] : [30, 60, 180, 0]
                for (part, value) in colour.enumerated() { pixels[row * stride + column * 4 + part] = value }
            }
        }
        let made = pixels.withUnsafeBytes { I420Picture(bgrx: $0, stride: stride, size: size) }
        let picture = try #require(made)
        #expect(picture.size == size && !picture.isFullRange && picture.matrix == .bt601)
        let back = try #require(picture.bgrx())
        for (place, value) in [(0, 200), (1, 40), (2, 40), (16, 30), (17, 60), (18, 180), (23 * 4, 30)] {
            #expect(abs(Int(back[place]) - value) <= 8, "\(place)")
        }
    }

    /// Rows that count up from `first`, with 255 between them.
    private func plane(_ first: UInt8, _ width: UInt8, _ height: UInt8, padding: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in 0..<height {
            for column in 0..<width { bytes.append(first + row * 10 + column) }
            bytes += [UInt8](repeating: 255, count: padding)
        }
        return bytes
    }

    @Test("planes with rows apart are copied without what is between them")
    func planes() throws {
        let (luma, blue, red) = (plane(0, 6, 4, padding: 2), plane(100, 3, 2, padding: 1), plane(150, 3, 2, padding: 1))
        func make(_ size: PictureSize) -> I420Picture? {
            luma.withUnsafeBytes { luma in
                blue.withUnsafeBytes { blue in
                    red.withUnsafeBytes { red in
                        I420Picture(
                            luma: luma, blueDifference: blue, redDifference: red, lumaStride: 8, chromaStride: 4,
                            size: size)
                    }
                }
            }
        }
        let picture = try #require(make(size))
        #expect(picture.bytes.count == 36 && !picture.bytes.contains(255))
        #expect(picture[.luma, 5, 3] == 35 && picture[.blueDifference, 2, 1] == 112)
        #expect(picture[.redDifference, 0, 1] == 160)
        for wrong in [(6, 5), (9, 4), (0, 4), (6, -1), (Int.max, 4)] {
            #expect(make(PictureSize(width: wrong.0, height: wrong.1)) == nil)
        }
    }

    @Test("rows that are too short, and sizes that no picture has, are refused")
    func refused() {
        let pixels = [UInt8](repeating: 0, count: 96)
        pixels.withUnsafeBytes { bytes in
            #expect(I420Picture(bgrx: bytes, stride: 24, size: size) != nil)
            for (stride, width, height) in [
                (23, 6, 4), (25, 6, 4), (24, 6, 5), (24, 0, 4), (Int.max, 6, 2), (24, Int.max, 1), (24, -6, 4),
            ] {
                let size = PictureSize(width: width, height: height)
                #expect(I420Picture(bgrx: bytes, stride: stride, size: size) == nil, "\(stride), \(size)")
            }
        }
        let empty = I420Picture(
            size: PictureSize(width: 0, height: 0), bytes: [], isFullRange: false, matrix: .bt601, captureTime: nil)
        #expect(empty.bgrx() == nil)
    }
}
