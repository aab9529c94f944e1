public import MediaTypes

/// The macroblocks of a picture: squares of 16x16 luma samples, numbered along the rows from the top left corner (ITU-T
/// H.264 section 6.4.1). At the right and at the bottom they may reach beyond what is visible.
public struct MacroblockGrid: Sendable, Hashable {
    /// The number of macroblocks in a row.
    public let columns: Int
    /// The number of rows of macroblocks.
    public let rows: Int

    /// The number of samples along a side of a macroblock.
    public static let side = 16
    /// The most macroblocks along a side. Level 6.2 allows at most 16 880 samples (ITU-T H.264 table A-1), so no real
    /// picture is cut off.
    private static let maxPerSide = 4_096

    /// The grid that covers a picture of `size`.
    public init(size: PictureSize) {
        columns = Self.covering(size.width)
        rows = Self.covering(size.height)
    }

    /// The number of macroblocks in the picture.
    public var count: Int { columns * rows }

    /// The columns and rows of macroblocks that `rectangle` touches; the part outside the picture is ignored.
    public func columnsAndRows(of rectangle: PixelRectangle) -> (columns: Range<Int>, rows: Range<Int>) {
        if rectangle.isEmpty { return (0..<0, 0..<0) }
        return (
            Self.touched(rectangle.x, rectangle.width, limit: columns),
            Self.touched(rectangle.y, rectangle.height, limit: rows)
        )
    }

    private static func covering(_ samples: Int) -> Int {
        let samples = min(max(samples, 0), maxPerSide * side)
        return (samples + side - 1) / side
    }

    private static func touched(_ start: Int, _ length: Int, limit: Int) -> Range<Int> {
        let (sum, overflow) = start.addingReportingOverflow(length)
        let end = min(max(overflow ? .max : sum, 0), limit * side)
        let first = min(max(start, 0), limit * side) / side
        let last = (end + side - 1) / side
        return first < last ? first..<last : 0..<0
    }
}
