import CaptureEngine
import ColorConversion
import MediaTypes

/// Finds changes by comparing a hash of each tile, for servers without the Damage extension: in Debian 12 and 13, only
/// tightvncserver (Xtightvnc).
///
/// Each look costs a whole grab; the memory is 8 bytes for each tile.
struct TileComparison {
    /// The number of pixels along a tile's side.
    static let side = 64

    private var hashes: [UInt64] = []
    private var running: [UInt64] = []
    private var columns = 0
    private var size = PictureSize(width: 0, height: 0)
    private var isFirst = true

    /// The time of the last look, and the number of looks since the last change. While nothing changes, the next look
    /// is due after 1, 1, 2, 4... periods.
    private var lastLook: MonotonicTime?
    private var quietLooks = 0
    private static let slowest = Interval.milliseconds(500)

    /// Forgets everything, so that the next look reports everything as changed.
    mutating func reset(_ size: PictureSize) {
        self.size = size
        columns = (size.width + Self.side - 1) / Self.side
        let rows = (size.height + Self.side - 1) / Self.side
        hashes = [UInt64](repeating: 0, count: columns * rows)
        running = [UInt64](repeating: Self.seed, count: columns)
        isFirst = true
        quietLooks = 0
    }

    /// The time at which the next look is due: `period` after the last one while there are changes or a change
    /// `isExpected`.
    func due(period: Interval, isExpected: Bool = false) -> MonotonicTime {
        guard let lastLook else { return .zero }
        if isExpected { return lastLook + period }
        // Three looks that find nothing may fall between two pictures of a film; after that the interval grows.
        let doublings = min(max(0, quietLooks - 3), 10)
        return lastLook + max(period, min(period * (1 << Int64(doublings)), Self.slowest))
    }

    /// Begins a look. The bands of a whole picture follow, from top to bottom.
    mutating func begin(_ now: MonotonicTime) {
        lastLook = now
        for column in running.indices { running[column] = Self.seed }
    }

    /// Examines the next band, and adds the tiles that have changed to `changes`.
    mutating func look(at pixels: GrabbedPixels, _ format: ScreenToPlanes.PixelFormat, changes: inout [PixelRectangle])
    {
        guard pixels.rectangle.width == size.width else { return }
        for row in 0..<pixels.rectangle.height {
            let y = pixels.rectangle.y + row
            add(UnsafeRawPointer(pixels.base + row * pixels.stride), format)
            if y % Self.side == Self.side - 1 || y == size.height - 1 { finish(y / Self.side, &changes) }
        }
    }

    /// Ends a look in which every band was examined.
    mutating func end(foundChanges: Bool) {
        isFirst = false
        quietLooks = foundChanges ? 0 : min(quietLooks + 1, 100)
    }

    private static let seed: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let factor: UInt64 = 0xFF51_AFD7_ED55_8CCD

    private mutating func add(_ row: UnsafeRawPointer, _ format: ScreenToPlanes.PixelFormat) {
        let bytes = size.width * format.bytesPerPixel
        let tileBytes = Self.side * format.bytesPerPixel
        // The unused byte of a pixel may contain anything, so it isn't compared.
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
                    // Of a single pixel's four bytes, the last is the unused one.
                    if format == .bgrx {
                        hash = Self.mix(hash, UInt64(row.load(fromByteOffset: offset + 2, as: UInt8.self)))
                    }
                    offset += format.bytesPerPixel
                }
                running[column] = hash
            }
        }
    }

    /// A bijection in each argument, so a single changed word always changes the hash.
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
                // Adjacent tiles form one rectangle.
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
