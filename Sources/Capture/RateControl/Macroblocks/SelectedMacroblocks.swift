import MediaTypes

/// The macroblocks that are to be coded now ("selected"), and the bounding box that holds all of them.
struct SelectedMacroblocks: Sendable {
    let grid: MacroblockGrid
    /// For each macroblock, 1 if it is selected and 0 if it isn't, in the grid's order; `grid.count` values.
    private(set) var flags: [UInt8]
    /// How many macroblocks are selected.
    private(set) var count = 0
    /// The rows of the bounding box.
    private(set) var rows = 0..<0
    private(set) var columns = 0..<0

    /// No macroblock is selected.
    init(grid: MacroblockGrid) {
        self.grid = grid
        flags = [UInt8](repeating: 0, count: grid.count)
    }

    /// The indices of the macroblocks that the bounding box has in `row`, selected or not.
    func indices(in row: Int) -> Range<Int> {
        let start = row * grid.columns
        return start + columns.lowerBound..<start + columns.upperBound
    }

    mutating func removeAll() {
        for row in rows {
            for index in indices(in: row) { flags[index] = 0 }
        }
        count = 0
        columns = 0..<0
        rows = 0..<0
    }

    /// Selects all macroblocks.
    mutating func insertAll() {
        for index in 0..<flags.count { flags[index] = 1 }
        count = flags.count
        columns = 0..<grid.columns
        rows = 0..<grid.rows
    }

    /// Selects the macroblocks that `rectangle` touches.
    mutating func insert(_ rectangle: PixelRectangle) {
        let (columns, rows) = grid.columnsAndRows(of: rectangle)
        if columns.isEmpty || rows.isEmpty { return }
        include(columns, rows)
        for row in rows {
            let start = row * grid.columns
            for index in start + columns.lowerBound..<start + columns.upperBound where flags[index] == 0 {
                insert(index)
            }
        }
    }

    /// Selects a macroblock that isn't selected and lies in the bounding box.
    mutating func insert(_ index: Int) {
        flags[index] = 1
        count += 1
    }

    /// Deselects a selected macroblock; the bounding box stays.
    mutating func remove(_ index: Int) {
        flags[index] = 0
        count -= 1
    }

    /// Extends the bounding box.
    mutating func include(_ newColumns: Range<Int>, _ newRows: Range<Int>) {
        if rows.isEmpty {
            columns = newColumns
            rows = newRows
            return
        }
        columns = min(columns.lowerBound, newColumns.lowerBound)..<max(columns.upperBound, newColumns.upperBound)
        rows = min(rows.lowerBound, newRows.lowerBound)..<max(rows.upperBound, newRows.upperBound)
    }

    /// Deselects the lower half of the bounding box; if the upper half has no selected macroblock, only shrinks the box
    /// to the lower half.
    mutating func dropHalf() {
        guard rows.count > 1 else { return }
        let middle = rows.lowerBound + rows.count / 2
        let upper = rows.lowerBound..<middle
        let lower = middle..<rows.upperBound
        let isUpperEmpty = !upper.contains { row in indices(in: row).contains { flags[$0] != 0 } }
        for row in isUpperEmpty ? upper : lower {
            for index in indices(in: row) where flags[index] != 0 {
                flags[index] = 0
                count -= 1
            }
        }
        rows = isUpperEmpty ? lower : upper
    }
}
