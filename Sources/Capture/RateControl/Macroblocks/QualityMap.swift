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

    /// A macroblock that has kept changing for this long, without a pause, shows a video, in milliseconds. A dragged
    /// window or a flicked page doesn't stay in one place for as long.
    private static let videoBegins: UInt32 = 1_000
    /// The longest time between two changes of a video, in milliseconds; a cursor blinks more slowly.
    private static let pause: UInt32 = 400

    private var selected: ActiveMacroblocks
    /// The current quantizer of each macroblock; 0 before the first picture, so that nothing is refined then.
    public private(set) var quantizers: [UInt8]
    /// The quantizers before a picture was moved; scratch space of `moved`.
    private var before: [UInt8] = []
    /// When each macroblock last changed, in milliseconds of the monotonic clock (modulo 2^32, which is 49 days).
    private var changes: [UInt32]
    /// Since when each macroblock has kept changing, in the same unit; its last change if that was after a rest.
    private var busySince: [UInt32]
    /// When something was last coded; no time in `changes` is later than this.
    private var latest = MonotonicTime.zero
    /// How many macroblocks have each quantizer.
    private var counts = [Int](repeating: 0, count: Quantizer.coarsest + 1)
    /// For each tile, the coarsest quantizer among its macroblocks that may be refined now; scratch space of
    /// `activateForRefinement`.
    private var tiles: [UInt8]
    private let tileColumns: Int

    /// Macroblocks are refined in tiles of 8x4, so that text that belongs together becomes sharp together.
    private static let tileWidth = 8
    private static let tileHeight = 4

    /// Creates the map before the first picture is coded; no macroblock is active.
    public init(grid: MacroblockGrid) {
        self.grid = grid
        selected = ActiveMacroblocks(grid: grid)
        quantizers = [UInt8](repeating: 0, count: grid.count)
        changes = [UInt32](repeating: 0, count: grid.count)
        busySince = changes
        counts[0] = grid.count
        tileColumns = (grid.columns + Self.tileWidth - 1) / Self.tileWidth
        let tileRows = (grid.rows + Self.tileHeight - 1) / Self.tileHeight
        tiles = [UInt8](repeating: 0, count: tileColumns * tileRows)
    }

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
        let time = Self.milliseconds(max(now, latest))
        survey(quantizer, time)
        var level = Quantizer.coarsest
        while level > quantizer, level > 0 {
            // A tile's level is the quantizer of one of its macroblocks, so a level that no macroblock has is skipped.
            // Most levels are.
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

    /// Records that the active macroblocks were coded at `quantizer`; `isChange` tells whether their content has
    /// changed.
    public mutating func coded(quantizer: Int, isChange: Bool, now: MonotonicTime) {
        let quantizer = min(max(quantizer, 0), Quantizer.coarsest)
        latest = max(latest, now)
        let time = Self.milliseconds(latest)
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 {
                counts[Int(quantizers[index])] -= 1
                quantizers[index] = UInt8(quantizer)
                guard isChange else { continue }
                if time &- changes[index] > Self.pause { busySince[index] = time }
                changes[index] = time
            }
        }
        counts[quantizer] += activeCount
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
        let quantizer = UInt8(min(max(quantizer, 0), Quantizer.coarsest))
        latest = max(latest, now)
        let time = Self.milliseconds(latest)
        if before.count != quantizers.count { before = quantizers }
        for index in 0..<quantizers.count { before[index] = quantizers[index] }
        for row in selected.rows {
            for column in selected.columns {
                let index = row * grid.columns + column
                guard selected.flags[index] != 0, states[index] != 0 else { continue }
                var new = quantizer
                if states[index] >= 2 {
                    let from = states[index] >= 4 ? second ?? (x, y) : (x, y)
                    let source = coarsest(aroundX: column * 16 + from.0, y: row * 16 + from.1, in: before)
                    new = states[index] & 1 == 0 ? source : max(source, quantizer)
                }
                counts[Int(quantizers[index])] -= 1
                quantizers[index] = new
                counts[Int(new)] += 1
                changes[index] = time
                // What moves as a whole is a page or a window, not a video.
                busySince[index] = time
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
                guard coarsest(aroundX: column * 16 + from.0, y: row * 16 + from.1, in: quantizers) > quantizer else {
                    continue
                }
                found.append(index)
                if found.count == limit { return found }
            }
        }
        return found
    }

    /// Records that viewers return to an earlier picture, whose quantizers were `quantizers`.
    public mutating func recall(_ quantizers: [UInt8], now: MonotonicTime) {
        guard quantizers.count == grid.count else { return }
        latest = max(latest, now)
        let time = Self.milliseconds(latest)
        for level in counts.indices { counts[level] = 0 }
        for (index, quantizer) in quantizers.enumerated() {
            let quantizer = min(quantizer, UInt8(Quantizer.coarsest))
            self.quantizers[index] = quantizer
            counts[Int(quantizer)] += 1
            changes[index] = time
            // What comes back as a whole is a page or a window, not a video.
            busySince[index] = time
        }
    }

    /// The coarsest of `quantizers` that any of the 16x16 samples at `x`, `y` has.
    private func coarsest(aroundX x: Int, y: Int, in quantizers: [UInt8]) -> UInt8 {
        func range(_ first: Int, _ count: Int) -> ClosedRange<Int> {
            let lower = min(max(0, first >> 4), count - 1)
            return lower...max(lower, min(count - 1, (first + 15) >> 4))
        }
        var worst: UInt8 = 0
        for row in range(y, grid.rows) {
            for column in range(x, grid.columns) { worst = max(worst, quantizers[row * grid.columns + column]) }
        }
        return worst
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
        let time = Self.milliseconds(max(now, latest))
        // What changes within the bounds of the video is a part of it that stood still for a moment.
        var video = ActiveMacroblocks(grid: grid)
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 && isVideo(index, time) {
                if Int(quantizers[index]) <= quantizer { continue }
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
            where selected.flags[index] != 0 && Int(quantizers[index]) > quantizer {
                inside += 1
            }
        }
        return all > inside
    }

    /// For each quantizer, how many inactive macroblocks are coarser.
    public var coarserOutsideActive: [Int] {
        var outside = counts
        for row in selected.rows {
            for index in selected.indices(in: row) where selected.flags[index] != 0 {
                outside[Int(quantizers[index])] -= 1
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
        for index in flags.indices where Int(quantizers[index]) > quantizer { flags[index] = 1 }
        return flags
    }

    /// Records that the inactive macroblocks that were coarser than `quantizer` were coded again with the others.
    public mutating func codedRest(quantizer: Int) {
        let quantizer = UInt8(Quantizer.clamped(quantizer))
        for index in quantizers.indices where quantizers[index] > quantizer && selected.flags[index] == 0 {
            counts[Int(quantizers[index])] -= 1
            counts[Int(quantizer)] += 1
            quantizers[index] = quantizer
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

    /// Finds, for each tile, the coarsest quantizer among its macroblocks that may be refined now; 0 if there is none.
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
        selected.include(columns, rows)
        for row in rows {
            for column in columns {
                let index = row * grid.columns + column
                guard Int(quantizers[index]) > quantizer, isSettled(index, time) else { continue }
                if activeCount >= macroblocks { return }
                selected.insert(index)
            }
        }
    }

    private func isSettled(_ index: Int, _ time: UInt32) -> Bool {
        time &- changes[index] >= UInt32(Self.settling.milliseconds)
    }

    private func isVideo(_ index: Int, _ time: UInt32) -> Bool {
        time &- changes[index] <= Self.pause && time &- busySince[index] >= Self.videoBegins
    }

    private static func milliseconds(_ time: MonotonicTime) -> UInt32 {
        UInt32(truncatingIfNeeded: time.nanoseconds / 1_000_000)
    }
}
