import Foundation
import MediaTypes
import RateControl
import TestSupport

/// A screen of 1920x1080 at 30 pictures a second on a clock of its own, whose pictures have the recorded sizes give or
/// take 30 %, in front of a rate controller.
struct SimulatedScreen {
    /// What goes on.
    enum Activity {
        case stillness
        case typing
        /// A page of text that moves by 12 pixels a picture. Only what comes into view is coded.
        case scroll
        /// Like a film: a close picture costs as much as any.
        case motion
        /// Another page, once.
        case pageJump
        /// Another page all the time.
        case pages
    }

    struct Sent {
        var time: MonotonicTime
        var kind: PictureKind
        var macroblocks: Int
        var qp: Int
        var byteCount: Int
    }

    var controller: RateController
    var quality = QPMap(grid: Self.grid)
    private(set) var sent: [Sent] = []
    /// Since when all has been coded at QP 18 or finer.
    private(set) var fineSince: MonotonicTime?
    /// How often a picture had to wait.
    private(set) var waits = 0
    private(set) var now = MonotonicTime.zero
    private var random: SeededRandom
    /// The last picture of the whole screen, where the map doesn't know of it yet: only the last one counts.
    private var wholeScreen: Sent?
    private var isWaiting = false
    /// When the activity began, and when a picture of it was coded last.
    private var movesSince = MonotonicTime.zero
    private var lastShown: MonotonicTime?

    static let grid = MacroblockGrid(size: PictureSize(width: 1920, height: 1080))
    static let period = Interval.microseconds(33_333)
    /// What the page of the scene `scroll` costs of the one in `RecordedSizes`.
    private static let pageFactor = 1.7
    private static let typed = PixelRectangle(x: 640, y: 500, width: 12, height: 20)

    init(bitsPerSecond: Int, seed: UInt64 = 1) {
        controller = RateController(bitRate: BitRate(bitsPerSecond: bitsPerSecond), period: Self.period)
        random = SeededRandom(seed: seed)
    }

    /// The picture that starts it all.
    mutating func start() {
        quality.selectAll()
        code(.keyFrame) { Self.pageFactor * RecordedSizes.bytes($0) { RecordedSizes.idr[$0] } }
    }

    /// Goes on for `interval` with something happening.
    mutating func run(_ activity: Activity, for interval: Interval) {
        let end = now + interval
        if case .stillness = activity {
            rest(until: end)
            return
        }
        while now < end {
            if case .pageJump = activity, wasJump(since: end - interval) {
                rest(until: end)
                return
            }
            step(activity)
        }
        // What still waits is coded although nothing moves any more.
        while isWaiting { step(activity) }
    }

    /// The bytes of the worst second that begins at `begin` or later, as a part of what `bitsPerSecond` gives.
    func worstSecond(from begin: MonotonicTime, to end: MonotonicTime = .distantFuture, bitsPerSecond: Int) -> Double {
        var worst = 0
        var bytes = 0
        var first = 0
        for last in sent {
            bytes += last.byteCount
            while sent[first].time <= last.time - .seconds(1) {
                bytes -= sent[first].byteCount
                first += 1
            }
            if last.time - .seconds(1) >= begin, last.time <= end { worst = max(worst, bytes) }
        }
        return Double(worst) * 8 / Double(bitsPerSecond)
    }

    /// What a line of `bitsPerSecond` that carries without a pause has not carried yet.
    func debt(bitsPerSecond: Int) -> Interval {
        var free = MonotonicTime.zero
        for picture in sent {
            let lineTime = Interval(nanoseconds: Int64(Double(picture.byteCount) * 8e9 / Double(bitsPerSecond)))
            free = max(free, picture.time) + lineTime
        }
        return max(.zero, free - now)
    }

    /// The most that such a line has not carried yet right after a picture, from `begin` on.
    func maxDebt(from begin: MonotonicTime, bitsPerSecond: Int) -> Interval {
        var (free, longest) = (MonotonicTime.zero, Interval.zero)
        for picture in sent {
            let lineTime = Interval(nanoseconds: Int64(Double(picture.byteCount) * 8e9 / Double(bitsPerSecond)))
            free = max(free, picture.time) + lineTime
            if picture.time >= begin { longest = max(longest, free - picture.time) }
        }
        return longest
    }

    /// Bytes of the whole seconds counted from `begin`, as parts of what `bitsPerSecond` gives.
    func seconds(from begin: MonotonicTime, to end: MonotonicTime, bitsPerSecond: Int) -> [Double] {
        var bytes = [Int](repeating: 0, count: max(0, Int((end - begin).seconds)))
        for picture in sent where picture.time >= begin {
            let second = Int((picture.time - begin).seconds)
            if second < bytes.count { bytes[second] += picture.byteCount }
        }
        return bytes.map { Double($0) * 8 / Double(bitsPerSecond) }
    }

