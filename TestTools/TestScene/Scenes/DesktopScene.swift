import Glibc

/// A scene that looks like a desktop in use: hills, a panel with a clock, a page of notes, a terminal in which somebody
/// types, and a ball that bounces in a window of its own.
///
/// It is drawn in units of one 360th of the height. Each tick repaints only what moved.
public struct DesktopScene: Scene {
    public let width: Int
    public let height: Int
    let ticksPerSecond: Int
    let unit: Int
    let font: PixelFont

    /// Creates the scene for a screen of this size, with `ticksPerSecond` ticks a second.
    public init(width: Int, height: Int, ticksPerSecond: Int) {
        self.width = width
        self.height = height
        self.ticksPerSecond = max(1, ticksPerSecond)
        unit = max(1, height / 360)
        font = PixelFont(dot: unit)
    }

    public func paint<Painter: ScenePainter>(
        tick: Int, after previous: Int?, with painter: inout Painter
    ) -> [SceneRectangle] {
        let now = milliseconds(tick)
        let before = previous.map(milliseconds)
        var changed: [SceneRectangle] = []
        if before == nil {
            paintBackground(with: &painter)
            paintPanel(with: &painter)
            paintWindow(notes, "Notes", Palette.paper, with: &painter)
            paintNotes(with: &painter)
            paintWindow(terminal, "Terminal", Palette.night, with: &painter)
            paintWindow(court, "Bounce", Palette.court, with: &painter)
            changed = [SceneRectangle(0, 0, width, height)]
        }
        if before.map({ $0 / 1000 != now / 1000 }) ?? true { changed.append(paintClock(now, with: &painter)) }
        if before.map({ progress($0) != progress(now) }) ?? true { changed.append(paintProgress(now, with: &painter)) }
        changed += paintTerminal(now, before, with: &painter)
        if before != now { changed += paintBall(now, before, with: &painter) }
        return changed
    }

    private func milliseconds(_ tick: Int) -> Int { tick * 1000 / ticksPerSecond }

    // MARK: Where things are

    private var panelHeight: Int { 20 * unit }
    private var gap: Int { 20 * unit }
    private var leftWidth: Int { (width - 3 * gap) * 46 / 100 }
    var notes: SceneRectangle {
        SceneRectangle(gap, panelHeight + gap, leftWidth, (height - panelHeight - 3 * gap) * 60 / 100)
    }
    var court: SceneRectangle {
        SceneRectangle(gap, notes.bottom + gap, leftWidth, height - notes.bottom - 2 * gap)
    }
    var terminal: SceneRectangle {
        let left = notes.right + gap
        return SceneRectangle(left, panelHeight + gap, width - left - gap, height - panelHeight - 2 * gap)
    }
    /// The inside of a window, below its title bar.
    func content(of window: SceneRectangle) -> SceneRectangle {
        SceneRectangle(window.x, window.y + 16 * unit, window.width, window.height - 16 * unit)
    }

    // MARK: What stands still

    private func paintBackground<Painter: ScenePainter>(with painter: inout Painter) {
        let bands = 64
        for band in 0..<bands {
            let top = height * band / bands
            let color = Palette.zenith.mixed(with: Palette.horizon, band, of: bands - 1)
            painter.fill(SceneRectangle(0, top, width, height * (band + 1) / bands - top), color)
        }
        let hills: [(base: Double, swell: Double, waves: Double, phase: Double, color: SceneColor)] = [
            (0.62, 0.07, 1.6, 0.4, SceneColor(92, 84, 140)), (0.74, 0.06, 2.3, 2.1, SceneColor(64, 66, 118)),
            (0.87, 0.05, 3.1, 4.0, SceneColor(40, 46, 92)),
        ]
        for hill in hills {
            for x in stride(from: 0, to: width, by: unit) {
                let angle = Double(x) / Double(max(1, width)) * hill.waves * 2 * Double.pi + hill.phase
                let top = Int((hill.base + hill.swell * sin(angle)) * Double(height))
                painter.fill(SceneRectangle(x, top, unit, height - top), hill.color)
            }
        }
    }

