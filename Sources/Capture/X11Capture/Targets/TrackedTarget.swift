import CXCB
import MediaTypes

/// What is captured, wherever it is now: the screen, a region of it, a monitor or a window.
protocol TrackedTarget: AnyObject {
    /// Where the pixels are now; nil while there are none, for example while a window isn't mapped.
    var place: CapturePlace? { get }
    /// The size of the pictures or, while there are none, of the last one.
    var size: PictureSize { get }
    /// The layout of its pixels in memory.
    var layout: PixelLayout { get }
    /// The window whose damage is tracked, and which the pointer's position is relative to.
    var window: xcb_window_t { get }
    /// The time at which `update` has something to do even if no event comes.
    var nextCheck: MonotonicTime { get }

    /// Handles an event.
    func take(_ event: UnsafePointer<xcb_generic_event_t>)
    /// Marks everything as outdated, because the screen's layout has changed or the server refused pixels.
    func invalidate()
    /// Queries whatever is outdated.
    func update(_ now: MonotonicTime) throws(X11CaptureError)
    /// Called before each picture; returns whether the place has changed without an event. The size never changes here.
    func follow() throws(X11CaptureError) -> Bool
}

extension TrackedTarget {
    var nextCheck: MonotonicTime { .distantFuture }
    func take(_ event: UnsafePointer<xcb_generic_event_t>) {}
    func follow() throws(X11CaptureError) -> Bool { false }
}

/// A part of a drawable.
struct CapturePlace: Equatable {
    /// The root window, or a window's pixmap.
    var drawable: xcb_drawable_t
    /// What the pictures show, in the drawable's coordinates; it may extend beyond the drawable.
    var area: PixelRectangle
    /// The whole drawable, in its own coordinates.
    var extent: PixelRectangle
    /// The area's top left corner in the coordinates of the window whose damage is tracked.
    var origin: (x: Int, y: Int)

    /// The part of the area that the drawable has, in the area's coordinates.
    var available: PixelRectangle {
        let both = area.intersection(extent)
        return PixelRectangle(x: both.x - area.x, y: both.y - area.y, width: both.width, height: both.height)
    }

    /// A part of the root window.
    static func screen(_ root: xcb_window_t, area: PixelRectangle, screen: PictureSize) -> CapturePlace {
        CapturePlace(drawable: root, area: area, extent: screen.whole, origin: (area.x, area.y))
    }

    static func == (left: CapturePlace, right: CapturePlace) -> Bool {
        left.drawable == right.drawable && left.area == right.area && left.extent == right.extent
            && left.origin == right.origin
    }
}
