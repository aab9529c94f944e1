import MediaTypes
import TestSupport
import VideoEncoding

/// A picture of random blocks, whole macroblocks large, which knows what has changed.
final class TestCanvas {
    let width: Int
    let height: Int
    let chroma: ChromaFormat
    private let columns: Int
    private let rows: Int
    private let luma: UnsafeMutablePointer<UInt8>
    private let blue: UnsafeMutablePointer<UInt8>
    private let red: UnsafeMutablePointer<UInt8>

    init(width: Int, height: Int, chroma: ChromaFormat, seed: UInt64) {
        self.width = width
        self.height = height
        self.chroma = chroma
        columns = (width + 15) / 16
        rows = (height + 15) / 16
        let count = columns * rows * 256
        func plane(_ count: Int, _ value: UInt8) -> UnsafeMutablePointer<UInt8> {
            let plane = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
            plane.initialize(repeating: value, count: count)
            return plane
        }
        let chromaCount = chroma == .yuv420 ? count / 4 : count
        luma = plane(count, 16)
        blue = plane(chromaCount, 128)
        red = plane(chromaCount, 128)
        var random = SeededRandom(seed: seed)
        for _ in 0..<60 { paint(&random) }
    }

    deinit {
        for plane in [luma, blue, red] { plane.deallocate() }
    }

    var evenWidth: Int { width + width & 1 }
    var evenHeight: Int { height + height & 1 }
    var all: CodingMask {
        .init(isSelected: [UInt8](repeating: 1, count: columns * rows), count: columns * rows, protectsRest: false)
    }
    var none: CodingMask {
        .init(isSelected: [UInt8](repeating: 0, count: columns * rows), count: 0, protectsRest: false)
    }

    var planes: SourcePlanes {
        SourcePlanes(
            luma: luma, blueDifference: blue, redDifference: red, lumaStride: columns * 16,
            chromaStride: chroma == .yuv420 ? columns * 8 : columns * 16)
    }

    /// Paints `count` blocks and says which macroblocks they touch.
    func change(_ count: Int, _ random: inout SeededRandom) -> CodingMask {
        var mask = none
        for _ in 0..<count {
            let (x, y, width, height) = paint(&random)
            for row in y / 16...(y + height - 1) / 16 {
                for column in x / 16...(x + width - 1) / 16 { mask.isSelected[row * columns + column] = 1 }
            }
        }
        mask.count = mask.isSelected.reduce(0) { $0 + Int($1) }
        return mask
    }

    func sample(_ x: Int, _ y: Int) -> UInt8 { luma[y * columns * 16 + x] }

    /// Bars that are black or white by the bits of `index`, above others that are the opposite.
    func paintBars(_ index: Int) -> CodingMask {
        for bar in 0..<16 {
            for y in 314..<466 {
                for x in 18 + bar * 37..<55 + bar * 37 {
                    luma[y * columns * 16 + x] = (index >> (bar % 6) & 1 == 1) != (y >= 390) ? 235 : 16
                }
            }
        }
        var mask = none
        for row in 314 / 16...465 / 16 {
            for column in 18 / 16...(17 + 16 * 37) / 16 { mask.isSelected[row * columns + column] = 1 }
        }
        mask.count = mask.isSelected.reduce(0) { $0 + Int($1) }
        return mask
    }

    @discardableResult
    private func paint(_ random: inout SeededRandom) -> (Int, Int, Int, Int) {
        let blockWidth = 4 + Int(random.next() % 24)
        let blockHeight = 4 + Int(random.next() % 24)
        let x = Int(random.next() % UInt64(columns * 16 - blockWidth)) & ~1
        let y = Int(random.next() % UInt64(rows * 16 - blockHeight)) & ~1
        let noise = Int(random.next() % 90)
        let level = 30 + Int(random.next() % 120)
        for row in y..<y + blockHeight {
            for column in x..<x + blockWidth {
                luma[row * columns * 16 + column] = UInt8(level + Int(random.next() % UInt64(noise + 1)))
            }
        }
        let (shade, tint) = (UInt8(random.next() % 200 + 20), UInt8(random.next() % 200 + 20))
        let step = chroma == .yuv420 ? 2 : 1
        for row in y / step..<(y + blockHeight) / step {
            for column in x / step..<(x + blockWidth) / step {
                blue[row * columns * 16 / step + column] = shade
                red[row * columns * 16 / step + column] = tint
            }
        }
        return (x, y, blockWidth, blockHeight)
    }
}
