import CXCB
import MediaTypes

/// The whole screen, or a region of it that stays where it is.
final class TrackedRegion: TrackedTarget {
    private(set) var place: CapturePlace?
    private(set) var size: PictureSize
    private(set) var nextCheck = MonotonicTime.distantFuture
    let layout: PixelLayout
    let window: xcb_window_t
    private let connection: X11Connection
    private let region: PixelRectangle?
    private var isOutdated = false
    private var goneSince: MonotonicTime?

    /// How long the screen may be too small for the region: somebody may unplug a monitor and plug it in again.
    private static let patience = Interval.seconds(5)

    /// Throws if no part of the region lies on the screen; any part outside the screen is cut off.
    init(_ connection: X11Connection, region: PixelRectangle?) throws(X11CaptureError) {
        let screen = try connection.rootSize()
        let all = PixelRectangle(x: 0, y: 0, width: screen.width, height: screen.height)
        if let region {
            // Numbers so large that their sum would overflow are outside as well.
            let isSane = region.x.magnitude < 1 << 20 && region.y.magnitude < 1 << 20
            let (width, height) = (min(region.width, 1 << 20), min(region.height, 1 << 20))
            let inside =
                isSane
                ? PixelRectangle(x: region.x, y: region.y, width: width, height: height).intersection(all)
                : PixelRectangle(x: 0, y: 0, width: 0, height: 0)
            if inside.isEmpty { throw .regionOutside(region, screen: screen) }
            self.region = inside
        } else {
            self.region = nil
        }
        self.connection = connection
        layout = connection.pixels
        window = connection.root
        let area = self.region ?? all
        size = area.size
        place = .screen(connection.root, area: area, screen: screen)
    }

    func outdate() { isOutdated = true }

    func update(_ now: MonotonicTime) throws(X11CaptureError) -> Bool {
        if !isOutdated, now < nextCheck { return false }
        isOutdated = false
        nextCheck = .distantFuture
        let screen = try connection.rootSize()
        let area = region ?? PixelRectangle(x: 0, y: 0, width: screen.width, height: screen.height)
        let new = CapturePlace.screen(connection.root, area: area, screen: screen)
        if let region, new.available.isEmpty {
            let since = goneSince ?? now
            if now - since >= Self.patience { throw .regionGone(region, screen: screen) }
            goneSince = since
            nextCheck = since + Self.patience
            place = nil
            return false
        }
        goneSince = nil
        place = new
        size = area.size
        return true
    }
}
