public import MediaTypes

/// How finely each macroblock of the picture that viewers have is coded, and which are to be coded now.
///
/// Use: `activate...`, code a picture with the macroblocks of `active` (all others skipped), then `coded`. The storage is
/// that of a grid and is made once. A value without a clock; not to be used by two threads at once.
public struct QualityMap: Sendable {
    public let grid: MacroblockGrid
    /// 1 for each macroblock that is to be coded now ("active"), 0 for those that are to be skipped, in the grid's order;
    /// `grid.count` of them.
    public private(set) var active: [UInt8]
    /// How many are active.
    public private(set) var activeCount = 0

    /// What has changed is left alone for so long: it may well change again.
    public static let settling = Interval.milliseconds(200)

    /// The quantizer that each has now; 0 before the first picture: nothing is to be refined then.
    private var quantizers: [UInt8]
    /// The same before a picture was moved; scratch of `moved`.
    private var before: [UInt8] = []
    /// When each changed last, in milliseconds of the monotonic clock (modulo 2^32, which is 49 days).
    private var changes: [UInt32]
    /// When something was coded last: no change is later.
    private var latest = MonotonicTime.zero
    /// How many macroblocks have each quantizer.
    private var counts = [Int](repeating: 0, count: Quantizer.coarsest + 1)
    /// Of each tile, the coarsest quantizer that may be refined now; scratch of `activateForRefinement`.
    private var tiles: [UInt8]
    private let tileColumns: Int
    /// The smallest block of macroblocks around the active ones.
    private var activeColumns = 0..<0
    private var activeRows = 0..<0

    /// Refinement goes by tiles of 8x4 macroblocks: text that belongs together becomes sharp together.
    private static let tileWidth = 8
    private static let tileHeight = 4

    /// A map of a picture that nobody has yet; no macroblock is active.
    public init(grid: MacroblockGrid) {
        self.grid = grid
        active = [UInt8](repeating: 0, count: grid.count)
        quantizers = [UInt8](repeating: 0, count: grid.count)
        changes = [UInt32](repeating: 0, count: grid.count)
        counts[0] = grid.count
        tileColumns = (grid.columns + Self.tileWidth - 1) / Self.tileWidth
        let tileRows = (grid.rows + Self.tileHeight - 1) / Self.tileHeight
        tiles = [UInt8](repeating: 0, count: tileColumns * tileRows)
    }

    /// Makes the macroblocks active that `rectangles` touch, and no others.
    public mutating func activate(_ rectangles: [PixelRectangle]) {
        deactivate()
        for rectangle in rectangles {
            let (columns, rows) = grid.columnsAndRows(of: rectangle)
            if columns.isEmpty || rows.isEmpty { continue }
            include(columns, rows)
            for row in rows {
                let start = row * grid.columns
                for index in start + columns.lowerBound..<start + columns.upperBound where active[index] == 0 {
                    active[index] = 1
                    activeCount += 1
                }
            }
        }
    }

    /// Makes all macroblocks active.
    public mutating func activateAll() {
        for index in 0..<active.count { active[index] = 1 }
        activeCount = active.count
        activeColumns = 0..<grid.columns
        activeRows = 0..<grid.rows
    }

    /// Makes macroblocks active that are coarser than `quantizer` and have not changed for `settling`, and no others: the
    /// coarsest tiles first, from the top down.
    ///
    /// - Returns: how many; `macroblocks` at most.
    public mutating func activateForRefinement(atMost macroblocks: Int, to quantizer: Int, now: MonotonicTime) -> Int {
        deactivate()
        guard macroblocks > 0, coarserCount(than: quantizer) > 0 else { return 0 }
        let time = Self.milliseconds(max(now, latest))
        survey(quantizer, time)
        var level = Quantizer.coarsest
        while level > quantizer, level > 0 {
            // A tile's level is that of one of its macroblocks: most levels have none.
            if counts[level] > 0 {
                for tile in 0..<tiles.count where Int(tiles[tile]) == level {
                    activate(tile: tile, atMost: macroblocks, coarserThan: quantizer, time)
                    if activeCount >= macroblocks { return activeCount }
                }
            }
            level -= 1
        }
        return activeCount
    }

