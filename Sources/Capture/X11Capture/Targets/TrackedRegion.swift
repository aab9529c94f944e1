import CXCB
import MediaTypes

/// The whole screen, or a region of it that stays where it is.
final class TrackedRegion: TrackedTarget {
    private(set) var place: CapturePlace?
    private(set) var size: PictureSize
    let layout: PixelLayout
    let window: xcb_window_t
    private let connection: X11Connection
    private let region: PixelRectangle?
    private var isStale = false

    /// Throws if no part of the region lies on the screen; any part outside the screen is cut off.
    init(_ connection: X11Connection, region: PixelRectangle?) throws(X11CaptureError) {
        let screen = try connection.rootSize()
        if let region {
            // Numbers so large that their sum would overflow are outside as well.
            let isSane = region.x.magnitude < 1 << 20 && region.y.magnitude < 1 << 20
            let (width, height) = (min(region.width, 1 << 20), min(region.height, 1 << 20))
            let inside =
                isSane
                ? PixelRectangle(x: region.x, y: region.y, width: width, height: height).intersection(screen.whole)
                : .nothing
            if inside.isEmpty { throw .regionOutside(region, screen: screen) }
            self.region = inside
        } else {
            self.region = nil
        }
        self.connection = connection
        layout = connection.pixels
        window = connection.root
        let area = self.region ?? screen.whole
        size = area.size
        place = .screen(connection.root, area: area, screen: screen)
    }

    func invalidate() { isStale = true }

    func update(_ now: MonotonicTime) throws(X11CaptureError) {
        if !isStale { return }
        isStale = false
        let screen = try connection.rootSize()
        let area = region ?? screen.whole
        let new = CapturePlace.screen(connection.root, area: area, screen: screen)
        if region != nil, new.available.isEmpty {
            // A monitor was unplugged, and may be plugged in again; an event reports that.
            place = nil
            return
        }
        place = new
        size = area.size
    }
}
