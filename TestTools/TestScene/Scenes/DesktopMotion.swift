/// The moving parts of the desktop. Each method paints a part over what it showed before, and returns the area that has
/// changed.
extension DesktopScene {
    func paintClock<Painter: ScenePainter>(_ now: Int, with painter: inout Painter) -> SceneRectangle {
        let second = 9 * 3600 + 41 * 60 + now / 1000
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let text = "\(two(second / 3600 % 24)):\(two(second / 60 % 60)):\(two(second % 60))"
        let measure = SevenSegments(height: 10 * unit, x: 0, y: 0)
        let area = SceneRectangle(
            width - measure.width(of: text) - 8 * unit, 5 * unit, measure.width(of: text), 10 * unit)
        painter.fill(area, Palette.panel)
        SevenSegments(height: 10 * unit, x: area.x, y: area.y).paint(text, Palette.bright, with: &painter)
        return area
    }

    /// The position of the notes' progress bar in percent.
    func progress(_ now: Int) -> Int { now / 80 % 101 }

    func paintProgress<Painter: ScenePainter>(_ now: Int, with painter: inout Painter) -> SceneRectangle {
        let page = content(of: notes).inset(10 * unit, 8 * unit)
        let bar = SceneRectangle(page.x, page.bottom - 8 * unit, page.width, 6 * unit)
        let done = bar.width * progress(now) / 100
        painter.fill(SceneRectangle(bar.x, bar.y, done, bar.height), Palette.accent)
        painter.fill(SceneRectangle(bar.x + done, bar.y, bar.width - done, bar.height), SceneColor(216, 212, 202))
        return bar
    }

    func paintTerminal<Painter: ScenePainter>(
        _ now: Int, _ before: Int?, with painter: inout Painter
    ) -> [SceneRectangle] {
        let page = content(of: terminal).inset(8 * unit, 7 * unit)
        let rows = max(1, page.height / font.lineHeight)
        let lines = TerminalText.lines(after: now, last: rows)
        let old = before.map { TerminalText.lines(after: $0, last: rows) } ?? []
        var changed: [SceneRectangle] = []
        for (row, line) in lines.enumerated() {
            // The last line has the cursor, which moves on when the next line comes.
            let hasCursor = row == lines.count - 1
            let hadCursor = row == old.count - 1
            if row < old.count, old[row] == line, hasCursor == hadCursor { continue }
            let area = SceneRectangle(page.x, page.y + row * font.lineHeight, page.width, font.lineHeight)
            painter.fill(area, Palette.night)
            if line.isCommand {
                font.paint("$", x: area.x, y: area.y, limit: area.right, Palette.accent, with: &painter)
            }
            let left = line.isCommand ? area.x + 2 * font.advance : area.x
            font.paint(
                line.text, x: left, y: area.y, limit: area.right, line.isCommand ? Palette.bright : Palette.answer,
                with: &painter)
            if hasCursor {
                let x = left + line.text.count * font.advance
                painter.fill(
                    SceneRectangle(x, area.y, 5 * unit, 8 * unit).intersection(area), Palette.accent)
            }
            changed.append(area)
        }
        return changed
    }

    func paintBall<Painter: ScenePainter>(
        _ now: Int, _ before: Int?, with painter: inout Painter
    ) -> [SceneRectangle] {
        let radius = 10 * unit
        let floor = content(of: court)
        let room = floor.inset(radius + 2 * unit, radius + 2 * unit)
        func place(_ time: Int) -> SceneRectangle {
            // The ball goes back and forth sideways, and up and down like something that falls.
            let x = room.x + Self.backAndForth(time * max(1, room.width) / 2600, room.width)
            let fall = Self.backAndForth(time, 620)
            let y = room.bottom - room.height * (620 * 620 - (620 - fall) * (620 - fall)) / (620 * 620)
            return SceneRectangle(x - radius, y - radius, 2 * radius + unit, 2 * radius + unit)
        }
        let ball = place(now)
        var changed = [ball.intersection(floor)]
        if let before {
            let old = place(before).intersection(floor)
            painter.fill(old, Palette.court)
            changed.append(old)
        }
        paintDisc(x: ball.x + radius, y: ball.y + radius, radius: radius, Palette.ball, with: &painter)
        paintDisc(
            x: ball.x + radius * 2 / 3, y: ball.y + radius * 2 / 3, radius: radius / 4, Palette.bright, with: &painter)
        return changed
    }

    /// A value that goes from 0 to `length` and back again as `time` goes on.
    private static func backAndForth(_ time: Int, _ length: Int) -> Int {
        let length = max(1, length)
        let phase = time % (2 * length)
        return phase <= length ? phase : 2 * length - phase
    }
}