    private func paintPanel<Painter: ScenePainter>(with painter: inout Painter) {
        painter.fill(SceneRectangle(0, 0, width, panelHeight), Palette.panel)
        painter.fill(SceneRectangle(8 * unit, 6 * unit, 8 * unit, 8 * unit), Palette.accent)
        painter.fill(SceneRectangle(10 * unit, 8 * unit, 4 * unit, 4 * unit), Palette.panel)
        let left = 24 * unit
        font.paint("Files   Edit   View   Help", x: left, y: 7 * unit, limit: width / 2, Palette.bright, with: &painter)
    }

    private func paintWindow<Painter: ScenePainter>(
        _ window: SceneRectangle, _ title: String, _ color: SceneColor, with painter: inout Painter
    ) {
        painter.fill(
            SceneRectangle(window.x + 3 * unit, window.y + 3 * unit, window.width, window.height), Palette.shadow)
        painter.fill(SceneRectangle(window.x, window.y, window.width, 16 * unit), Palette.title)
        painter.fill(content(of: window), color)
        for (index, light) in [SceneColor(236, 95, 86), SceneColor(242, 190, 64), SceneColor(98, 196, 84)].enumerated()
        {
            paintDisc(
                x: window.x + (9 + 11 * index) * unit, y: window.y + 8 * unit, radius: 3 * unit, light, with: &painter)
        }
        let textWidth = title.count * font.advance
        font.paint(
            title, x: window.x + (window.width - textWidth) / 2, y: window.y + 5 * unit, limit: window.right,
            Palette.bright, with: &painter)
    }

    private func paintNotes<Painter: ScenePainter>(with painter: inout Painter) {
        let page = content(of: notes).inset(10 * unit, 8 * unit)
        PixelFont(dot: unit * 2).paint(
            "Today", x: page.x, y: page.y, limit: page.right, Palette.ink, with: &painter)
        let tasks = [
            (true, "Water the plants"), (true, "Answer Ada's letter"), (true, "Book the ferry for June"),
            (false, "Show the new map to everyone"), (false, "Order paint: two tins of blue"),
            (false, "Tune the piano"), (false, "Bread, pears, coffee"),
        ]
        var y = page.y + 24 * unit
        for (isDone, task) in tasks where y + 8 * unit < page.bottom - 20 * unit {
            painter.fill(SceneRectangle(page.x, y, 7 * unit, 7 * unit), Palette.ink)
            painter.fill(
                SceneRectangle(page.x + unit, y + unit, 5 * unit, 5 * unit), isDone ? Palette.accent : Palette.paper)
            font.paint(
                task, x: page.x + 12 * unit, y: y, limit: page.right, isDone ? Palette.faded : Palette.ink,
                with: &painter)
            y += 13 * unit
        }
    }

    /// Paints a disc as one rectangle for each row.
    func paintDisc<Painter: ScenePainter>(
        x: Int, y: Int, radius: Int, _ color: SceneColor, with painter: inout Painter
    ) {
        for row in -radius...radius {
            let half = Int(Double(radius * radius - row * row).squareRoot())
            painter.fill(SceneRectangle(x - half, y + row, 2 * half + 1, 1), color)
        }
    }
}

/// The desktop's colours.
enum Palette {
    static let zenith = SceneColor(36, 52, 112)
    static let horizon = SceneColor(236, 150, 132)
    static let panel = SceneColor(24, 26, 38)
    static let title = SceneColor(46, 50, 68)
    static let shadow = SceneColor(22, 24, 48)
    static let paper = SceneColor(250, 247, 238)
    static let night = SceneColor(22, 26, 36)
    static let court = SceneColor(224, 232, 238)
    static let bright = SceneColor(240, 242, 248)
    static let ink = SceneColor(44, 46, 58)
    static let faded = SceneColor(150, 148, 142)
    static let answer = SceneColor(172, 184, 204)
    static let accent = SceneColor(84, 190, 160)
    static let ball = SceneColor(226, 96, 72)
}
