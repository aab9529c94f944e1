import CXCB
import MediaTypes

/// What the pictures show, and where its pixels are.
protocol CaptureSource: AnyObject {
    /// Where the pixels are now; nil while there are none, as of a window that isn't mapped.
    var place: CapturePlace? { get }
    /// The size of the pictures; while there are none, of the last one.
    var size: PictureSize { get }
    /// How its pixels stand in memory.
    var layout: PixelLayout { get }
    /// The window whose damage counts, and which the pointer's place is asked of.
    var window: xcb_window_t { get }
    /// When `update` has something to do even if no event comes.
    var nextCheck: MonotonicTime { get }

    /// Whether the event was about this source.
    func take(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool
    /// The screen has been arranged anew, or its pixels were refused: all has to be asked again.
    func outdate()
    /// Asks what has become outdated; true where the whole picture has to be taken again.
    func update(_ now: MonotonicTime) throws(X11CaptureError) -> Bool
    /// Before each picture: whether the place has changed without an event; never the size.
    func follow() throws(X11CaptureError) -> Bool
}

extension CaptureSource {
    var nextCheck: MonotonicTime { .distantFuture }
    func take(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool { false }
    func follow() throws(X11CaptureError) -> Bool { false }
}

/// A part of a drawable.
struct CapturePlace: Equatable {
    /// The root window, or a window's pixmap.
    var drawable: xcb_drawable_t
    /// What the pictures show, in the drawable's coordinates; may stick out of it.
    var area: PixelRectangle
    /// All that the drawable has, in its own coordinates.
    var extent: PixelRectangle
    /// The area's top left corner in the coordinates of the window that damage is told of.
    var origin: (x: Int, y: Int)

    /// What the drawable has of the area, in the area's coordinates.
    var available: PixelRectangle {
        let both = area.intersection(extent)
        return PixelRectangle(x: both.x - area.x, y: both.y - area.y, width: both.width, height: both.height)
    }

    /// A part of the root window.
    static func screen(_ root: xcb_window_t, area: PixelRectangle, screen: PictureSize) -> CapturePlace {
        CapturePlace(
            drawable: root, area: area,
            extent: PixelRectangle(x: 0, y: 0, width: screen.width, height: screen.height), origin: (area.x, area.y))
    }

    static func == (left: CapturePlace, right: CapturePlace) -> Bool {
        left.drawable == right.drawable && left.area == right.area && left.extent == right.extent
            && left.origin == right.origin
    }
}

extension PixelRectangle {
    var size: PictureSize { PictureSize(width: width, height: height) }

    /// The same rectangle elsewhere.
    func moved(x dx: Int, y dy: Int) -> PixelRectangle {
        PixelRectangle(x: x + dx, y: y + dy, width: width, height: height)
    }
}
