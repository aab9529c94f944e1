import Foundation
import MediaTypes
import RateControl
import TestSupport

/// A screen of 1920x1080 at 30 pictures a second on a clock of its own, whose pictures have the recorded sizes give or take
/// 30 %, in front of a rate controller.
struct SimulatedScreen {
    /// What goes on.
    enum Activity {
        case stillness
        case typing
        case scroll
        /// A slower one whose pictures are all alike.
        case steadyScroll
        case motion
        case pageJump
    }

    struct Sent {
        var time: MonotonicTime
        var kind: PictureKind
        var macroblocks: Int
        var quantizer: Int
        var byteCount: Int
    }

    var controller: RateController
    var quality = QualityMap(grid: Self.grid)
    private(set) var sent: [Sent] = []
    /// How often a picture had to wait.
    private(set) var waits = 0
    private(set) var now = MonotonicTime.zero
    private var random: SeededRandom
    /// The last picture of the whole screen, where the map doesn't know of it yet: only the last one counts.
    private var wholeScreen: Sent?
    /// The last recorded picture that was shown.
    private var shown = 0

    static let grid = MacroblockGrid(size: PictureSize(width: 1920, height: 1080))
    static let period = Interval.microseconds(33_333)
    private static let typed = PixelRectangle(x: 640, y: 500, width: 12, height: 20)

    init(bitsPerSecond: Int, seed: UInt64 = 1) {
        controller = RateController(bitRate: BitRate(bitsPerSecond: bitsPerSecond), period: Self.period)
        random = SeededRandom(seed: seed)
    }

    /// The picture that starts it all.
    mutating func start() {
        quality.activateAll()
        code(.idr) { RecordedSizes.bytes($0) { RecordedSizes.idr[$0] } }
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
            quality.activate([Self.typed])
            macroblocks = quality.activeCount
        }
        switch controller.decide(.change, macroblocks: macroblocks, now: now) {
        case .wait(let until):
            waits += 1
            now = max(until, now + .microseconds(100))
        case .encode(let quantizer):
            let picture = Int(now.nanoseconds / Self.period.nanoseconds)
            finish(.change, macroblocks, quantizer, size(activity, quantizer, picture))
            shown = picture
            now = now + Self.period
        }
    }

    /// Nothing changes: what is coarse is refined.
    private mutating func rest(until end: MonotonicTime) {
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
            let count = quality.activateForRefinement(atMost: macroblocks, to: 14, now: now)
            guard count > 0 else {
                now = now + .milliseconds(1)
                continue
            }
            // A whole screen of text from QP 26 to 14 takes 118 kB; from a coarser one more.
            code(.refinement) { _ in Double(count) * 18 }
            now = now + Self.period
        }
        now = max(now, end)
    }

    private mutating func code(_ kind: PictureKind, _ bytes: (Int) -> Double) {
        while true {
            switch controller.decide(kind, macroblocks: quality.activeCount, now: now) {
            case .wait(let until): now = until
            case .encode(let quantizer):
                finish(kind, quality.activeCount, quantizer, bytes(quantizer))
                return
            }
        }
    }

    private mutating func finish(_ kind: PictureKind, _ macroblocks: Int, _ quantizer: Int, _ bytes: Double) {
        let byteCount = Int(bytes * Double.random(in: 0.7...1.3, using: &random))
        controller.coded(kind, macroblocks: macroblocks, quantizer: quantizer, byteCount: byteCount, now: now)
        let picture = Sent(
            time: now, kind: kind, macroblocks: macroblocks, quantizer: quantizer, byteCount: byteCount)
        sent.append(picture)
        if kind == .change, macroblocks == Self.grid.count {
            wholeScreen = picture
        } else {
            quality.coded(quantizer: quantizer, isChange: kind == .change, now: now)
        }
    }

    private mutating func settleMap() {
        guard let picture = wholeScreen else { return }
        quality.activateAll()
        quality.coded(quantizer: picture.quantizer, isChange: picture.kind == .change, now: picture.time)
        wholeScreen = nil
    }

    /// The largest of the pictures since the last one that was shown: what was left out has to be made up for.
    private func size(_ activity: Activity, _ quantizer: Int, _ picture: Int) -> Double {
        let table: [[Int]]
        switch activity {
        case .stillness: return 0
        case .typing: return RecordedSizes.bytes(quantizer) { RecordedSizes.typing[$0] }
        case .steadyScroll: return RecordedSizes.bytes(quantizer) { RecordedSizes.slowScroll[$0] }
        case .scroll: table = RecordedSizes.scroll
        case .motion: table = RecordedSizes.motion
        case .pageJump: table = RecordedSizes.jump
        }
        return RecordedSizes.bytes(quantizer) { row in
            let sizes = table[row]
            return (max(picture - 3, min(shown + 1, picture))...picture).map { sizes[$0 % sizes.count] }.max() ?? 0
        }
    }
}
