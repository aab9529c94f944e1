import CaptureEngine
import ColorConversion
import Glibc
import MediaTypes

/// The parts of the root window that the overlay covers, in tiles, and the pixels that they had before.
///
/// A tile is kept for a while after the overlay has left it: a compositing manager repaints later, and a program has to
/// repaint what it covered if there is no compositing manager. It is released only once its pixels have been read again
/// and none of them shows the overlay.
///
/// Does no I/O; the time is an argument. All areas are in the root window's coordinates.
struct CoveredTiles {
    /// The number of pixels along a tile's side: that of a macroblock.
    static let side = 16
    /// How long a tile that the overlay has left isn't read again. Compositing managers repaint within 25 ms.
    static let settling = Interval.milliseconds(150)
    /// How long a tile is kept in which the overlay still seems to be seen: the screen may have those colours itself.
    static let longestSettling = Interval.seconds(3)

    struct Tile: Hashable {
        var column: Int
        var row: Int

        var area: PixelRectangle {
            PixelRectangle(x: column * side, y: row * side, width: side, height: side)
        }
    }

    /// What has been read of a tile: the part of it that is captured, row by row without gaps.
    struct Pixels {
        let area: PixelRectangle
        var bytes: [UInt8]
    }

    private struct Kept {
        let pixels: Pixels
        let readAt: MonotonicTime
        /// nil as long as the overlay covers it.
        var leftAt: MonotonicTime?
        var nextLook = MonotonicTime.distantFuture
    }

    private let format: ScreenToPlanes.PixelFormat
    private var kept: [Tile: Kept] = [:]
    /// The colours that the overlay has had since tiles are kept, as pixels of `format`.
    private var colors: Set<UInt32> = []

    init(_ format: ScreenToPlanes.PixelFormat) { self.format = format }

    var isEmpty: Bool { kept.isEmpty }

    /// The tiles that `rectangles` touch.
    static func tiles(under rectangles: [PixelRectangle]) -> Set<Tile> {
        var tiles: Set<Tile> = []
        for rectangle in rectangles where !rectangle.isEmpty {
            for row in (rectangle.y / side)...((rectangle.y + rectangle.height - 1) / side) {
                for column in (rectangle.x / side)...((rectangle.x + rectangle.width - 1) / side) {
                    tiles.insert(Tile(column: column, row: row))
                }
            }
        }
        return tiles
    }

    /// Those of `tiles` whose pixels aren't kept yet, and have to be before the overlay covers them.
    func missing(of tiles: Set<Tile>) -> [Tile] { tiles.filter { kept[$0] == nil } }

    /// Keeps the pixels of one more tile, which have just been read; nil is ignored.
    mutating func keep(_ tile: Tile, _ pixels: Pixels?, at now: MonotonicTime) {
        if let pixels { kept[tile] = Kept(pixels: pixels, readAt: now) }
    }

    /// Notes that the overlay now covers these tiles, and no others; all of them are kept. Its colours are 0xRRGGBB.
    mutating func cover(_ tiles: Set<Tile>, colors new: Set<UInt32>, at now: MonotonicTime) {
        if colors.count > 1000 { colors = [] }
        colors.formUnion(new.map { format.pixel(of: $0) })
        for (tile, entry) in kept {
            if tiles.contains(tile) {
                kept[tile]?.leftAt = nil
                kept[tile]?.nextLook = .distantFuture
            } else if entry.leftAt == nil {
                kept[tile]?.leftAt = now
                kept[tile]?.nextLook = now + Self.settling
            }
        }
    }

    /// When `settled` has the next tile.
    var nextLook: MonotonicTime { kept.values.lazy.map(\.nextLook).min() ?? .distantFuture }

    /// The tiles that may be released if their pixels allow it, each with the area to read.
    func settled(at now: MonotonicTime) -> [Tile: PixelRectangle] {
        kept.filter { $0.value.nextLook <= now }.mapValues(\.pixels.area)
    }

    /// The tiles that may be released if their pixels allow it, each with the area to read. Releases those that are no
    /// longer wholly in `captured`, because a window or a monitor has moved: the whole captured area is then read again
    /// in any case.
    mutating func settled(in captured: PixelRectangle, at now: MonotonicTime) -> [Tile: PixelRectangle] {
        let settled = settled(at: now)
        let readable = settled.filter { $0.value.intersection(captured) == $0.value }
        if readable.count == settled.count { return settled }
        for tile in settled.keys where readable[tile] == nil { kept[tile] = nil }
        if kept.isEmpty { colors = [] }
        return readable
    }

