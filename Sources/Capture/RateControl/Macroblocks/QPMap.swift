public import MediaTypes

/// How finely each macroblock of the picture that viewers have is coded, and which macroblocks are to be coded now.
///
/// Call one of the `select` methods, code a picture with the macroblocks in `selection` (all others skipped), then call
/// `coded`. The storage fits the grid and is allocated once. The value has no clock; two threads must not use it at
/// once.
public struct QPMap: Sendable {
    /// The picture's macroblocks, to which all indices refer.
    public let grid: MacroblockGrid
    /// For each macroblock, 1 if it is to be coded now ("selected") or 0 if it is to be skipped, in the grid's order;
    /// `grid.count` values.
    public var selection: [UInt8] { selected.flags }
    /// How many macroblocks are selected.
    public var selectedCount: Int { selected.count }

    /// How long a macroblock that has changed isn't refined, because it may well change again.
    public static let settling = Interval.milliseconds(200)

    private var selected: SelectedMacroblocks
    private var levels: MacroblockQPs
    /// The QPs before a picture was moved; scratch space of `moved`.
    private var before: MacroblockQPs
    private var changes: ChangeTimes
    /// Scratch space of `selectForRefinement`.
    private var tiles: RefinementTiles

    /// Creates the map before the first picture is coded; no macroblock is selected.
    public init(grid: MacroblockGrid) {
        self.grid = grid
        selected = SelectedMacroblocks(grid: grid)
        levels = MacroblockQPs(grid: grid)
        before = levels
        changes = ChangeTimes(count: grid.count)
        tiles = RefinementTiles(grid: grid)
    }

    /// The current quantizer of each macroblock; 0 before the first picture, so that nothing is refined then.
    public var qps: [UInt8] { levels.values }

    /// Selects the macroblocks that `rectangles` touch, and no others.
    public mutating func select(_ rectangles: [PixelRectangle]) {
        selected.removeAll()
        for rectangle in rectangles { selected.insert(rectangle) }
    }

    /// Selects all macroblocks.
    public mutating func selectAll() { selected.insertAll() }

    /// Selects macroblocks that are coarser than `qp` and have not changed for `settling`, and no others: the
    /// coarsest tiles first, from the top down.
    ///
    /// - Returns: The number of selected macroblocks, at most `macroblocks`.
    public mutating func selectForRefinement(atMost macroblocks: Int, to qp: Int, now: MonotonicTime) -> Int {
        selected.removeAll()
        guard macroblocks > 0, count(above: qp) > 0 else { return 0 }
        let time = changes.time(now)
        tiles.survey(levels, changes, above: qp, time)
        var level = QP.maximum
        while level > qp, level > 0 {
            // A tile's level is the QP of one of its macroblocks, so a level that no macroblock has is skipped.
            // Most levels are.
            if levels.counts[level] > 0 {
                for tile in tiles.indices where Int(tiles[tile]) == level {
                    select(tile: tile, atMost: macroblocks, above: qp, time)
                    if selectedCount >= macroblocks { return selectedCount }
                }
            }
            level -= 1
        }
        return selectedCount
    }

