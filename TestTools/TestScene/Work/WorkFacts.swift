/// The facts about a `WorkScene` that a measuring program needs.
extension WorkScene {
    /// One line for each fact: `counter`, `ticks-per-count`, `ticks-per-second`, `pointer` (the area that it covers),
    /// `text` (text that stands still or scrolls) and `moving`. Rectangles are given as x, y, width and height.
    public var facts: [String] {
        func line(_ name: String, _ area: SceneRectangle) -> String {
            "\(name) \(area.x) \(area.y) \(area.width) \(area.height)"
        }
        return [
            line("counter", SceneCounter.area), "ticks-per-count \(ticksPerCount)",
            "ticks-per-second \(motion == .pointer ? 60 : 30)",
            line("pointer", plan.pointerArea(moves: motion == .pointer)), line("text", textArea),
            line("moving", movingArea),
        ]
    }

    /// The text in the picture of a tick, line by line, without lines that are cut off.
    public func text(at tick: Int) -> [String] {
        WorkText(plan: plan).visible(motion, tick: tick).filter { !$0.isEmpty }
    }

    private var textArea: SceneRectangle {
        switch motion {
        case .scroll, .flick: plan.page
        case .red: SceneRectangle(0, SceneCounter.area.bottom, width, height - SceneCounter.area.bottom)
        case .idle, .pointer, .typing, .drag, .video, .full: plan.notes
        }
    }

    private var movingArea: SceneRectangle {
        switch motion {
        case .idle, .pointer, .red: SceneRectangle(0, 0, 0, 0)
        case .typing: plan.typing
        case .scroll, .flick: plan.page
        case .drag, .full: SceneRectangle(0, 0, width, height)
        case .video: plan.film
        }
    }
}
