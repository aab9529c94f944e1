import CaptureEngine
import MediaTypes

/// What viewers point at and draw, shown over the sharer's own screen; and what of the screen is beneath it, for the
/// pictures.
///
/// While nothing is shown, it has no window on the screen and costs nothing.
final class PointingOverlay {
    /// Areas of the captured area that have to be read again, although no damage that counts is reported for them.
    private(set) var changes: [PixelRectangle] = []
    var tiles: CoveredTiles
    var rest = OverlayRest()
    private(set) var marks = PointingMarks()
    private let connection: X11Connection
    private var window: OverlayWindow?
    private var isImpossible = false
    private var hasNews = false
    private var isDrawn = false
    private var lastDrawn = MonotonicTime.zero
    private var nextFade = MonotonicTime.distantFuture

    /// The minimum time from one drawing to the next, and to one in which only something fades.
    private static let period = Interval.milliseconds(16)
    private static let fadePeriod = Interval.milliseconds(50)

    init(_ connection: X11Connection) {
        self.connection = connection
        tiles = CoveredTiles(connection.pixels.format)
    }

    /// Whether something is shown, or was until a moment ago.
    var isShown: Bool { isDrawn || !tiles.isEmpty }

    /// When it has to be drawn again, or tiles to be read.
    var due: MonotonicTime {
        // Most of the time.
        if !hasNews, !isShown { return .distantFuture }
        return min(redrawDue, settledDue, rest.due)
    }

    /// When tiles have to be read again even if the overlay isn't drawn before that. While a dot moves, they are read
    /// with those that it covers next, which costs no wake-up and no round trip. A rest is as short as possible.
    var settledDue: MonotonicTime {
        let due = tiles.nextLook
        return due == .distantFuture || !isDrawn || rest.end != nil ? due : due + Self.fadePeriod
    }

    var redrawDue: MonotonicTime {
        // During a rest, it waits for the tiles that are read again.
        if let end = rest.end { return max(lastDrawn + Self.period, tiles.isEmpty ? .zero : end) }
        if hasNews { return lastDrawn + Self.period }
        return isDrawn ? max(nextFade, lastDrawn + Self.fadePeriod) : .distantFuture
    }

    func take(_ point: ViewerPoint, at now: MonotonicTime, place: (ViewerPoint.Place) -> PointingMarks.Place) {
        if isImpossible { return }
        marks.take(point, at: now, place: place)
        hasNews = true
    }

    func removeAll() {
        marks.removeAll()
        hasNews = isDrawn
    }

    /// What is shown at `now` in a captured area of `size`; nil if the server can't show it.
    func drawing(_ now: MonotonicTime, in size: PictureSize) throws(X11CaptureError) -> PointingDrawing? {
        marks.removeFaded(at: now)
        if window == nil { window = try OverlayWindow(connection) }
        guard let window else {
            isImpossible = true
            marks.removeAll()
            hasNews = false
            return nil
        }
        return PointingDrawing(marks.shown(at: now), in: size) { window.labelSize($0) }
    }

    /// Shows what `drawing` returned, with the captured area at `origin` on a root window of size `screen`. The caller
    /// flushes the connection.
    func show(_ drawing: PointingDrawing, at origin: (x: Int, y: Int), on screen: PictureSize, _ now: MonotonicTime) {
        window?.show(drawing, at: origin, on: screen)
        isDrawn = !drawing.rectangles.isEmpty || !marks.isEmpty
        (hasNews, lastDrawn, nextFade) = (false, now, marks.nextFade(after: now))
    }

    /// Has the drawing tried again later, because the screen couldn't be read.
    func postponeDrawing(_ now: MonotonicTime) { (hasNews, lastDrawn) = (true, now + Self.fadePeriod) }

    /// Takes the window off the screen if nothing is shown any more. Until then it has an empty shape: a compositing
    /// manager may fade out a window that is unmapped.
    func unmapIfUnused() {
        if isShown { return }
        window?.unmap()
        rest = OverlayRest()
    }

    /// Adds to `changes`. The list is bounded, because it may be a long time before the next `fetchDamage`.
    func addChange(_ area: PixelRectangle) {
        if changes.count == 64 { changes = [changes.reduce(area) { $0.union($1) }] } else { changes.append(area) }
    }

    /// Adds `changes`, which are then forgotten, to what has changed.
    func fetchDamage(into others: inout [PixelRectangle]) {
        others += changes
        changes.removeAll(keepingCapacity: true)
    }

    /// Takes out of `damage` what lies where the overlay is or was a moment ago: those tiles are compared later. The
    /// captured area is at `origin` on the root window.
    func removeOwn(_ origin: (x: Int, y: Int), from damage: inout [PixelRectangle]) {
        if tiles.isEmpty { return }
        if !rest.isTouched, damage.contains(where: { tiles.cover(partOf: $0.moved(x: origin.x, y: origin.y)) }) {
            rest.touched()
        }
        damage.removeAll { tiles.contain($0.moved(x: origin.x, y: origin.y)) }
    }

    /// Replaces the overlay in pixels of the captured area, which is at `origin` on the root window.
    func uncover(_ pixels: GrabbedPixels, at origin: (x: Int, y: Int)) {
        if !tiles.isEmpty { tiles.uncover(pixels, at: origin) }
    }
}
