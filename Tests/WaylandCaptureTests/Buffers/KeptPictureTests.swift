import CaptureEngine
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
            kept.settle()
        }
        return changes
    }

    private func pixel(_ kept: KeptPicture, _ x: Int, _ y: Int) -> UInt32 {
        kept.pixels(of: PixelRectangle(x: x, y: y, width: 1, height: 1)).base.loadUnaligned(as: UInt32.self)
    }

    @Test("a large change is read from the other memory until it is copied, and a small one is copied at once")
    func copiesLater() throws {
        for isLarge in [true, false] {
            let kept = try #require(KeptPicture(size))
            _ = update(kept, [UInt32](repeating: 0, count: 201 * 67))
            // Rows are longer than those that are kept.
            var pixels = [UInt32](repeating: 0, count: 210 * 67)
            for y in 20..<(isLarge ? 60 : 30) { for x in 0..<201 { pixels[y * 210 + x] = UInt32(y * 1000 + x) } }
            var changes: [PixelRectangle] = []
            pixels.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                let new = KeptPicture.Pixels(base: base, rowStep: 210 * 4, order: .bgrx)
                let isNeeded = kept.update(from: new, in: [size.whole], changes: &changes)
                #expect(isNeeded == isLarge)
                #expect(pixel(kept, 200, 29) == 29_200 && pixel(kept, 5, 66) == 0)
                base.storeBytes(of: 7, toByteOffset: (29 * 210 + 200) * 4, as: UInt32.self)
                #expect(pixel(kept, 200, 29) == (isLarge ? 7 : 29_200))
                kept.settle()
            }
            #expect(changes == [PixelRectangle(x: 0, y: 16, width: 201, height: isLarge ? 48 : 16)])
            #expect(pixel(kept, 200, 29) == (isLarge ? 7 : 29_200) && pixel(kept, 0, 21) == 21_000)
        }
    }

    @Test("after a change whose memory is lost before it is copied, all of the next picture counts as changed")
    func lost() throws {
        let kept = try #require(KeptPicture(size))
        _ = update(kept, [UInt32](repeating: 0, count: 201 * 67))
        var pixels = [UInt32](repeating: 5, count: 201 * 67)
        var changes: [PixelRectangle] = []
        pixels.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            let new = KeptPicture.Pixels(base: base, rowStep: 201 * 4, order: .bgrx)
            #expect(kept.update(from: new, in: [size.whole], changes: &changes))
            kept.loseNewest()
        }
        #expect(pixel(kept, 0, 0) == 0)
        // Viewers may have been sent the lost one, so what is the same as before has changed for them.
        pixels[0] = 0
        let damage = PixelRectangle(x: 100, y: 48, width: 1, height: 1)
        #expect(update(kept, pixels, in: [damage]) == [size.whole])
        #expect(pixel(kept, 0, 0) == 0 && pixel(kept, 1, 0) == 5)
        #expect(update(kept, pixels) == [])
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
