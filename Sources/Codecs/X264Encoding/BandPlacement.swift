/// Places bands of equally many macroblock rows so that they cover all rows that are to be coded.
struct BandPlacement {
    /// The first row of each band, in order; no two bands overlap.
    private(set) var starts: [Int] = []
    /// Rows of a band.
    let height: Int

    init(height: Int) {
        self.height = height
        starts.reserveCapacity(64)
    }

    /// Places bands over the rows for which `isActive` holds; false where they would have to overlap, because the picture is
    /// too low.
    mutating func cover(rows: Int, isActive: (Int) -> Bool) -> Bool {
        starts.removeAll(keepingCapacity: true)
        guard rows >= height else { return false }
        var row = 0
        while row < rows {
            if isActive(row) {
                starts.append(row)
                row += height
            } else {
                row += 1
            }
        }
        // The last may stick out below; what a band gives up at its end when it is moved up, the next one covers.
        var limit = rows
        var index = starts.count - 1
        while index >= 0, starts[index] + height > limit {
            starts[index] = limit - height
            limit = starts[index]
            index -= 1
        }
        return starts.first.map { $0 >= 0 } ?? true
    }
}
