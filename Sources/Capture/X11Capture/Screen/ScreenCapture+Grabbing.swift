import CXCB
public import CaptureEngine
import Clocks
import MediaTypes

/// How the pixels are taken.
extension ScreenCapture {
    /// So many pictures are taken at once after one that was disturbed.
    static let disturbed = 30

    /// After this many refusals in a row, without an event that changes the area, the capture fails. Fewer may only
    /// mean that such an event is still on its way.
    private static let maxRefusals = 3

    /// Throws if the server keeps refusing, as it does for a moment while the screen changes its size.
    public func grab(_ area: DamagedArea, _ body: (GrabbedPixels) -> Void) throws(CaptureError) -> Bool {
        do throws(X11CaptureError) {
            guard let place = tracked.place else {
                needsFullGrab = true
                return false
            }
            hasPendingDamage = false
            return try completes { () throws(X11CaptureError) in
                let atOnce = takesAtOnce > 0 || !reportsDamage
                let taken = try grab(area.rectangles, place, atOnce: atOnce) { pixels in
                    overlay.uncover(pixels, at: (place.area.x, place.area.y))
                    drawn.draw(into: pixels, format: pixelFormat)
                    body(pixels)
                }
                if !area.isEmpty { refusals = 0 }
                // Events that are older than the last pixels are in the queue already. Without any, nothing was painted
                // since `fetchDamage`, nor between two bands.
                handleEvents(false)
                hasPendingDamage = damage?.wasDamaged(before: taken) == true || hidden?.changes.isEmpty == false
                // A composed picture doesn't change between bands.
                takesAtOnce = hasPendingDamage && hidden == nil ? Self.disturbed : max(-Self.disturbed, takesAtOnce - 1)
                if takesAtOnce == -Self.disturbed, reportsDamage { grabber.shrink() }
            }
        } catch {
            throw .screen(error)
        }
    }

    /// Whether programs paint so much that the changes and all pixels should be taken at the same time: the last
    /// picture changed by half or more, and was disturbed, or one shortly before. Small changes are taken again sooner
    /// than all.
    var isDisturbed: Bool {
        if hidden != nil { return false }
        let pixels = area.rectangles.reduce(0) { $0 + $1.width * $1.height }
        return (hasPendingDamage || takesAtOnce > 0) && pixels * 2 >= size.width * size.height
    }

    /// Finds the tiles that have changed; returns false if the server refused.
    func compare(_ place: CapturePlace) throws(X11CaptureError) -> Bool {
        guard var comparison = comparison.take() else { return true }
        defer { self.comparison = comparison }
        let count = changes.count
        var changes: [PixelRectangle] = []
        swap(&changes, &self.changes)
        comparison.begin(.now())
        let isComplete = try completes { () throws(X11CaptureError) in
            // The picture is made of the same pixels.
            try grab([size.whole], place, atOnce: true) { pixels in
                overlay.uncover(pixels, at: (place.area.x, place.area.y))
                comparison.look(at: pixels, pixelFormat, changes: &changes)
            }
        }
        if isComplete { comparison.end(foundChanges: changes.count > count) }
        self.changes = changes
        return isComplete
    }

    /// Hands out pixels, none of a hidden window. Returns the request up to which they show the painted content.
    @discardableResult
    private func grab(
        _ rectangles: [PixelRectangle], _ place: CapturePlace, atOnce: Bool, _ body: (GrabbedPixels) -> Void
    ) throws(X11CaptureError) -> UInt32 {
        var place = place
        var drawing: UInt32?
        if let hidden {
            try drain()
            // No program paints while the windows are drawn one after the other.
            drawing = xcb_grab_server(connection.handle).sequence
            hidden.composition.draw(rectangles.map { $0.moved(x: place.area.x, y: place.area.y) })
            xcb_ungrab_server(connection.handle)
            place.drawable = hidden.composition.canvas
        }
        if comparison != nil || isKept,
            try grabber.handOutKept(rectangles, of: place, tracked.layout, { body($0) })
        {
            return grabber.lastRequest
        }
        if atOnce {
            try grabber.grabAtOnce(rectangles, of: place, tracked.layout) { pixels in body(pixels) }
        } else {
            try grabber.grab(rectangles, of: place, tracked.layout) { pixels in body(pixels) }
        }
        return drawing ?? grabber.lastRequest
    }

    /// Runs `body`; returns false if the server refused its request, and throws if the server keeps refusing.
    ///
    /// The screen may have shrunk for a moment. An event with the news is then on its way, and restarts the count of
    /// refusals.
    func completes(_ body: () throws(X11CaptureError) -> Void) throws(X11CaptureError) -> Bool {
        do {
            try body()
            return true
        } catch .requestRefused(let request, let code) {
            needsFullGrab = true
            isRefused = true
            refusals += 1
            if refusals >= Self.maxRefusals { throw .requestRefused(request: request, code: code) }
            return false
        }
    }
}
