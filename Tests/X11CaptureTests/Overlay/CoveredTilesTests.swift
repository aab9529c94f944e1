import ColorConversion
import MediaTypes
import Testing

@testable import X11Capture

@Suite("the tiles that the overlay covers, or has left")
struct CoveredTilesTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private var now: MonotonicTime { start + CoveredTiles.settling }
    private let captured = PixelRectangle(x: 0, y: 0, width: 64, height: 64)

    /// Tiles that the overlay has covered and left, long enough ago to be read again.
    private func left(_ left: [CoveredTiles.Tile]) -> CoveredTiles {
        var tiles = CoveredTiles(.bgrx)
        for tile in left { tiles.keep(tile, Self.pixels(of: tile), at: start) }
        tiles.cover(Set(left), colors: [0xFF], at: start)
        tiles.cover([], colors: [], at: start)
        return tiles
    }

    private static func pixels(of tile: CoveredTiles.Tile, _ value: UInt8 = 0x80) -> CoveredTiles.Pixels {
        let area = tile.area
        return CoveredTiles.Pixels(
            area: area, bytes: [UInt8](repeating: value, count: area.width * area.height * 4))
    }

    @Test("one that isn't wholly captured any more has to be read before it is covered again")
    func moved() {
        let (inside, outside) = (CoveredTiles.Tile(column: 0, row: 0), CoveredTiles.Tile(column: 3, row: 0))
        var tiles = left([inside, outside])
        let early = tiles.settled(in: captured, at: now - .milliseconds(1))
        #expect(early.isEmpty)
        let both = tiles.settled(in: captured, at: now)
        #expect(both.keys.count == 2)
        #expect(tiles.missing(of: [inside, outside]).isEmpty)
        // The captured monitor is narrower now.
        let narrow = PixelRectangle(x: 0, y: 0, width: 56, height: 64)
        let readable = tiles.settled(in: narrow, at: now)
        #expect(readable == [inside: inside.area])
        #expect(tiles.missing(of: [inside, outside]) == [outside])
    }

    @Test("one that is released has changed if its pixels have, and is kept while it may show the overlay")
    func released() {
        let (same, other, covered) = (
            CoveredTiles.Tile(column: 0, row: 0), CoveredTiles.Tile(column: 1, row: 0),
            CoveredTiles.Tile(column: 2, row: 0)
        )
        var tiles = left([same, other, covered])
        var dot = Self.pixels(of: covered)
        dot.bytes.replaceSubrange(0..<4, with: [0xFF, 0, 0, 0])
        let isSameChanged = tiles.release(same, seeing: Self.pixels(of: same), at: now)
        #expect(!isSameChanged)
        let isOtherChanged = tiles.release(other, seeing: Self.pixels(of: other, 0x40), at: now)
        #expect(isOtherChanged)
        let isCoveredChanged = tiles.release(covered, seeing: dot, at: now)
        #expect(!isCoveredChanged)
        #expect(Set(tiles.missing(of: [same, other, covered])) == [same, other])
        #expect(tiles.nextLook == now + CoveredTiles.settling)
    }
}
