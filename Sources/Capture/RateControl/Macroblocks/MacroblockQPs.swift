/// The quantizer of each macroblock of the picture that viewers have.
struct MacroblockQPs: Sendable {
    private let grid: MacroblockGrid
    /// In the grid's order; `grid.count` values.
    private(set) var values: [UInt8]
    /// How many macroblocks have each quantizer.
    private(set) var counts: [Int]

    /// All are 0.
    init(grid: MacroblockGrid) {
        self.grid = grid
        values = [UInt8](repeating: 0, count: grid.count)
        counts = [Int](repeating: 0, count: QP.maximum + 1)
        counts[0] = grid.count
    }

    subscript(index: Int) -> UInt8 { values[index] }

    /// Sets the quantizer of a macroblock, which is at most `QP.maximum`.
    mutating func set(_ qp: UInt8, at index: Int) {
        counts[Int(values[index])] -= 1
        values[index] = qp
        counts[Int(qp)] += 1
    }

    /// Copies all values of `other`, which has an equal grid, into this value's own memory.
    mutating func copy(_ other: MacroblockQPs) {
        for index in values.indices { values[index] = other.values[index] }
        for level in counts.indices { counts[level] = other.counts[level] }
    }

    /// How many macroblocks are coarser than `qp`.
    func count(above qp: Int) -> Int {
        var count = 0
        var level = QP.clamped(qp) + 1
        while level <= QP.maximum {
            count += counts[level]
            level += 1
        }
        return count
    }

    /// The coarsest quantizer that any of the 16x16 samples at `x`, `y` has.
    func coarsest(aroundX x: Int, y: Int) -> UInt8 {
        func range(_ first: Int, _ count: Int) -> ClosedRange<Int> {
            let lower = min(max(0, first >> 4), count - 1)
            return lower...max(lower, min(count - 1, (first + 15) >> 4))
        }
        var worst: UInt8 = 0
        for row in range(y, grid.rows) {
            for column in range(x, grid.columns) { worst = max(worst, values[row * grid.columns + column]) }
        }
        return worst
    }
}
