import CPipeWire
import CaptureEngine
import MediaTypes
import Testing

@testable import WaylandCapture

/// A picture of small numbers.
private struct Grid: Equatable {
    var width: Int
    var pixels: [UInt32]

    var height: Int { pixels.count / width }
    var size: PictureSize { PictureSize(width: width, height: height) }

    /// Every pixel is another number.
    init(counting width: Int, _ height: Int) {
        self.width = width
        pixels = (0..<UInt32(width * height)).map { 0xFF00_0000 | $0 }
    }

    /// 1 inside `part`, 0 outside.
    init(_ size: PictureSize, filled part: PixelRectangle) {
        width = size.width
        pixels = (0..<size.width * size.height).map { index in
            let pixel = PixelRectangle(x: index % size.width, y: index / size.width, width: 1, height: 1)
            return pixel.intersection(part).isEmpty ? 0 : 1
        }
    }

    init(width: Int, pixels: [UInt32]) {
        self.width = width
        self.pixels = pixels
    }

    subscript(x: Int, y: Int) -> UInt32 { pixels[y * width + x] }

    var mirrored: Grid {
        Grid(width: width, pixels: (0..<height).flatMap { y in (0..<width).reversed().map { self[$0, y] } })
    }

    /// A quarter turn counterclockwise: the right column becomes the top row.
    var turned: Grid {
        Grid(width: height, pixels: (0..<width).reversed().flatMap { x in (0..<height).map { self[x, $0] } })
    }

    /// As the names of PipeWire's transforms say: first mirrored, then rotated.
    func transformed(_ number: UInt32) -> Grid {
        var result = number >= 4 ? mirrored : self
        for _ in 0..<number % 4 { result = result.turned }
        return result
    }

    func cropped(_ part: PixelRectangle) -> Grid {
        let rows = part.y..<part.y + part.height
        let columns = part.x..<part.x + part.width
        return Grid(width: part.width, pixels: rows.flatMap { y in columns.map { self[$0, y] } })
    }

    /// The smallest rectangle with everything that isn't 0.
    var filled: PixelRectangle {
        var result = PixelRectangle.nothing
        for y in 0..<height {
            for x in 0..<width where self[x, y] != 0 {
                result = result.union(PixelRectangle(x: x, y: y, width: 1, height: 1))
            }
        }
        return result
    }
}

@Suite("rotated and mirrored pictures")
struct PictureTransformTests {
    private static let upright = Grid(counting: 37, 21)
    private static let numbers: [UInt32] = Array(0..<8)

    @Test("the grid of this test turns as PipeWire says")
    func grid() {
        let grid = Grid(width: 3, pixels: [1, 2, 3, 4, 5, 6])
        #expect(grid.transformed(1) == Grid(width: 2, pixels: [3, 6, 2, 5, 1, 4]))
        #expect(grid.transformed(2) == Grid(width: 3, pixels: [6, 5, 4, 3, 2, 1]))
        #expect(grid.transformed(4) == Grid(width: 3, pixels: [3, 2, 1, 6, 5, 4]))
        #expect(grid.transformed(5) == Grid(width: 2, pixels: [1, 4, 2, 5, 3, 6]))
    }

    /// Where the visible part lies in a buffer whose rows have five pixels more than needed.
    private func layout(_ buffer: Grid, _ transform: UInt32, crop: PixelRectangle? = nil) throws -> BufferLayout {
        let format = try CastFormat(
            SPA_VIDEO_FORMAT_BGRx.rawValue, width: UInt32(buffer.width), height: UInt32(buffer.height))
        let stride = (buffer.width + 5) * 4
        let bytes = stride * buffer.height
        return try BufferLayout(
            .init(offset: 0, size: UInt32(bytes), stride: Int32(stride)), memory: bytes, format: format, crop: crop,
            transform: PictureTransform(transform))
    }

