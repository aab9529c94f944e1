/// Draws the sheets of a `WorkScene`.
struct WorkDrawing {
    let plan: WorkPlan

    /// The desk, with a page of text on the left and a terminal on the right.
    func desk(hasTerminalText: Bool = true) -> SceneSheet {
        var canvas = desktop()
        frame(plan.notes, "Notes", WorkColors.paper, on: &canvas)
        text(in: plan.notes, seed: 7, .sans, WorkColors.ink, on: &canvas)
        frame(plan.terminal, "Terminal", WorkColors.night, on: &canvas)
        if hasTerminalText { text(in: plan.terminal, seed: 11, .monospaced, WorkColors.answer, on: &canvas) }
        return SceneSheet(canvas)
    }

    /// The desk with one window, whose content is drawn later.
    func frame(around window: SceneRectangle) -> SceneSheet {
        var canvas = desktop()
        frame(window, "A long page", WorkColors.paper, on: &canvas)
        return SceneSheet(canvas)
    }

    /// The page that scrolls, extended at the bottom by the scrolled length; `WorkText` places its text.
    func longPage(_ scroll: WorkScroll) -> SceneSheet {
        var canvas = SceneCanvas(
            width: plan.page.width, height: plan.page.height + scroll.length, WorkColors.paper)
        for line in WorkText(plan: plan).longPage(scroll) {
            BakedFont.sans.draw(line.text, x: line.x, y: line.y, WorkColors.ink, on: &canvas)
        }
        return SceneSheet(canvas)
    }

    /// All letters that will be typed, at their places in the terminal.
    func terminalText() -> SceneSheet {
        var canvas = SceneCanvas(width: plan.typing.width, height: plan.typing.height, WorkColors.night)
        var prose = SceneProse(seed: 23)
        for row in 0..<plan.typingRows {
            let line = prose.lines(1, width: plan.typing.width, in: .monospaced)[0]
            BakedFont.monospaced.draw(line, x: 0, y: row * BakedFont.lineHeight, WorkColors.answer, on: &canvas)
        }
        return SceneSheet(canvas)
    }

    /// A window with text, for dragging.
    func window() -> SceneSheet {
        let place = plan.window(0)
        var canvas = SceneCanvas(width: place.width, height: place.height, WorkColors.title)
        BakedFont.sans.draw("Letter", x: 12, y: 4, WorkColors.bright, on: &canvas)
        let inside = SceneRectangle(2, 28, place.width - 4, place.height - 30)
        canvas.fill(inside, WorkColors.letter)
        text(in: inside, seed: 31, .sans, WorkColors.ink, on: &canvas)
        return SceneSheet(canvas)
    }

    /// The pictures of a film for this area.
    func film(_ place: SceneRectangle, frames: Int) -> [SceneSheet] {
        let plasma = Plasma(frames: frames, width: place.width, height: place.height)
        return (0..<frames).map(plasma.sheet)
    }

    /// Red text on black, all over the screen.
    func redText() -> SceneSheet {
        var canvas = SceneCanvas(width: plan.width, height: plan.height, .black)
        for line in WorkText(plan: plan).red {
            BakedFont.monospaced.draw(line.text, x: line.x, y: line.y, WorkColors.red, on: &canvas)
        }
        return SceneSheet(canvas)
    }

    // MARK: Parts

    private func desktop() -> SceneCanvas {
        var canvas = SceneCanvas(width: plan.width, height: plan.height, WorkColors.desk)
        canvas.fill(SceneRectangle(0, 0, plan.width, WorkPlan.panelHeight), WorkColors.panel)
        BakedFont.sans.draw(
            "Files     Edit     View     Help", x: SceneCounter.area.right + 24, y: 6, WorkColors.bright, on: &canvas)
        return canvas
    }

    private func frame(_ inside: SceneRectangle, _ title: String, _ color: SceneColor, on canvas: inout SceneCanvas) {
        canvas.fill(
            SceneRectangle(inside.x - 2, inside.y - 26, inside.width + 4, inside.height + 28), WorkColors.title)
        BakedFont.sans.draw(title, x: inside.x + 10, y: inside.y - 24, WorkColors.bright, on: &canvas)
        canvas.fill(inside, color)
    }

    private func text(
        in page: SceneRectangle, seed: UInt32, _ font: BakedFont, _ color: SceneColor, on canvas: inout SceneCanvas
    ) {
        for line in WorkText.lines(in: page, seed: seed, font) {
            font.draw(line.text, x: line.x, y: line.y, color, on: &canvas)
        }
    }
}

/// The colours of a `WorkScene`.
enum WorkColors {
    static let desk = SceneColor(58, 92, 110)
    static let panel = SceneColor(32, 34, 44)
    static let title = SceneColor(70, 76, 92)
    static let bright = SceneColor(240, 242, 246)
    static let paper = SceneColor(253, 252, 248)
    static let letter = SceneColor(232, 240, 226)
    static let ink = SceneColor(28, 28, 34)
    static let night = SceneColor(24, 26, 34)
    static let answer = SceneColor(200, 208, 214)
    static let cursor = SceneColor(120, 210, 170)
    static let red = SceneColor(255, 0, 0)
}