    /// Releases a tile unless the overlay may still be seen in it. `pixels` are those that it has now; nil is ignored.
    /// Returns whether it was released and has changed.
    mutating func release(_ tile: Tile, seeing pixels: Pixels?, at now: MonotonicTime) -> Bool {
        guard let pixels, let entry = kept[tile], let leftAt = entry.leftAt else { return false }
        var isChanged = false
        // Most of the time, programs have painted the same again.
        if entry.pixels.bytes != pixels.bytes {
            let (before, after) = (values(entry.pixels), values(pixels))
            isChanged = before != after
            let showsOverlay = zip(before, after).contains { $0 != $1 && colors.contains($1) }
            if showsOverlay, now - leftAt < Self.longestSettling {
                kept[tile]?.nextLook = now + Self.settling
                return false
            }
        }
        kept[tile] = nil
        if kept.isEmpty { colors = [] }
        return isChanged
    }

    /// Has tiles read later that couldn't be read now.
    mutating func postpone(_ tiles: some Sequence<Tile>, at now: MonotonicTime) {
        for tile in tiles { kept[tile]?.nextLook = now + Self.settling }
    }

    /// The tiles that the overlay covers and that were read before `time`, each with the area to read.
    func covered(readBefore time: MonotonicTime) -> [Tile: PixelRectangle] {
        kept.filter { $0.value.leftAt == nil && $0.value.readAt <= time }.mapValues(\.pixels.area)
    }

    /// Whether the screen has changed beside the overlay in one of these covered tiles, which have these pixels now.
    func haveChanged(seeing pixels: [Tile: Pixels]) -> Bool {
        pixels.contains { tile, pixels in
            guard let entry = kept[tile], entry.leftAt == nil else { return false }
            return zip(values(entry.pixels), values(pixels)).contains { $0 != $1 && !colors.contains($1) }
        }
    }

    /// Whether the overlay covers a tile in which a part of the rectangle is.
    func cover(partOf rectangle: PixelRectangle) -> Bool {
        kept.contains { $0.value.leftAt == nil && !$0.key.area.intersection(rectangle).isEmpty }
    }

    /// Whether the whole rectangle is covered, or was until a moment ago.
    func contain(_ rectangle: PixelRectangle) -> Bool {
        // A large one would take long to look through, and is most of the time more than the overlay.
        if kept.isEmpty || rectangle.isEmpty || rectangle.x < 0 || rectangle.y < 0 { return false }
        if rectangle.width * rectangle.height > kept.count * Self.side * Self.side { return false }
        for row in rectangle.y / Self.side...(rectangle.y + rectangle.height - 1) / Self.side {
            for column in rectangle.x / Self.side...(rectangle.x + rectangle.width - 1) / Self.side
            where kept[Tile(column: column, row: row)] == nil {
                return false
            }
        }
        return true
    }

    /// Replaces the overlay in `pixels` by what it covers. Their rectangle is moved by `origin` on the root window.
    func uncover(_ pixels: GrabbedPixels, at origin: (x: Int, y: Int)) {
        for entry in kept.values {
            let area = entry.pixels.area.moved(x: -origin.x, y: -origin.y)
            let both = area.intersection(pixels.rectangle)
            if both.isEmpty { continue }
            let size = format.bytesPerPixel
            entry.pixels.bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                for y in both.y..<both.y + both.height {
                    memcpy(
                        pixels.base + (y - pixels.rectangle.y) * pixels.stride + (both.x - pixels.rectangle.x) * size,
                        base + ((y - area.y) * area.width + both.x - area.x) * size, both.width * size)
                }
            }
        }
    }

    /// The pixels as numbers, without the unused byte.
    private func values(_ pixels: Pixels) -> [UInt32] {
        let bytes = pixels.bytes
        return stride(from: 0, to: bytes.count - format.bytesPerPixel + 1, by: format.bytesPerPixel).map { index in
            let low = UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8
            return format == .bgrx ? low | UInt32(bytes[index + 2]) << 16 : low
        }
    }
}

extension CoveredTiles.Pixels {
    /// Copies the part of `grabbed` that lies in the area. The rectangle of `grabbed` is moved by `origin`.
    mutating func add(_ grabbed: GrabbedPixels, at origin: (x: Int, y: Int), _ format: ScreenToPlanes.PixelFormat) {
        let rectangle = grabbed.rectangle.moved(x: origin.x, y: origin.y)
        let both = area.intersection(rectangle)
        if both.isEmpty { return }
        let size = format.bytesPerPixel
        let area = area
        bytes.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            for y in both.y..<both.y + both.height {
                memcpy(
                    base + ((y - area.y) * area.width + both.x - area.x) * size,
                    grabbed.base + (y - rectangle.y) * grabbed.stride + (both.x - rectangle.x) * size,
                    both.width * size)
            }
        }
    }
}

extension ScreenToPlanes.PixelFormat {
    /// The pixel that shows a colour, 0xRRGGBB.
    func pixel(of color: UInt32) -> UInt32 {
        if self == .bgrx { return color }
        return color >> 8 & 0xF800 | color >> 5 & 0x07E0 | color >> 3 & 0x1F
    }
}
