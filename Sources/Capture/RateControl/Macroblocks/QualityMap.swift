public import MediaTypes

/// How finely each macroblock of the picture that viewers have is coded, and which macroblocks are to be coded now.
///
/// Call one of the `activate` methods, code a picture with the macroblocks in `active` (all others skipped), then call
/// `coded`. The storage fits the grid and is allocated once. The value has no clock; two threads must not use it at
/// once.
public struct QualityMap: Sendable {
    /// The picture's macroblocks, to which all indices refer.
    public let grid: MacroblockGrid
    /// For each macroblock, 1 if it is to be coded now ("active") or 0 if it is to be skipped, in the grid's order;
    /// `grid.count` values.
    public var active: [UInt8] { selected.flags }
    /// How many macroblocks are active.
    public var activeCount: Int { selected.count }

    /// How long a macroblock that has changed is left alone, because it may well change again.
    public static let settling = Interval.milliseconds(200)

    private var selected: ActiveMacroblocks
    private var levels: MacroblockQuantizers
    /// The quantizers before a picture was moved; scratch space of `moved`.
    private var before: MacroblockQuantizers
    private var changes: ChangeTimes
    /// Scratch space of `activateForRefinement`.
    private var tiles: RefinementTiles

    /// Creates the map before the first picture is coded; no macroblock is active.
    public init(grid: MacroblockGrid) {
        self.grid = grid
        selected = ActiveMacroblocks(grid: grid)
        levels = MacroblockQuantizers(grid: grid)
        before = levels
        changes = ChangeTimes(count: grid.count)
        tiles = RefinementTiles(grid: grid)
    }

    /// The current quantizer of each macroblock; 0 before the first picture, so that nothing is refined then.
    public var quantizers: [UInt8] { levels.values }

    /// Activates the macroblocks that `rectangles` touch, and no others.
    public mutating func activate(_ rectangles: [PixelRectangle]) {
        selected.removeAll()
        for rectangle in rectangles { selected.insert(rectangle) }
    }

    /// Activates all macroblocks.
    public mutating func activateAll() { selected.insertAll() }

    /// Activates macroblocks that are coarser than `quantizer` and have not changed for `settling`, and no others: the
    /// coarsest tiles first, from the top down.
    ///
    /// - Returns: The number of active macroblocks, at most `macroblocks`.
    public mutating func activateForRefinement(atMost macroblocks: Int, to quantizer: Int, now: MonotonicTime) -> Int {
        selected.removeAll()
        guard macroblocks > 0, coarserCount(than: quantizer) > 0 else { return 0 }
        let time = changes.time(now)
        tiles.survey(levels, changes, coarserThan: quantizer, time)
        var level = Quantizer.coarsest
        while level > quantizer, level > 0 {
            // A tile's level is the quantizer of one of its macroblocks, so a level that no macroblock has is skipped.
            // Most levels are.
            if levels.counts[level] > 0 {
                for tile in tiles.indices where Int(tiles[tile]) == level {
                    activate(tile: tile, atMost: macroblocks, coarserThan: quantizer, time)
                    if activeCount >= macroblocks { return activeCount }
                }
            }
            level -= 1
        }
        return activeCount
    }

