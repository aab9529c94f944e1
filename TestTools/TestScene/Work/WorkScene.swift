/// A scene for measurements that looks like a screen in use: pages of text, windows, a film. `Motion` selects what
/// moves, once a tick (30 a second; 60 for the pointer), always in the same way. A counter in the corner identifies
/// each picture.
///
///     +----------+-------------------------------+
///     | counter  | panel                         |
///     +----------+-------------------------------+
///     |  +------------------+ +---------------+  |
///     |  | a page of text   | | a terminal    |  |    idle, pointer, typing (into the terminal), drag, video
///     |  +------------------+ +---------------+  |
///     +------------------------------------------+
public struct WorkScene: Scene {
    /// The part that moves.
    public enum Motion: Sendable { case idle, pointer, typing, scroll, drag, video, full, flick, red }

    public let width: Int
    public let height: Int
    let motion: Motion
    /// Everything that stands still.
    let base: SceneSheet
    /// The sheets that move over it: the page, the window, or the film picture by picture; for typing, all letters at
    /// once.
    let moving: [SceneSheet]
    let plan: WorkPlan

    /// Creates the scene for a screen of this size.
    public init(_ motion: Motion, width: Int, height: Int) {
        self.width = width
        self.height = height
        self.motion = motion
        // On a screen too small for windows, whatever does not fit is cut off.
        plan = WorkPlan(width: max(320, width), height: max(240, height))
        let drawing = WorkDrawing(plan: plan)
        switch motion {
        case .idle, .pointer: (base, moving) = (drawing.desk(), [])
        case .typing: (base, moving) = (drawing.desk(hasTerminalText: false), [drawing.terminalText()])
        case .scroll, .flick: (base, moving) = (drawing.frame(around: plan.page), [drawing.longPage(motion.scroll)])
        case .drag: (base, moving) = (drawing.desk(), [drawing.window()])
        case .video: (base, moving) = (drawing.desk(), drawing.film(plan.film, frames: 15))
        case .full:
            let screen = SceneRectangle(0, 0, width, height)
            moving = drawing.film(screen, frames: 12)
            base = moving[0]
        case .red: (base, moving) = (drawing.redText(), [])
        }
    }

    /// The number of ticks until the counter goes up by one.
    public var ticksPerCount: Int { motion == .typing ? 3 : 1 }

    /// The counter's value at a tick.
    public func count(at tick: Int) -> Int {
        switch motion {
        case .idle, .pointer, .red: 0
        case .typing, .scroll, .flick, .drag, .video, .full: tick / ticksPerCount % (1 << SceneCounter.bits)
        }
    }

    public func paint<Painter: ScenePainter>(
        tick: Int, after previous: Int?, with painter: inout Painter
    ) -> [SceneRectangle] {
        let now = count(at: tick)
        let before = previous.map(count)
        if before == now { return [] }
        if before == nil { painter.draw(base, base.bounds, x: 0, y: 0) }
        var changed = paintMotion(now, before, with: &painter)
        SceneCounter.paint(now, with: &painter)
        changed.append(SceneCounter.area)
        return before == nil ? [SceneRectangle(0, 0, width, height)] : changed
    }

    public func pointer(at tick: Int) -> (x: Int, y: Int)? {
        motion == .pointer ? plan.pointer(at: tick) : plan.parkedPointer
    }

    private func paintMotion<Painter: ScenePainter>(
        _ now: Int, _ before: Int?, with painter: inout Painter
    ) -> [SceneRectangle] {
        switch motion {
        case .idle, .pointer, .red: return []
        case .typing: return paintTyping(now, before, with: &painter)
        case .scroll, .flick:
            let top = motion.scroll.top(at: now)
            painter.draw(
                moving[0], SceneRectangle(0, top, plan.page.width, plan.page.height), x: plan.page.x, y: plan.page.y)
            return [plan.page]
        case .drag:
            let place = plan.window(now)
            var changed = [place]
            if let old = before.map(plan.window) {
                painter.draw(base, old, x: old.x, y: old.y)
                changed = [old.union(place)]
            }
            painter.draw(moving[0], moving[0].bounds, x: place.x, y: place.y)
            return changed
        case .video, .full:
            let sheet = moving[now % moving.count]
            let place = motion == .video ? plan.film : sheet.bounds
            painter.draw(sheet, sheet.bounds, x: place.x, y: place.y)
            return [place]
        }
    }

    /// Uncovers the typed text letter by letter, with the cursor behind it.
    private func paintTyping<Painter: ScenePainter>(
        _ now: Int, _ before: Int?, with painter: inout Painter
    ) -> [SceneRectangle] {
        let area = plan.typing
        let count = plan.typingColumns * plan.typingRows
        guard count > 0 else { return [] }
        // At the end, typing begins again on an empty page.
        let typed = now % count
        let from = before.map { $0 % count } ?? 0
        let startsOver = typed < from
        if startsOver { painter.fill(area, WorkColors.night) }
        let first = startsOver ? 0 : from
        for index in first..<typed {
            let cell = plan.cell(index)
            painter.draw(moving[0], cell.moved(-area.x, -area.y), x: cell.x, y: cell.y)
        }
        painter.fill(plan.cell(typed).inset(1, 3), WorkColors.cursor)
        if startsOver { return [area] }
        return (first...typed).map(plan.cell)
    }
}

extension SceneRectangle {
    /// The smallest rectangle that contains both.
    func union(_ other: SceneRectangle) -> SceneRectangle {
        let left = min(x, other.x)
        let top = min(y, other.y)
        return SceneRectangle(left, top, max(right, other.right) - left, max(bottom, other.bottom) - top)
    }

    func moved(_ horizontal: Int, _ vertical: Int) -> SceneRectangle {
        SceneRectangle(x + horizontal, y + vertical, width, height)
    }
}
