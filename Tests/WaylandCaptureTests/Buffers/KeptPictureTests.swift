import MediaTypes
import TestSupport
import Testing

@testable import WaylandCapture

@Suite("comparison with the last picture")
struct KeptPictureTests {
    private let size = PictureSize(width: 201, height: 67)

    /// Updates `kept` from `pixels`, whose rows are `columns` long, and returns what has changed.
    private func update(
        _ kept: KeptPicture, _ pixels: [UInt32], columns: Int = 201, order: CastFormat.Order = .bgrx,
        in parts: [PixelRectangle]? = nil
    ) -> [PixelRectangle] {
        var changes: [PixelRectangle] = []
        pixels.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            kept.update(
                from: KeptPicture.Pixels(base: base, rowStep: columns * 4, order: order), in: parts ?? [size.whole],
                changes: &changes)
        }
        return changes
    }

    private func pixel(_ kept: KeptPicture, _ x: Int, _ y: Int) -> UInt32 {
        kept.base.loadUnaligned(fromByteOffset: y * kept.stride + x * 4, as: UInt32.self)
    }

    @Test("each pixel that changes is found and kept, in the macroblock that it belongs to")
    func everyPixel() throws {
        let kept = try #require(KeptPicture(size))
        var pixels = [UInt32](repeating: 0, count: 201 * 67)
        #expect(update(kept, pixels) == [size.whole])
        #expect(update(kept, pixels).isEmpty)
        var random = SeededRandom(seed: 7)
        for step in 0..<300 {
            // The last corner as well.
            let x = step == 0 ? 200 : Int.random(in: 0...200, using: &random)
            let y = step == 0 ? 66 : Int.random(in: 0...66, using: &random)
            let value = UInt32(step + 1)
            pixels[y * 201 + x] = value
            let block = PixelRectangle(x: x / 16 * 16, y: y / 16 * 16, width: 16, height: 16)
            #expect(update(kept, pixels) == [block.intersection(size.whole)])
            #expect(pixel(kept, x, y) == value)
        }
        for y in 0..<67 {
            for x in 0..<201 where pixel(kept, x, y) != pixels[y * 201 + x] {
                Issue.record("(\(x), \(y))")
                return
            }
        }
    }

    @Test("what has changed all over is one rectangle")
    func everything() throws {
        let kept = try #require(KeptPicture(size))
        _ = update(kept, [UInt32](repeating: 0, count: 201 * 67))
        #expect(update(kept, [UInt32](repeating: 5, count: 201 * 67)) == [size.whole])
    }

    @Test("only the told parts are compared, and what was left out is found later")
    func parts() throws {
        let kept = try #require(KeptPicture(size))
        var pixels = [UInt32](repeating: 0, count: 201 * 67)
        _ = update(kept, pixels)
        pixels[0] = 1
        pixels[66 * 201 + 200] = 2
        let corner = PixelRectangle(x: 198, y: 64, width: 3, height: 3)
        #expect(update(kept, pixels, in: [corner]) == [PixelRectangle(x: 192, y: 64, width: 9, height: 3)])
        #expect(pixel(kept, 0, 0) == 0)
        #expect(update(kept, pixels) == [PixelRectangle(x: 0, y: 0, width: 16, height: 16)])
    }

    /// Whether a few rows of `kept` are those of `pixels`.
    private func sampleMatches(_ kept: KeptPicture, _ pixels: [UInt32], _ order: CastFormat.Order = .bgrx) -> Bool {
        pixels.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return kept.sampleMatches(KeptPicture.Pixels(base: base, rowStep: 201 * 4, order: order))
        }
    }

    @Test("a few rows are those of the last picture until one of them changes, and all rows come in turn")
    func samples() throws {
        for order in [CastFormat.Order.bgrx, .rgbx] {
            let kept = try #require(KeptPicture(size))
            var pixels = [UInt32](repeating: 0xFF11_2233, count: 201 * 67)
            #expect(!sampleMatches(kept, pixels, order))
            _ = update(kept, pixels, order: order)
            for _ in 0..<16 { #expect(sampleMatches(kept, pixels, order)) }
            for y in [0, 15, 16, 40, 66] {
                pixels[y * 201 + 200] = 0xFF11_2234
                let found = (0..<16).count { _ in !sampleMatches(kept, pixels, order) }
                #expect(found == 1)
                _ = update(kept, pixels, order: order)
            }
        }
    }

    @Test("red first becomes blue first, from rows of any length")
    func order() throws {
        let kept = try #require(KeptPicture(size))
        var pixels = [UInt32](repeating: 0xFF11_2233, count: 210 * 67)
        _ = update(kept, pixels, columns: 210, order: .rgbx)
        #expect(pixel(kept, 0, 0) == 0xFF33_2211 && pixel(kept, 200, 66) == 0xFF33_2211)
        #expect(update(kept, pixels, columns: 210, order: .rgbx).isEmpty)
        pixels[20 * 210 + 100] = 0xFF00_00EE
        #expect(
            update(kept, pixels, columns: 210, order: .rgbx) == [PixelRectangle(x: 96, y: 16, width: 16, height: 16)])
        #expect(pixel(kept, 100, 20) == 0xFFEE_0000)
    }
}
