import MediaTypes

/// Finds what has changed by a hash of each tile: for servers without the Damage extension.
///
/// Costs a whole grab each time it is asked, and 8 bytes a tile of memory.
struct TileComparison {
    /// Pixels along a tile's side.
    static let side = 64

    private var hashes: [UInt64] = []
    private var running: [UInt64] = []
    private var columns = 0
    private var size = PictureSize(width: 0, height: 0)
    private var isFirst = true

    /// How long after a look the next one is due, in periods, while nothing changes: 1, 1, 2, 4...
    private var lastLook: MonotonicTime?
    private var quietLooks = 0
    private static let slowest = Interval.milliseconds(500)

    /// Forgets everything: the next look finds that all has changed.
    mutating func reset(_ size: PictureSize) {
        self.size = size
        columns = (size.width + Self.side - 1) / Self.side
        let rows = (size.height + Self.side - 1) / Self.side
        hashes = [UInt64](repeating: 0, count: columns * rows)
        running = [UInt64](repeating: Self.seed, count: columns)
        isFirst = true
        quietLooks = 0
    }

    /// When the next look is due, with `period` between two looks while there are changes, or where one `isExpected`.
    func due(period: Interval, isExpected: Bool = false) -> MonotonicTime {
        guard let lastLook else { return .zero }
        if isExpected { return lastLook + period }
        // Three looks that found nothing are a pause between two pictures of a film; then ever longer.
        let doublings = min(max(0, quietLooks - 3), 10)
        return lastLook + max(period, min(period * (1 << Int64(doublings)), Self.slowest))
    }

    /// A look begins: the bands of a whole picture follow, from top to bottom.
    mutating func begin(_ now: MonotonicTime) {
        lastLook = now
        for column in running.indices { running[column] = Self.seed }
    }

    /// Looks at the next band; adds the tiles that have changed to `changes`.
    mutating func look(at pixels: GrabbedPixels, _ format: ScreenPixelFormat, changes: inout [PixelRectangle]) {
        guard pixels.rectangle.width == size.width else { return }
        for row in 0..<pixels.rectangle.height {
            let y = pixels.rectangle.y + row
            add(UnsafeRawPointer(pixels.base + row * pixels.stride), format)
            if y % Self.side == Self.side - 1 || y == size.height - 1 { finish(y / Self.side, &changes) }
        }
    }

    /// The look is over, and everything was handed in.
    mutating func end(foundChanges: Bool) {
        isFirst = false
        quietLooks = foundChanges ? 0 : min(quietLooks + 1, 100)
    }

    private static let seed: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let factor: UInt64 = 0xFF51_AFD7_ED55_8CCD

    private mutating func add(_ row: UnsafeRawPointer, _ format: ScreenPixelFormat) {
        let bytes = size.width * format.bytesPerPixel
        let tileBytes = Self.side * format.bytesPerPixel
        // The unused byte of a pixel is nobody's to compare.
        let mask: UInt64 = format == .bgrx ? 0x00FF_FFFF_00FF_FFFF : .max
        running.withUnsafeMutableBufferPointer { running in
            for column in 0..<running.count {
                let start = column * tileBytes
                let end = min(start + tileBytes, bytes)
                var hash = running[column]
                var offset = start
                while offset + 8 <= end {
                    hash = Self.mix(hash, row.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & mask)
                    offset += 8
                }
                while offset < end {
                    hash = Self.mix(hash, UInt64(row.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
                    // Of a single pixel's four bytes the last is the unused one.
                    if format == .bgrx {
                        hash = Self.mix(hash, UInt64(row.load(fromByteOffset: offset + 2, as: UInt8.self)))
                    }
                    offset += format.bytesPerPixel
                }
                running[column] = hash
            }
        }
    }

    /// A bijection of either argument: a single changed word always shows.
    @inline(__always)
    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (hash ^ word) &* factor
        return mixed << 29 | mixed >> 35
    }

    private mutating func finish(_ tileRow: Int, _ changes: inout [PixelRectangle]) {
        let top = tileRow * Self.side
        let height = min(Self.side, size.height - top)
        for column in 0..<columns {
            let index = tileRow * columns + column
            if index < hashes.count, hashes[index] != running[column] || isFirst {
                hashes[index] = running[column]
                let left = column * Self.side
                // Tiles side by side are one rectangle.
                let tile = PixelRectangle(
                    x: left, y: top, width: min(Self.side, size.width - left), height: height)
                if let last = changes.last, last.y == tile.y, last.height == height, last.x + last.width == left {
                    changes[changes.count - 1].width += tile.width
                } else {
                    changes.append(tile)
                }
            }
            running[column] = Self.seed
        }
    }
}