    /// The active macroblocks have been coded at `quantizer`; `isChange` says that what they show has changed.
    public mutating func coded(quantizer: Int, isChange: Bool, now: MonotonicTime) {
        let quantizer = min(max(quantizer, 0), Quantizer.coarsest)
        latest = max(latest, now)
        let time = Self.milliseconds(latest)
        for row in activeRows {
            let start = row * grid.columns
            for index in start + activeColumns.lowerBound..<start + activeColumns.upperBound where active[index] != 0 {
                counts[Int(quantizers[index])] -= 1
                quantizers[index] = UInt8(quantizer)
                if isChange { changes[index] = time }
            }
        }
        counts[quantizer] += activeCount
    }

    /// The picture before was moved: each active macroblock stayed (`states` has 0 for it), was coded at `quantizer` (1), or
    /// is what stood `x`, `y` samples from it, as fine as that was (2), or no finer than `quantizer` (3).
    public mutating func moved(states: [UInt8], x: Int, y: Int, quantizer: Int, now: MonotonicTime) {
        guard states.count == grid.count else { return }
        let quantizer = UInt8(min(max(quantizer, 0), Quantizer.coarsest))
        latest = max(latest, now)
        let time = Self.milliseconds(latest)
        if before.count != quantizers.count { before = quantizers }
        for index in 0..<quantizers.count { before[index] = quantizers[index] }
        for row in activeRows {
            for column in activeColumns {
                let index = row * grid.columns + column
                guard active[index] != 0, states[index] != 0 else { continue }
                var new = quantizer
                if states[index] >= 2 {
                    let source = coarsest(aroundX: column * 16 + x, y: row * 16 + y)
                    new = states[index] == 2 ? source : max(source, quantizer)
                }
                counts[Int(quantizers[index])] -= 1
                quantizers[index] = new
                counts[Int(new)] += 1
                changes[index] = time
            }
        }
    }

    /// What the sixteen by sixteen samples at `x`, `y` had before, at worst.
    private func coarsest(aroundX x: Int, y: Int) -> UInt8 {
        func range(_ first: Int, _ count: Int) -> ClosedRange<Int> {
            let lower = min(max(0, first >> 4), count - 1)
            return lower...max(lower, min(count - 1, (first + 15) >> 4))
        }
        var worst: UInt8 = 0
        for row in range(y, grid.rows) {
            for column in range(x, grid.columns) { worst = max(worst, before[row * grid.columns + column]) }
        }
        return worst
    }

    /// Whether a macroblock that is not active is coarser than `quantizer`.
    public func hasCoarserOutsideActive(than quantizer: Int) -> Bool {
        var inside = 0
        let all = coarserCount(than: quantizer)
        if all == 0 || activeCount == grid.count { return false }
        for row in activeRows {
            let start = row * grid.columns
            for index in start + activeColumns.lowerBound..<start + activeColumns.upperBound
            where active[index] != 0 && Int(quantizers[index]) > quantizer {
                inside += 1
            }
        }
        return all > inside
    }

    /// The quantizer of the coarsest macroblock that is not active; 0 where there is none.
    public var coarsestOutsideActive: Int {
        var outside = counts
        for row in activeRows {
            let start = row * grid.columns
            for index in start + activeColumns.lowerBound..<start + activeColumns.upperBound where active[index] != 0 {
                outside[Int(quantizers[index])] -= 1
            }
        }
        return outside.lastIndex { $0 > 0 } ?? 0
    }

    /// Lets the lower half of the rows with active macroblocks be, or the upper half where that has none; gives how many
    /// macroblocks are still active.
    public mutating func dropHalf() -> Int {
        guard activeRows.count > 1 else { return activeCount }
        let middle = activeRows.lowerBound + activeRows.count / 2
        let upper = activeRows.lowerBound..<middle
        let lower = middle..<activeRows.upperBound
        let isUpperEmpty = activeCount(in: upper) == 0
        for row in isUpperEmpty ? upper : lower {
            let start = row * grid.columns
            for index in start + activeColumns.lowerBound..<start + activeColumns.upperBound where active[index] != 0 {
                active[index] = 0
                activeCount -= 1
            }
        }
        activeRows = isUpperEmpty ? lower : upper
        return activeCount
    }