    /// The picture that is kept after all of the buffer was compared in `parts`, and what has changed.
    private func update(
        _ kept: KeptPicture, _ buffer: Grid, _ layout: BufferLayout, order: CastFormat.Order,
        in parts: [PixelRectangle]? = nil
    ) throws -> (picture: Grid, changes: [PixelRectangle]) {
        var padded: [UInt32] = []
        for y in 0..<buffer.height {
            padded += (0..<buffer.width).map { buffer[$0, y] } + [UInt32](repeating: 0xDEAD_BEEF, count: 5)
        }
        var changes: [PixelRectangle] = []
        try padded.withUnsafeBytes { bytes in
            let base = try #require(bytes.baseAddress)
            let new = KeptPicture.Pixels(
                base: base + layout.offset, columnStep: layout.columnStep, rowStep: layout.rowStep, order: order)
            kept.update(from: new, in: parts ?? [kept.size.whole], changes: &changes)
            kept.settle()
        }
        let all = kept.pixels(of: kept.size.whole)
        let pixels = (0..<kept.size.width * kept.size.height).map {
            all.base.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self)
        }
        return (Grid(width: kept.size.width, pixels: pixels), changes)
    }

    @Test("each of the eight is undone, for whole pictures and for a visible part", arguments: numbers)
    func upright(number: UInt32) throws {
        let buffer = Self.upright.transformed(number)
        let whole = try layout(buffer, number)
        #expect(whole.visible == Self.upright.size.whole)
        let kept = try #require(KeptPicture(whole.visible.size))
        let first = try update(kept, buffer, whole, order: .bgrx)
        #expect(first.picture == Self.upright)

        // What is visible is told in pixels of the buffer.
        let part = PixelRectangle(x: 3, y: 2, width: 20, height: 7)
        let crop = Grid(Self.upright.size, filled: part).transformed(number).filled
        let cropped = try layout(buffer, number, crop: crop)
        #expect(cropped.visible == part)
        let keptPart = try #require(KeptPicture(part.size))
        let second = try update(keptPart, buffer, cropped, order: .bgrx)
        #expect(second.picture == Self.upright.cropped(part))
    }

    @Test("a changed pixel is found in the macroblock of the upright picture, in both orders", arguments: numbers)
    func changes(number: UInt32) throws {
        for order in [CastFormat.Order.bgrx, .rgbx] {
            var picture = Self.upright
            let place = try layout(picture.transformed(number), number)
            let kept = try #require(KeptPicture(picture.size))
            _ = try update(kept, picture.transformed(number), place, order: order)
            picture.pixels[5 * picture.width + 20] = 0xFF00_FFFF
            // The damage, as the sender tells it.
            let told = Grid(picture.size, filled: PixelRectangle(x: 20, y: 5, width: 1, height: 1))
                .transformed(number).filled
            let parts = try [PictureTransform(number).upright(told, in: picture.transformed(number).size)]
            let found = try update(kept, picture.transformed(number), place, order: order, in: parts)
            #expect(found.changes == [PixelRectangle(x: 16, y: 0, width: 16, height: 16)])
            #expect(found.picture[20, 5] == (order == .bgrx ? 0xFF00_FFFF : 0xFFFF_FF00))
        }
    }

    @Test("damage is found in the upright picture, and may lie outside", arguments: numbers)
    func damage(number: UInt32) throws {
        let transform = try PictureTransform(number)
        let size = Self.upright.size
        let buffer = Self.upright.transformed(number).size
        for part in [
            PixelRectangle(x: 0, y: 0, width: 1, height: 1), PixelRectangle(x: 36, y: 20, width: 1, height: 1),
            PixelRectangle(x: 4, y: 9, width: 30, height: 2), size.whole,
        ] {
            let told = Grid(size, filled: part).transformed(number).filled
            #expect(transform.upright(told, in: buffer) == part)
        }
        let far = PixelRectangle(x: Int(Int32.min), y: Int(Int32.max), width: Int(UInt32.max), height: 1)
        #expect(transform.upright(far, in: buffer).intersection(size.whole).isEmpty)
        let larger = PixelRectangle(x: -9, y: -9, width: 1000, height: 1000)
        #expect(transform.upright(larger, in: buffer).intersection(size.whole) == size.whole)
    }

    @Test("there are eight transforms, and another number is refused")
    func unknown() {
        for number: UInt32 in [8, 9, .max] {
            #expect(throws: BufferFault.unknownTransform(number)) { try PictureTransform(number) }
        }
    }
}
