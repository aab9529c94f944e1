import ColorConversion
import MediaTypes
import TestSupport
import Testing

@Suite("making a screen smaller")
struct ScreenScalingTests {
    @Test("a line one pixel thin is seen wherever it is, at every factor", arguments: [2, 3, 4, 5, 6, 7, 12])
    func thinLines(factor: Int) throws {
        let (width, height) = (20, 14)
        let size = PictureSize(width: width * factor, height: height * factor)
        let scaling = ScreenScaling(from: size, to: PictureSize(width: width, height: height))
        // Of 2 or 4 or 8 pixels it is one, and interpolation may take in a part of that.
        let block = factor >= 8 ? 8 : factor >= 4 ? 4 : 2
        let weight = factor == block ? 1 : 1 - Double(factor) / Double(block) / 2
        let least = UInt8(255 / Double(block) * weight - 2)
        func isSeen(_ isLine: (Int, Int) -> Bool) throws -> Bool {
            try whole(scaling) { isLine($0, $1) ? 0xFFFF_FFFF : 0 }.contains { UInt8(truncatingIfNeeded: $0) >= least }
        }
        let columns = try (0..<size.width).filter { place in try !isSeen { x, _ in x == place } }
        let rows = try (0..<size.height).filter { place in try !isSeen { _, y in y == place } }
        #expect(columns == [] && rows == [])
    }

    @Test("one pixel of many is the mean of those that it stands for")
    func means() throws {
        let scaling = ScreenScaling(
            from: PictureSize(width: 16, height: 8), to: PictureSize(width: 4, height: 2))
        let picture = try whole(scaling) { x, y in x / 4 % 2 == 0 ? (x + y) % 2 == 0 ? 0x00C8_6400 : 0 : 0x00FF_8040 }
        #expect(picture == [0x0064_3200, 0x00FF_8040, 0x0064_3200, 0x00FF_8040] + picture.prefix(4))
    }

    @Test(
        "every part of a picture has the pixels that the whole has, and needs no others of the screen",
        arguments: [
            (PictureSize(width: 203, height: 131), PictureSize(width: 157, height: 101)),
            (PictureSize(width: 203, height: 131), PictureSize(width: 101, height: 65)),
            (PictureSize(width: 201, height: 150), PictureSize(width: 67, height: 50)),
            (PictureSize(width: 397, height: 251), PictureSize(width: 58, height: 36)),
            (PictureSize(width: 400, height: 300), PictureSize(width: 80, height: 60)),
            (PictureSize(width: 401, height: 300), PictureSize(width: 200, height: 150)),
            (PictureSize(width: 300, height: 90), PictureSize(width: 60, height: 89)),
            (PictureSize(width: 90, height: 300), PictureSize(width: 89, height: 60)),
            // Larger, as for --size.
            (PictureSize(width: 64, height: 48), PictureSize(width: 160, height: 120)),
            (PictureSize(width: 101, height: 67), PictureSize(width: 137, height: 90)),
            (PictureSize(width: 101, height: 67), PictureSize(width: 102, height: 68)),
        ])
    func parts(source: PictureSize, target: PictureSize) throws {
        var random = SeededRandom(seed: 8)
        let screen = (0..<source.width * source.height).map { _ in UInt32.random(in: 0 ... .max, using: &random) }
        func pixel(_ x: Int, _ y: Int) -> UInt32 { screen[y * source.width + x] }
        let scaling = ScreenScaling(from: source, to: target)
        let all = try whole(scaling, pixel)
        for _ in 0..<120 {
            let left = Int.random(in: 0..<target.width, using: &random) & ~1
            let top = Int.random(in: 0..<target.height, using: &random) & ~1
            let rectangle = PixelRectangle(
                x: left, y: top, width: Int.random(in: 1...target.width - left, using: &random),
                height: Int.random(in: 1...target.height - top, using: &random))
            let part = try scaled(scaling, rectangle, pixel)
            for y in 0..<rectangle.height {
                let begin = (top + y) * target.width + left
                #expect(
                    part[(y * rectangle.width)..<(y + 1) * rectangle.width].elementsEqual(
                        all[begin..<begin + rectangle.width]), "row \(y) of \(rectangle)")
            }
        }
    }

    @Test("what changes on the screen changes nothing in the picture beside the part that it affects")
    func affected() throws {
        let source = PictureSize(width: 211, height: 133)
        for target in [(500, 316), (212, 134), (160, 100), (105, 66), (70, 44), (30, 19)].map({
            PictureSize(width: $0, height: $1)
        }) {
            var random = SeededRandom(seed: 9)
            let scaling = ScreenScaling(from: source, to: target)
            let before = try whole(scaling) { _, _ in 0 }
            for _ in 0..<60 {
                let (x, y) = (Int.random(in: 0...210, using: &random), Int.random(in: 0...132, using: &random))
                let changed = PixelRectangle(
                    x: x, y: y, width: Int.random(in: 1...min(20, 211 - x), using: &random),
                    height: Int.random(in: 1...min(20, 133 - y), using: &random))
                let after = try whole(scaling) { x, y in
                    changed.intersection(PixelRectangle(x: x, y: y, width: 1, height: 1)).isEmpty ? 0 : 0xFFFF_FFFF
                }
                let area = scaling.affected(by: changed)
                var stray = 0
                for index in before.indices where before[index] != after[index] {
                    let (x, y) = (index % target.width, index / target.width)
                    if area.intersection(PixelRectangle(x: x, y: y, width: 1, height: 1)).isEmpty { stray += 1 }
                }
                #expect(stray == 0, "\(changed)")
                #expect(before != after)
            }
        }
    }

    private func whole(_ scaling: ScreenScaling, _ pixel: (Int, Int) -> UInt32) throws -> [UInt32] {
        let size = scaling.target
        return try scaled(scaling, PixelRectangle(x: 0, y: 0, width: size.width, height: size.height), pixel)
    }

    /// The picture's pixels of `rectangle`; what of the screen isn't needed for them isn't there.
    private func scaled(
        _ scaling: ScreenScaling, _ rectangle: PixelRectangle, _ pixel: (Int, Int) -> UInt32
    ) throws -> [UInt32] {
        let part = scaling.needed(for: rectangle)
        var pixels = [UInt32](repeating: 0x5A5A_5A5A, count: part.width * part.height + ScreenScaling.slack / 4)
        for y in 0..<part.height {
            for x in 0..<part.width { pixels[y * part.width + x] = pixel(part.x + x, part.y + y) }
        }
        var result = [UInt32](repeating: 0, count: rectangle.width * rectangle.height)
        let isDone = pixels.withUnsafeMutableBytes { pixels in
            result.withUnsafeMutableBytes { result in
                guard let pixels = pixels.baseAddress, let result = result.baseAddress else { return false }
                return scaling.scale(pixels, stride: part.width * 4, rectangle: rectangle, into: result)
            }
        }
        try #require(isDone)
        return result
    }
}
