import Glibc

/// The last rows of a band as they were in the previous picture. The next band of the same picture may refer to them,
/// but by then the shared reference picture holds the new rows. The encoders of one picture's bands share it.
final class CoveredRows {
    private var bytes: [UInt8] = []
    private let width: Int
    /// The luma row after the last one that is kept; nil if there are none.
    private var end: Int?

    private static let count = ReconstructedPicture.margin

    /// Creates an empty store for rows of `width` samples plus margins.
    init(width: Int) {
        self.width = width + 2 * ReconstructedPicture.margin
    }

    /// Discards the rows, because another picture begins.
    func removeAll() { end = nil }

    /// Keeps the rows of `picture` that precede row `end`.
    func keep(before end: Int, of picture: ReconstructedPicture) {
        self.end = end
        let planeBytes = Self.count * width
        if bytes.count < planeBytes * picture.planeCount {
            bytes = [UInt8](repeating: 0, count: planeBytes * picture.planeCount)
        }
        bytes.withUnsafeMutableBytes { kept in
            guard let base = kept.baseAddress else { return }
            for index in 0..<picture.planeCount {
                let plane = picture.plane(index)
                let first = (end - Self.count) / plane.lumaRows
                for row in 0..<Self.count / plane.lumaRows {
                    memcpy(
                        base + index * planeBytes + row * width,
                        plane.base + (first + row) * plane.stride - ReconstructedPicture.margin, width)
                }
            }
        }
    }

    /// Copies the kept rows into the margin above `picture`, whose row 0 is row `top` of the whole picture.
    func restore(into picture: ReconstructedPicture, top: Int) {
        guard let end, end <= top, top - end < Self.count else { return }
        let planeBytes = Self.count * width
        bytes.withUnsafeBytes { kept in
            guard let base = kept.baseAddress else { return }
            for index in 0..<picture.planeCount {
                let plane = picture.plane(index)
                // The first kept row within the margin is row `skipped`.
                let skipped = (top - end) / plane.lumaRows
                for row in skipped..<Self.count / plane.lumaRows {
                    let target = row - skipped - Self.count / plane.lumaRows
                    memcpy(
                        plane.base + target * plane.stride - ReconstructedPicture.margin,
                        base + index * planeBytes + row * width, width)
                }
            }
        }
    }
}