    /// Records that the active macroblocks were coded at `quantizer`; `isChange` tells whether their content has
    /// changed.
    public mutating func coded(quantizer: Int, isChange: Bool, now: MonotonicTime) {
        let quantizer = UInt8(Quantizer.clamped(quantizer))
        let time = changes.advance(to: now)
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 {
                levels.set(quantizer, at: index)
                if isChange { changes.change(index, at: time) }
            }
        }
    }

    /// Records a picture that was predicted by moving the previous one. Each active macroblock has a state in `states`:
    ///
    /// - 0: it stayed as it was.
    /// - 1: it was coded at `quantizer`.
    /// - 2: it was copied from `x`, `y` samples away and is as fine as its source was.
    /// - 3: it was copied from there, but its chroma may be blurred: it counts as the coarser of its source and
    ///   `quantizer`.
    /// - 4 and 5: like 2 and 3, but from `second`.
    public mutating func moved(
        states: [UInt8], x: Int, y: Int, second: (x: Int, y: Int)? = nil, quantizer: Int, now: MonotonicTime
    ) {
        guard states.count == grid.count else { return }
        let quantizer = UInt8(Quantizer.clamped(quantizer))
        let time = changes.advance(to: now)
        before.copy(levels)
        for row in selected.rows {
            for column in selected.columns {
                let index = row * grid.columns + column
                guard selected.flags[index] != 0, states[index] != 0 else { continue }
                var new = quantizer
                if states[index] >= 2 {
                    let from = states[index] >= 4 ? second ?? (x, y) : (x, y)
                    let source = before.coarsest(aroundX: column * 16 + from.0, y: row * 16 + from.1)
                    new = states[index] & 1 == 0 ? source : max(source, quantizer)
                }
                levels.set(new, at: index)
                changes.changeAsAWhole(index, at: time)
            }
        }
    }

    /// Returns which of the macroblocks that `states` moves, at most `limit`, come from where the picture is coarser
    /// than `quantizer`, the upper ones first.
    public func coarselyMoved(
        states: [UInt8], x: Int, y: Int, second: (x: Int, y: Int)?, than quantizer: Int, atMost limit: Int
    ) -> [Int] {
        var found: [Int] = []
        guard states.count == grid.count, limit > 0, coarserCount(than: quantizer) > 0 else { return found }
        for row in selected.rows {
            for column in selected.columns {
                let index = row * grid.columns + column
                guard selected.flags[index] != 0, states[index] >= 2 else { continue }
                let from = states[index] >= 4 ? second ?? (x, y) : (x, y)
                let source = levels.coarsest(aroundX: column * 16 + from.0, y: row * 16 + from.1)
                guard source > quantizer else { continue }
                found.append(index)
                if found.count == limit { return found }
            }
        }
        return found
    }

    /// Records that viewers return to an earlier picture, whose quantizers were `quantizers`.
    public mutating func recall(_ quantizers: [UInt8], now: MonotonicTime) {
        guard quantizers.count == grid.count else { return }
        let time = changes.advance(to: now)
        for (index, quantizer) in quantizers.enumerated() {
            levels.set(min(quantizer, UInt8(Quantizer.coarsest)), at: index)
            changes.changeAsAWhole(index, at: time)
        }
    }

    /// Deactivates each macroblock that has the state 0 in `states`, because it hasn't changed.
    public mutating func deactivateUnchanged(_ states: [UInt8]) {
        guard states.count == grid.count else { return }
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 && states[index] == 0 {
                selected.remove(index)
            }
        }
    }

    /// Deactivates the macroblocks of a video that is coarser than `quantizer`, so that what changes beside it can be
    /// coded more finely. Nothing is deactivated unless that leaves 1 to `most` macroblocks.
    ///
    /// - Returns: Whether any were deactivated.
    public mutating func deactivateVideo(coarserThan quantizer: Int, leaving most: Int, now: MonotonicTime) -> Bool {
        if coarserCount(than: quantizer) == 0 { return false }
        let time = changes.time(now)
        // What changes within the bounds of the video is a part of it that stood still for a moment.
        var video = ActiveMacroblocks(grid: grid)
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 && changes.isVideo(index, time) {
                if Int(levels[index]) <= quantizer { continue }
                let column = index % grid.columns
                video.include(column..<column + 1, row..<row + 1)
            }
        }
        var rest = selected
        for row in video.rows {
            for index in video.indices(in: row) where rest.flags[index] != 0 { rest.remove(index) }
        }
        guard rest.count < activeCount, (1...max(1, most)).contains(rest.count) else { return false }
        selected = rest
        return true
    }

    /// How many of the macroblocks that `rectangle` touches are active, and how many aren't.
    public func count(in rectangle: PixelRectangle) -> (active: Int, inactive: Int) {
        let (columns, rows) = grid.columnsAndRows(of: rectangle)
        var active = 0
        for row in rows {
            for column in columns where selected.flags[row * grid.columns + column] != 0 { active += 1 }
        }
        return (active, columns.count * rows.count - active)
    }

    /// Whether any inactive macroblock is coarser than `quantizer`.
    public func hasCoarserOutsideActive(than quantizer: Int) -> Bool {
        var inside = 0
        let all = coarserCount(than: quantizer)
        if all == 0 || activeCount == grid.count { return false }
        for row in selected.rows {
            for index in selected.indices(in: row)
            where selected.flags[index] != 0 && Int(levels[index]) > quantizer {
                inside += 1
            }
        }
        return all > inside
    }

    /// For each quantizer, how many inactive macroblocks are coarser.
    public var coarserOutsideActive: [Int] {
        var outside = levels.counts
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 {
                outside[Int(levels[index])] -= 1
            }
        }
        var coarser = 0
        for quantizer in outside.indices.reversed() {
            (outside[quantizer], coarser) = (coarser, coarser + outside[quantizer])
        }
        return outside
    }

    /// `active`, with the inactive macroblocks that are coarser than `quantizer` as well.
    public func activeOrCoarser(than quantizer: Int) -> [UInt8] {
        var flags = selected.flags
        for index in flags.indices where Int(levels[index]) > quantizer { flags[index] = 1 }
        return flags
    }

    /// Records that the inactive macroblocks that were coarser than `quantizer` were coded again with the others.
    public mutating func codedRest(quantizer: Int) {
        let quantizer = UInt8(Quantizer.clamped(quantizer))
        for index in 0..<grid.count where levels[index] > quantizer && selected.flags[index] == 0 {
            levels.set(quantizer, at: index)
        }
    }

    /// Deactivates the lower half of the range of rows with active macroblocks; if the upper half has none, only
    /// shrinks the range to the lower half.
    ///
    /// - Returns: How many macroblocks are still active.
    public mutating func dropHalf() -> Int {
        selected.dropHalf()
        return activeCount
    }

    /// The earliest time at which a macroblock coarser than `quantizer` may be refined, which may be in the past; nil
    /// if no macroblock is coarser, which costs almost nothing to find out.
    public func refinementDue(to quantizer: Int) -> MonotonicTime? {
        guard coarserCount(than: quantizer) > 0 else { return nil }
        return changes.firstSettled { Int(levels[$0]) > quantizer }
    }

    /// How many macroblocks are coarser than `quantizer`.
    public func coarserCount(than quantizer: Int) -> Int { levels.coarserCount(than: quantizer) }

    private mutating func activate(tile: Int, atMost macroblocks: Int, coarserThan quantizer: Int, _ time: UInt32) {
        let (columns, rows) = tiles.columnsAndRows(of: tile)
        selected.include(columns, rows)
        for row in rows {
            for column in columns {
                let index = row * grid.columns + column
                guard Int(levels[index]) > quantizer, changes.isSettled(index, time) else { continue }
                if activeCount >= macroblocks { return }
                selected.insert(index)
            }
        }
    }
}
