import Glibc

/// The positions of the parts of a `WorkScene`, and how they move.
struct WorkPlan: Sendable {
    let width: Int
    let height: Int

    static let panelHeight = 32
    private static let gap = 24
    /// A letter's cell in the terminal.
    static let letterWidth = 9

    /// The page that scrolls, which fills most of the screen.
    var page: SceneRectangle {
        SceneRectangle(
            2 * Self.gap, Self.panelHeight + 2 * Self.gap, width - 4 * Self.gap,
            height - Self.panelHeight - 3 * Self.gap)
    }
    /// The page of text that stands still.
    var notes: SceneRectangle {
        SceneRectangle(
            Self.gap, Self.panelHeight + 2 * Self.gap, width / 2 - Self.gap * 3 / 2,
            height - Self.panelHeight - 3 * Self.gap)
    }
    var terminal: SceneRectangle {
        SceneRectangle(width / 2 + Self.gap / 2, notes.y, width / 2 - Self.gap * 3 / 2, notes.height)
    }
    /// The area of the film, inside the terminal.
    var film: SceneRectangle {
        let size = (min(640, terminal.width) / 16 * 16, min(360, terminal.height) / 2 * 2)
        return SceneRectangle(
            terminal.x + (terminal.width - size.0) / 2, terminal.y + 100 * height / 1080, size.0, size.1)
    }

    // MARK: Typing

    var typing: SceneRectangle { terminal.inset(12, 12) }
    var typingColumns: Int { typing.width / Self.letterWidth }
    var typingRows: Int { typing.height / BakedFont.lineHeight }

    /// The cell of letter `index`.
    func cell(_ index: Int) -> SceneRectangle {
        let columns = max(1, typingColumns)
        return SceneRectangle(
            typing.x + index % columns * Self.letterWidth, typing.y + index / columns * BakedFont.lineHeight,
            Self.letterWidth, BakedFont.lineHeight)
    }

    // MARK: Dragging

    /// The position of the dragged window: once around an ellipse in six seconds, as a hand would move it.
    func window(_ tick: Int) -> SceneRectangle {
        let size = (min(720, width / 2), min(440, height / 2))
        let room = SceneRectangle(0, Self.panelHeight, width - size.0, height - Self.panelHeight - size.1)
        let angle = Double(tick) * 2 * Double.pi / 180
        let x = room.x + Int(Double(room.width) * (0.5 - 0.4 * cos(angle)))
        let y = room.y + Int(Double(room.height) * (0.5 - 0.4 * sin(angle)))
        return SceneRectangle(x, y, size.0, size.1)
    }

    // MARK: The pointer

    /// The position of a pointer that doesn't move: the lower right corner, out of the way.
    var parkedPointer: (x: Int, y: Int) { (width - 40, height - 40) }

    /// The position of a moving pointer: around the middle in three seconds, at sixty ticks a second.
    func pointer(at tick: Int) -> (x: Int, y: Int) {
        let angle = Double(tick) * 2 * Double.pi / 180
        return (
            width / 2 + Int(Double(width) * 0.3 * cos(angle)), height / 2 + Int(Double(height) * 0.3 * sin(2 * angle))
        )
    }

    /// The area that the pointer covers on its way.
    func pointerArea(moves: Bool) -> SceneRectangle {
        guard moves else { return SceneRectangle(width - 56, height - 56, 56, 56) }
        return SceneRectangle(width * 2 / 10 - 32, height * 2 / 10 - 32, width * 6 / 10 + 64, height * 6 / 10 + 64)
    }
}

/// How a page scrolls.
struct WorkScroll: Sendable {
    /// Pixels a tick.
    let step: Int
    /// The number of ticks until it begins again.
    let ticks: Int

    /// The distance that it scrolls.
    var length: Int { step * ticks }

    /// The first visible row of the page.
    func top(at tick: Int) -> Int { tick % ticks * step }
}

extension WorkScene.Motion {
    var scroll: WorkScroll { self == .flick ? WorkScroll(step: 36, ticks: 75) : WorkScroll(step: 4, ticks: 300) }
}
