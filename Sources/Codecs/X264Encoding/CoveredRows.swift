import Glibc

/// The last rows of a band as they were in the picture before: the next band of the same picture may refer to them, and the
/// common reference has the new ones by then.
struct CoveredRows {
    private var bytes: [UInt8] = []
    private let width: Int
    /// The row of luma behind the last one that is kept; nil where none is.
    private var end: Int?

    private static let count = ReconstructedPicture.margin

    /// Nothing is kept; rows will have `width` samples and their margins.
    init(width: Int) {
        self.width = width + 2 * ReconstructedPicture.margin
    }

    /// Forgets what is kept: another picture begins.
    mutating func removeAll() { end = nil }

    /// Keeps the rows of `picture` before row `end`.
    mutating func keep(before end: Int, of picture: ReconstructedPicture) {
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

    /// Puts them into `picture`, whose row 0 is row `top` of the whole, as far as they belong into its margin above.
    func restore(into picture: ReconstructedPicture, top: Int) {
        guard let end, end <= top, top - end < Self.count else { return }
        let planeBytes = Self.count * width
        bytes.withUnsafeBytes { kept in
            guard let base = kept.baseAddress else { return }
            for index in 0..<picture.planeCount {
                let plane = picture.plane(index)
                // Row `skipped` of what is kept is the first that the margin reaches up to.
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
