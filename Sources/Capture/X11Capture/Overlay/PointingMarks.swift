import MediaTypes

/// Where viewers point, and what they have drawn, in pixels of the captured area; for as long as pages show it.
///
/// Pure; the time is an argument.
struct PointingMarks {
    /// How long a dot is shown without news of it.
    static let dotTime = Interval.seconds(1)
    /// How long a part of a line is shown.
    static let lineTime = Interval.seconds(3)
    /// The maximum number of viewers, and of the steps of one of them.
    private static let maxViewers = 50
    private static let maxSteps = 600

    struct Place: Hashable {
        var x: Int
        var y: Int
    }

    /// What is shown of one viewer.
    struct Shown: Equatable {
        var name: String
        var dot: Place?
        /// Each has one place at least.
        var lines: [[Place]]
    }

    private struct Step {
        /// nil where another line begins.
        let place: Place?
        let time: MonotonicTime
    }

    private struct Viewer {
        var name: String
        var dot: Place?
        var dotSince = MonotonicTime.zero
        var steps: [Step] = []
    }

    private var viewers: [UInt32: Viewer] = [:]

    /// Whether nothing is shown.
    var isEmpty: Bool { viewers.isEmpty }

    /// Handles the news of a viewer, where `place` converts a place of the picture.
    mutating func take(
        _ point: ViewerPoint, at now: MonotonicTime, place: (ViewerPoint.Place) -> Place
    ) {
        if viewers[point.viewer] == nil, viewers.count >= Self.maxViewers { return }
        var viewer = viewers[point.viewer] ?? Viewer(name: point.name)
        if !point.name.isEmpty { viewer.name = point.name }
        viewer.dot = point.place.map(place)
        viewer.dotSince = now
        viewer.steps += point.path.map { Step(place: $0.map(place), time: now) }
        viewer.steps.removeFirst(max(0, viewer.steps.count - Self.maxSteps))
        viewers[point.viewer] = viewer
        removeFaded(at: now)
    }

    mutating func removeAll() { viewers = [:] }

    /// Forgets what is no longer shown.
    mutating func removeFaded(at now: MonotonicTime) {
        viewers = viewers.compactMapValues { viewer in
            var viewer = viewer
            if now - viewer.dotSince >= Self.dotTime { viewer.dot = nil }
            let first = viewer.steps.firstIndex { now - $0.time < Self.lineTime } ?? viewer.steps.count + 1
            // The step before it is where the line to it begins.
            viewer.steps.removeFirst(min(max(0, first - 1), viewer.steps.count))
            return viewer.dot == nil && viewer.steps.isEmpty ? nil : viewer
        }
    }

    /// When a part of what is shown at `now` is no longer shown; never if nothing is.
    func nextFade(after now: MonotonicTime) -> MonotonicTime {
        viewers.values.reduce(MonotonicTime.distantFuture) { earliest, viewer in
            let dot: MonotonicTime = viewer.dot == nil ? .distantFuture : viewer.dotSince + Self.dotTime
            let step = viewer.steps.lazy.map { $0.time + Self.lineTime }.first { $0 > now }
            return min(earliest, dot, step ?? .distantFuture)
        }
    }

    /// What is shown, always in the same order.
    func shown(at now: MonotonicTime) -> [Shown] {
        viewers.sorted { $0.key < $1.key }.map { _, viewer in
            Shown(name: viewer.name, dot: viewer.dot, lines: Self.lines(viewer.steps, now))
        }
    }

    private static func lines(_ steps: [Step], _ now: MonotonicTime) -> [[Place]] {
        var lines: [[Place]] = []
        var line: [Place] = []
        var isFaded = true
        // One more beginning ends the last line.
        for step in steps + [Step(place: nil, time: now)] {
            if let place = step.place {
                line.append(place)
                isFaded = isFaded && now - step.time >= lineTime
            } else {
                if !isFaded { lines.append(line) }
                (line, isFaded) = ([], true)
            }
        }
        return lines
    }
}