    /// Records that the selected macroblocks were coded at `qp`; `isChange` tells whether their content has
    /// changed.
    public mutating func coded(qp: Int, isChange: Bool, now: MonotonicTime) {
        let qp = UInt8(QP.clamped(qp))
        let time = changes.advance(to: now)
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 {
                levels.set(qp, at: index)
                if isChange { changes.change(index, at: time) }
            }
        }
    }

    /// Records a picture that was predicted by moving the previous one. Each selected macroblock has a state in
    /// `states`:
    ///
    /// - 0: it stayed as it was.
    /// - 1: it was coded at `qp`.
    /// - 2: it was copied from `x`, `y` samples away and is as fine as its source was.
    /// - 3: it was copied from there, but its chroma may be blurred: it counts as the coarser of its source and
    ///   `qp`.
    /// - 4 and 5: like 2 and 3, but from `second`.
    public mutating func moved(
        states: [UInt8], x: Int, y: Int, second: (x: Int, y: Int)? = nil, qp: Int, now: MonotonicTime
    ) {
        guard states.count == grid.count else { return }
        let qp = UInt8(QP.clamped(qp))
        let time = changes.advance(to: now)
        before.copy(levels)
        for row in selected.rows {
            for column in selected.columns {
                let index = row * grid.columns + column
                guard selected.flags[index] != 0, states[index] != 0 else { continue }
                var new = qp
                if states[index] >= 2 {
                    let from = states[index] >= 4 ? second ?? (x, y) : (x, y)
                    let source = before.coarsest(aroundX: column * 16 + from.0, y: row * 16 + from.1)
                    new = states[index] & 1 == 0 ? source : max(source, qp)
                }
                levels.set(new, at: index)
                changes.changeAsAWhole(index, at: time)
            }
        }
    }

    /// Returns which of the macroblocks that `states` moves, at most `limit`, come from where the picture is coarser
    /// than `qp`, the upper ones first.
    public func coarselyMoved(
        states: [UInt8], x: Int, y: Int, second: (x: Int, y: Int)?, than qp: Int, atMost limit: Int
    ) -> [Int] {
        var found: [Int] = []
        guard states.count == grid.count, limit > 0, count(above: qp) > 0 else { return found }
        for row in selected.rows {
            for column in selected.columns {
                let index = row * grid.columns + column
                guard selected.flags[index] != 0, states[index] >= 2 else { continue }
                let from = states[index] >= 4 ? second ?? (x, y) : (x, y)
                let source = levels.coarsest(aroundX: column * 16 + from.0, y: row * 16 + from.1)
                guard source > qp else { continue }
                found.append(index)
                if found.count == limit { return found }
            }
        }
        return found
    }

    /// Records that viewers return to an earlier picture, whose qps were `qps`.
    public mutating func recall(_ qps: [UInt8], now: MonotonicTime) {
        guard qps.count == grid.count else { return }
        let time = changes.advance(to: now)
        for (index, qp) in qps.enumerated() {
            levels.set(min(qp, UInt8(QP.maximum)), at: index)
            changes.changeAsAWhole(index, at: time)
        }
    }

    /// Deselects each macroblock that has the state 0 in `states`, because it hasn't changed.
    public mutating func deselectUnchanged(_ states: [UInt8]) {
        guard states.count == grid.count else { return }
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 && states[index] == 0 {
                selected.remove(index)
            }
        }
    }

    /// Deselects the macroblocks of a video that is coarser than `qp`, so that what changes beside it can be
    /// coded more finely. Nothing is deselected unless that leaves 1 to `most` macroblocks.
    ///
    /// - Returns: Whether any were deselected.
    public mutating func deselectVideo(above qp: Int, leaving most: Int, now: MonotonicTime) -> Bool {
        if count(above: qp) == 0 { return false }
        let time = changes.time(now)
        // What changes within the bounds of the video is a part of it that stood still for a moment.
        var video = SelectedMacroblocks(grid: grid)
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 && changes.isVideo(index, time) {
                if Int(levels[index]) <= qp { continue }
                let column = index % grid.columns
                video.include(column..<column + 1, row..<row + 1)
            }
        }
        var rest = selected
        for row in video.rows {
            for index in video.indices(in: row) where rest.flags[index] != 0 { rest.remove(index) }
        }
        guard rest.count < selectedCount, (1...max(1, most)).contains(rest.count) else { return false }
        selected = rest
        return true
    }

    /// How many of the macroblocks that `rectangle` touches are selected, and how many aren't.
    public func count(in rectangle: PixelRectangle) -> (selected: Int, unselected: Int) {
        let (columns, rows) = grid.columnsAndRows(of: rectangle)
        var count = 0
        for row in rows {
            for column in columns where selected.flags[row * grid.columns + column] != 0 { count += 1 }
        }
        return (count, columns.count * rows.count - count)
    }

    /// Whether any unselected macroblock is coarser than `qp`.
    public func hasUnselected(above qp: Int) -> Bool {
        var inside = 0
        let all = count(above: qp)
        if all == 0 || selectedCount == grid.count { return false }
        for row in selected.rows {
            for index in selected.indices(in: row)
            where selected.flags[index] != 0 && Int(levels[index]) > qp {
                inside += 1
            }
        }
        return all > inside
    }

    /// For each quantizer, how many unselected macroblocks are coarser.
    public var unselectedCountsAbove: [Int] {
        var outside = levels.counts
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 {
                outside[Int(levels[index])] -= 1
            }
        }
        var coarser = 0
        for qp in outside.indices.reversed() {
            (outside[qp], coarser) = (coarser, coarser + outside[qp])
        }
        return outside
    }

    /// `selection`, with the unselected macroblocks that are coarser than `qp` as well.
    public func selection(withAllAbove qp: Int) -> [UInt8] {
        var flags = selected.flags
        for index in flags.indices where Int(levels[index]) > qp { flags[index] = 1 }
        return flags
    }

    /// Records that the unselected macroblocks that were coarser than `qp` were coded again with the others.
    public mutating func codedRest(qp: Int) {
        let qp = UInt8(QP.clamped(qp))
        for index in 0..<grid.count where levels[index] > qp && selected.flags[index] == 0 {
            levels.set(qp, at: index)
        }
    }

    /// Deselects the lower half of the range of rows with selected macroblocks; if the upper half has none, only
    /// shrinks the range to the lower half.
    ///
    /// - Returns: How many macroblocks are still selected.
    public mutating func dropHalf() -> Int {
        selected.dropHalf()
        return selectedCount
    }

    /// The earliest time at which a macroblock coarser than `qp` may be refined, which may be in the past; nil
    /// if no macroblock is coarser, which costs almost nothing to find out.
    public func refinementDue(to qp: Int) -> MonotonicTime? {
        guard count(above: qp) > 0 else { return nil }
        return changes.firstSettled { Int(levels[$0]) > qp }
    }

    /// How many macroblocks are coarser than `qp`.
    public func count(above qp: Int) -> Int { levels.count(above: qp) }

    private mutating func select(tile: Int, atMost macroblocks: Int, above qp: Int, _ time: UInt32) {
        let (columns, rows) = tiles.columnsAndRows(of: tile)
        selected.include(columns, rows)
        for row in rows {
            for column in columns {
                let index = row * grid.columns + column
                guard Int(levels[index]) > qp, changes.isSettled(index, time) else { continue }
                if selectedCount >= macroblocks { return }
                selected.insert(index)
            }
        }
    }
}
