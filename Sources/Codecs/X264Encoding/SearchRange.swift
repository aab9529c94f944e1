import MediaTypes
import VideoEncoding

/// The range of x264's motion search. In a film, searching beyond a few samples finds nothing, and with film grain it
/// costs time (a twelfth) and bytes (a thirtieth). Text and windows jump further, and even where nothing has moved, the
/// same letters are found elsewhere.
public struct SearchRange {
    /// The range in samples in each direction, for a film.
    private(set) var samples = SearchRange.far

    /// For pictures that show 15 lines of a scrolled text more than those before.
    public static let farthest = 512
    /// For text: twice as many samples save 5 % of the bytes and take half as long again.
    static let ofText = 128
    /// As far as x264's simple search goes.
    public static let far = 16
    static let near = 4

    private var cost = 0.0
    // The bytes per coded macroblock that indicate film grain and none. Between them, the range doesn't change.
    private static let film = 6.3
    private static let text = 5.6
    private static let minMacroblocks = 512
    // Beyond this quantizer, motion from afar costs a film more bits than what is left of its differences: a fourteenth
    // of all of them.
    private static let coarse = 40

    /// Records a picture without text that was encoded as a whole.
    mutating func coded(macroblocks: Int, byteCount: Int, qp: Int) {
        guard macroblocks >= Self.minMacroblocks else { return }
        let new = qp > Self.coarse ? .infinity : Double(byteCount) / Double(macroblocks)
        // A page change is expensive once, so the average over several pictures decides.
        cost += (min(new, 2 * Self.film) - cost) * 0.06
        samples = cost >= Self.film ? Self.near : cost <= Self.text ? Self.far : samples
    }

    /// Whether the selected macroblocks show text, windows or drawings rather than a film: whether luma has hard edges.
    /// They are a ninth to a fifth of all pairs of neighbours in text, and less than a hundredth in films.
    static func isText(_ planes: SourcePlanes, _ selection: borrowing [UInt8], columns: Int, rows: Int) -> Bool {
        var (edges, count) = (0, 0)
        for row in 0..<rows {
            // Every eighth macroblock will do; the last column has no neighbours to its right.
            for column in stride(from: row * 3 & 7, to: columns - 1, by: 8)
            where selection[row * columns + column] != 0 {
                // One line of each, and another one of the next, so that lines of text are met wherever they are.
                let line = row * 16 + (row + column / 8) * 5 & 15
                let samples = UnsafeRawPointer(planes.luma + line * planes.lumaStride + column * 16)
                let a = samples.loadUnaligned(as: SIMD16<UInt8>.self)
                let b = (samples + 1).loadUnaligned(as: SIMD16<UInt8>.self)
                let isEdge = (pointwiseMax(a, b) &- pointwiseMin(a, b)) .> hardEdge
                edges += Int(SIMD16<UInt8>().replacing(with: 1, where: isEdge).wrappedSum())
                count += 16
            }
        }
        return edges * 100 > count * edgePercentage
    }

    private static let hardEdge: UInt8 = 32
    private static let edgePercentage = 3
}
