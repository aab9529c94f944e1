/// The text of a `WorkScene` and its position, for comparison with what a program reads in a picture of it.
struct WorkText {
    /// A line's words and its top left corner.
    struct Line: Sendable {
        let text: String
        let x: Int
        let y: Int
    }

    let plan: WorkPlan

    /// The lines of the page that scrolls, in the page's own coordinates.
    func longPage(_ scroll: WorkScroll) -> [Line] {
        Self.lines(
            in: SceneRectangle(0, 0, plan.page.width, plan.page.height + scroll.length), seed: 3, .sans)
    }

    /// The red lines on black.
    var red: [Line] {
        let below = SceneCounter.area.bottom + 16
        return Self.lines(
            in: SceneRectangle(24, below, plan.width - 96, plan.height - below - 64), seed: 5, .monospaced)
    }

    /// The lines of a `motion`'s text that are fully visible at `tick`.
    func visible(_ motion: WorkScene.Motion, tick: Int) -> [String] {
        switch motion {
        case .scroll, .flick:
            let top = motion.scroll.top(at: tick)
            return longPage(motion.scroll).filter {
                $0.y >= top && $0.y + BakedFont.lineHeight <= top + plan.page.height
            }.map(\.text)
        case .red: return red.map(\.text)
        case .idle, .pointer, .typing, .drag, .video:
            return Self.lines(in: plan.notes, seed: 7, .sans).map(\.text)
        case .full: return []
        }
    }

    static func lines(in page: SceneRectangle, seed: UInt32, _ font: BakedFont) -> [Line] {
        let inside = page.inset(24, 12)
        var prose = SceneProse(seed: seed)
        let lines = prose.lines(inside.height / BakedFont.lineHeight, width: inside.width, in: font)
        return lines.enumerated().map {
            Line(text: $0.element, x: inside.x, y: inside.y + $0.offset * BakedFont.lineHeight)
        }
    }
}
