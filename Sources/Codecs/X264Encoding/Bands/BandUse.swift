import Glibc
import VideoEncoding

/// Places the bands that cover what has changed in a picture, and decides whether to encode the picture in them.
struct BandUse {
    private let columns: Int
    private let rows: Int
    private var placement = BandPlacement(height: BandEncoder.rows)
    private var choice = BandChoice()

    /// The percentage of rows above which one slice of the whole picture is as cheap as bands.
    private static let maxBandRows = 75
    /// Up to this number, bands are always better than the whole picture.
    private static let fewBands = 2

    /// For pictures of so many macroblocks.
    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// The first macroblock row of each band, in order, as `suits` placed them.
    var starts: [Int] { placement.starts }

    /// Places the bands, and returns whether to use them.
    mutating func suits(_ mask: borrowing CodingMask) -> Bool {
        if mask.count == 0 { return true }
        guard place(mask) else { return false }
        if mask.prefersBands || starts.count <= Self.fewBands { return true }
        return choice.usesBands && isWorthwhile
    }

    /// Records the cost of a picture. It counts if the picture could have been encoded either in bands or as a whole.
    mutating func coded(_ mask: borrowing CodingMask, byteCount: Int) {
        guard mask.count > 0, !mask.prefersBands, starts.count > Self.fewBands, isWorthwhile else { return }
        choice.coded(macroblocks: mask.count, byteCount: byteCount)
    }

    /// Whether the bands that were just placed leave enough of the picture out.
    private var isWorthwhile: Bool { starts.count * BandEncoder.rows * 100 <= rows * Self.maxBandRows }

    private mutating func place(_ mask: borrowing CodingMask) -> Bool {
        let columns = columns
        return mask.isSelected.withUnsafeBufferPointer { flags in
            placement.cover(rows: rows) { row in
                guard let base = flags.baseAddress else { return false }
                return memchr(base + row * columns, 1, columns) != nil
            }
        }
    }
}
