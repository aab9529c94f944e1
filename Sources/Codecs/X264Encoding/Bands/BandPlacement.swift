/// Places bands of equal height, in macroblock rows, so that they cover all rows that are to be encoded.
struct BandPlacement {
    /// The first row of each band, in order; no two bands overlap.
    private(set) var starts: [Int] = []
    /// The height of a band in macroblock rows.
    let height: Int

    init(height: Int) {
        self.height = height
        starts.reserveCapacity(64)
    }

    /// Places bands over the rows for which `isSelected` returns true. Returns false if they would have to overlap,
    /// because the picture isn't high enough.
    mutating func cover(rows: Int, isSelected: (Int) -> Bool) -> Bool {
        starts.removeAll(keepingCapacity: true)
        guard rows >= height else { return false }
        var row = 0
        while row < rows {
            if isSelected(row) {
                starts.append(row)
                row += height
            } else {
                row += 1
            }
        }
        // The last band may extend past the bottom. Moving it up uncovers its last rows, but those are past the bottom
        // or covered by the next band.
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