    func pictures(_ kind: PictureKind, from begin: MonotonicTime = .zero) -> [Sent] {
        sent.filter { $0.kind == kind && $0.time >= begin }
    }

    private func wasJump(since begin: MonotonicTime) -> Bool {
        sent.contains { $0.kind == .change && $0.time >= begin }
    }

    private mutating func step(_ activity: Activity) {
        var macroblocks = Self.grid.count
        if case .typing = activity {
            settleMap()
            quality.select([Self.typed])
            macroblocks = quality.selectedCount
        }
        let start = controller.start(.change, now: now)
        if start > now {
            waits += 1
            isWaiting = true
            now = max(start, now + .microseconds(100))
            return
        }
        var isMoved = false
        if case .scroll = activity {
            // The rows that have come into view, and those at the edge.
            let gap = max(now - (lastShown ?? movesSince - Self.period), Self.period)
            let rows = min(Int(12 * gap.seconds / Self.period.seconds) / 16 + 2, Self.grid.rows)
            isMoved = rows * 16 < 400
            macroblocks = isMoved ? rows * Self.grid.columns : Self.grid.count
        }
        let decision = controller.decide(.change, macroblocks: macroblocks, isMoved: isMoved, now: now)
        finish(decision, decision.qp, size(activity, decision.qp, macroblocks))
        lastShown = now
        isWaiting = false
        now = now + Self.period
    }

    /// Nothing changes: what is coarse is refined.
    private mutating func rest(until end: MonotonicTime) {
        defer {
            movesSince = now
            lastShown = nil
        }
        settleMap()
        while now < end {
            guard let due = quality.refinementDue(to: 14) else { break }
            if due > now {
                now = min(due, end)
                continue
            }
            let (macroblocks, wait) = controller.refinementAllowance(now: now)
            guard macroblocks > 0 else {
                now = min(max(wait, now + .microseconds(100)), end)
                continue
            }
            // As the capture process does it: where it takes long until all is fine, all becomes good first.
            let isSlow = controller.refinementTime(macroblocks: quality.count(above: 18)) > .milliseconds(700)
            let target = isSlow ? 18 : 14
            let count = quality.selectForRefinement(atMost: macroblocks, to: target, now: now)
            guard count > 0 else {
                now = now + .milliseconds(1)
                continue
            }
            // Of text, from QP 25 to 36 on.
            code(.refinement, target) { _ in Double(count) * (target == 18 ? 20 : 30) }
            if quality.count(above: 18) == 0 { fineSince = fineSince ?? now } else { fineSince = nil }
            now = now + Self.period
        }
        now = max(now, end)
    }

    private mutating func code(_ kind: PictureKind, _ target: Int? = nil, _ bytes: (Int) -> Double) {
        if kind != .refinement {
            while case let start = controller.start(kind, now: now), start > now { now = start }
        }
        let decision =
            target.map { controller.given(kind, macroblocks: quality.selectedCount, qp: $0) }
            ?? controller.decide(kind, macroblocks: quality.selectedCount, now: now)
        finish(decision, decision.qp, bytes(decision.qp))
    }

    private mutating func finish(_ decision: RateController.Decision, _ qp: Int, _ bytes: Double) {
        let byteCount = Int(bytes * Double.random(in: 0.7...1.3, using: &random))
        controller.coded(decision, qp: qp, byteCount: byteCount, now: now)
        let picture = Sent(
            time: now, kind: decision.kind, macroblocks: decision.macroblocks, qp: qp,
            byteCount: byteCount)
        sent.append(picture)
        if decision.kind == .change, decision.macroblocks > 100 {
            wholeScreen = picture
        } else {
            quality.coded(qp: qp, isChange: decision.kind == .change, now: now)
        }
    }

    private mutating func settleMap() {
        guard let picture = wholeScreen else { return }
        quality.selectAll()
        quality.coded(qp: picture.qp, isChange: picture.kind == .change, now: picture.time)
        wholeScreen = nil
    }

    /// What is coded of each activity.
    private func size(_ activity: Activity, _ qp: Int, _ macroblocks: Int) -> Double {
        let picture = Int(now.nanoseconds / Self.period.nanoseconds)
        switch activity {
        case .stillness: return 0
        case .typing: return RecordedSizes.bytes(qp) { RecordedSizes.typing[$0] }
        case .pageJump, .pages: return page(qp, picture)
        case .motion:
            // All of it is new, whatever was shown before.
            return RecordedSizes.bytes(qp) { RecordedSizes.motion[$0][picture % RecordedSizes.motion[$0].count] }
        case .scroll:
            return page(qp, picture) * Double(macroblocks) / Double(Self.grid.count)
        }
    }

    private func page(_ qp: Int, _ picture: Int) -> Double {
        Self.pageFactor
            * RecordedSizes.bytes(qp) { RecordedSizes.jump[$0][picture % RecordedSizes.jump[$0].count] }
    }
}