    private func activeCount(in rows: Range<Int>) -> Int {
        var count = 0
        for row in rows {
            let start = row * grid.columns
            for index in start + activeColumns.lowerBound..<start + activeColumns.upperBound {
                count += Int(active[index])
            }
        }
        return count
    }

    /// From when on a macroblock that is coarser than `quantizer` may be refined, a time that may have passed; nil where
    /// none is coarser. Costs next to nothing then.
    public func refinementDue(to quantizer: Int) -> MonotonicTime? {
        guard coarserCount(than: quantizer) > 0 else { return nil }
        let time = Self.milliseconds(latest)
        var longest: UInt32 = 0
        for index in 0..<quantizers.count where Int(quantizers[index]) > quantizer {
            longest = max(longest, time &- changes[index])
        }
        let settled = MonotonicTime(nanoseconds: latest.nanoseconds / 1_000_000 * 1_000_000)
        return settled + Self.settling - .milliseconds(Int64(longest))
    }

    /// How many macroblocks are coarser than `quantizer`.
    public func coarserCount(than quantizer: Int) -> Int {
        var count = 0
        var level = min(max(quantizer, 0), Quantizer.coarsest) + 1
        while level <= Quantizer.coarsest {
            count += counts[level]
            level += 1
        }
        return count
    }

    private mutating func deactivate() {
        for row in activeRows {
            let start = row * grid.columns
            for index in start + activeColumns.lowerBound..<start + activeColumns.upperBound { active[index] = 0 }
        }
        activeCount = 0
        activeColumns = 0..<0
        activeRows = 0..<0
    }

    private mutating func include(_ columns: Range<Int>, _ rows: Range<Int>) {
        if activeRows.isEmpty {
            activeColumns = columns
            activeRows = rows
            return
        }
        activeColumns =
            min(activeColumns.lowerBound, columns.lowerBound)..<max(activeColumns.upperBound, columns.upperBound)
        activeRows = min(activeRows.lowerBound, rows.lowerBound)..<max(activeRows.upperBound, rows.upperBound)
    }

    /// Notes for each tile what the coarsest of its macroblocks is that may be refined now; 0 where there is none.
    private mutating func survey(_ quantizer: Int, _ time: UInt32) {
        for tile in 0..<tiles.count { tiles[tile] = 0 }
        for row in 0..<grid.rows {
            let start = row * grid.columns
            let firstTile = row / Self.tileHeight * tileColumns
            for column in 0..<grid.columns {
                let own = quantizers[start + column]
                guard Int(own) > quantizer, isSettled(start + column, time) else { continue }
                let tile = firstTile + column / Self.tileWidth
                if own > tiles[tile] { tiles[tile] = own }
            }
        }
    }

    private mutating func activate(tile: Int, atMost macroblocks: Int, coarserThan quantizer: Int, _ time: UInt32) {
        let firstRow = tile / tileColumns * Self.tileHeight
        let firstColumn = tile % tileColumns * Self.tileWidth
        let columns = firstColumn..<min(firstColumn + Self.tileWidth, grid.columns)
        let rows = firstRow..<min(firstRow + Self.tileHeight, grid.rows)
        include(columns, rows)
        for row in rows {
            for column in columns {
                let index = row * grid.columns + column
                guard Int(quantizers[index]) > quantizer, isSettled(index, time) else { continue }
                if activeCount >= macroblocks { return }
                active[index] = 1
                activeCount += 1
            }
        }
    }

    private func isSettled(_ index: Int, _ time: UInt32) -> Bool {
        time &- changes[index] >= UInt32(Self.settling.milliseconds)
    }

    private static func milliseconds(_ time: MonotonicTime) -> UInt32 {
        UInt32(truncatingIfNeeded: time.nanoseconds / 1_000_000)
    }
}
