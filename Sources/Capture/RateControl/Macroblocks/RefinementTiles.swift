/// The tiles of 8x4 macroblocks in which a picture is refined, so that text that belongs together becomes sharp
/// together.
struct RefinementTiles: Sendable {
    private let grid: MacroblockGrid
    private let columns: Int
    /// For each tile, the coarsest quantizer among its macroblocks that may be refined now; 0 if there is none.
    private var coarsest: [UInt8]

    private static let width = 8
    private static let height = 4

    /// The tiles that cover `grid`.
    init(grid: MacroblockGrid) {
        self.grid = grid
        columns = (grid.columns + Self.width - 1) / Self.width
        let rows = (grid.rows + Self.height - 1) / Self.height
        coarsest = [UInt8](repeating: 0, count: columns * rows)
    }

    /// The numbers of all tiles, from the top down.
    var indices: Range<Int> { coarsest.indices }

    /// The coarsest quantizer of a tile's macroblocks that may be refined, as `survey` found it.
    subscript(tile: Int) -> UInt8 { coarsest[tile] }

    /// Finds what may be refined at `time`: what has settled and is coarser than `qp`.
    mutating func survey(
        _ levels: borrowing MacroblockQPs, _ changes: borrowing ChangeTimes, above qp: Int,
        _ time: UInt32
    ) {
        for tile in coarsest.indices { coarsest[tile] = 0 }
        for row in 0..<grid.rows {
            let start = row * grid.columns
            let firstTile = row / Self.height * columns
            for column in 0..<grid.columns {
                let own = levels[start + column]
                guard Int(own) > qp, changes.isSettled(start + column, time) else { continue }
                let tile = firstTile + column / Self.width
                if own > coarsest[tile] { coarsest[tile] = own }
            }
        }
    }

    /// The columns and rows of macroblocks of a tile.
    func columnsAndRows(of tile: Int) -> (columns: Range<Int>, rows: Range<Int>) {
        let firstRow = tile / columns * Self.height
        let firstColumn = tile % columns * Self.width
        return (
            firstColumn..<min(firstColumn + Self.width, grid.columns),
            firstRow..<min(firstRow + Self.height, grid.rows)
        )
    }
}
