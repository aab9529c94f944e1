import CXCB
import Glibc
import MediaTypes

/// One window, read from its own pixmap (Composite), so that windows which cover it don't show.
final class TrackedWindow: TrackedTarget {
    private(set) var place: CapturePlace?
    private(set) var size: PictureSize
    private(set) var nextCheck = MonotonicTime.distantFuture
    let layout: PixelLayout
    let window: xcb_window_t
    private let connection: X11Connection
    private let name: String
    private var watch: WindowWatch
    private var pixmap: xcb_pixmap_t = 0

    // The window may change again between an event and our query, and more events then report it. If none comes, check
    // after this time.
    private static let checkPeriod = Interval.milliseconds(500)

    /// Returns nil if the server has no Composite, or one that is too old.
    init?(_ connection: X11Connection, _ found: FoundWindow, layout: PixelLayout) throws(X11CaptureError) {
        guard connection.firstEvent(of: shim_xcb_composite_id()) != nil else { return nil }
        let cookie = xcb_composite_query_version(connection.handle, 0, 2)
        let version = try connection.reply(to: "CompositeQueryVersion") {
            xcb_composite_query_version_reply(connection.handle, cookie, &$0)
        }
        defer { free(version) }
        if (version.pointee.major_version, version.pointee.minor_version) < (0, 2) { return nil }
        let watch = try WindowWatch(connection, found.identifier)
        let redirected = xcb_composite_redirect_window_checked(
            connection.handle, found.identifier, UInt8(XCB_COMPOSITE_REDIRECT_AUTOMATIC.rawValue))
        if !connection.succeeds(redirected) { return nil }
        self.connection = connection
        self.layout = layout
        self.watch = watch
        window = found.identifier
        name = found.name
        size = PictureSize(width: max(1, found.area.width), height: max(1, found.area.height))
        try update(.zero)
    }

    deinit {
        if pixmap != 0 { xcb_free_pixmap(connection.handle, pixmap) }
        if !watch.isDestroyed {
            connection.forget(
                xcb_composite_unredirect_window_checked(
                    connection.handle, window, UInt8(XCB_COMPOSITE_REDIRECT_AUTOMATIC.rawValue)))
        }
        xcb_flush(connection.handle)
    }

    func take(_ event: UnsafePointer<xcb_generic_event_t>) {
        // A window that moves keeps its pixmap.
        watch.take(event, keeping: (place?.area.width ?? 0, place?.area.height ?? 0, place?.area.x ?? 0))
    }

    func invalidate() { watch.isStale = true }

    func update(_ now: MonotonicTime) throws(X11CaptureError) {
        if watch.isDestroyed { throw .windowClosed(name) }
        if !watch.isStale, now < nextCheck { return }
        watch.isStale = false
        nextCheck = .distantFuture
        try watch.findFrame()
        let new = xcb_generate_id(connection.handle)
        let attributesCookie = xcb_get_window_attributes(connection.handle, window)
        let windowCookie = xcb_get_geometry(connection.handle, window)
        let namedCookie = xcb_composite_name_window_pixmap_checked(connection.handle, window, new)
        let pixmapCookie = xcb_get_geometry(connection.handle, new)
        let attributes = xcb_get_window_attributes_reply(connection.handle, attributesCookie, nil)
        defer { free(attributes) }
        let windowGeometry = xcb_get_geometry_reply(connection.handle, windowCookie, nil)
        defer { free(windowGeometry) }
        let isNamed = connection.succeeds(namedCookie)
        let geometry = xcb_get_geometry_reply(connection.handle, pixmapCookie, nil)
        defer { free(geometry) }
        try connection.check()
        if pixmap != 0 { xcb_free_pixmap(connection.handle, pixmap) }
        pixmap = isNamed ? new : 0
        place = nil
        guard let attributes, let windowGeometry else { throw .windowClosed(name) }
        guard isNamed, let geometry else {
            // The window is viewable but has no pixmap: it is changing from one state to another.
            if attributes.pointee.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue) {
                nextCheck = now + Self.checkPeriod
            }
            xcb_flush(connection.handle)
            return
        }
        let border = Int(windowGeometry.pointee.border_width)
        let (width, height) = (Int(geometry.pointee.width), Int(geometry.pointee.height))
        size = PictureSize(width: max(1, width - 2 * border), height: max(1, height - 2 * border))
        place = CapturePlace(
            drawable: new, area: PixelRectangle(x: border, y: border, width: size.width, height: size.height),
            extent: PixelRectangle(x: 0, y: 0, width: width, height: height), origin: (0, 0))
    }
}

/// The visible part of one window, for servers without Composite: of those in Debian 12 and 13, tightvncserver and
/// Xnest. Windows that cover it show as well.
final class TrackedVisibleWindow: TrackedTarget {
    private(set) var place: CapturePlace?
    private(set) var size: PictureSize
    let layout: PixelLayout
    let window: xcb_window_t
    private let target: xcb_window_t
    private let connection: X11Connection
    private let name: String
    private var watch: WindowWatch

    init(_ connection: X11Connection, _ found: FoundWindow) throws(X11CaptureError) {
        self.connection = connection
        layout = connection.pixels
        window = connection.root
        target = found.identifier
        name = found.name
        size = PictureSize(width: max(1, found.area.width), height: max(1, found.area.height))
        watch = try WindowWatch(connection, found.identifier)
        try update(.zero)
    }

    func take(_ event: UnsafePointer<xcb_generic_event_t>) { watch.take(event, keeping: nil) }

    func invalidate() { watch.isStale = true }

    func update(_ now: MonotonicTime) throws(X11CaptureError) {
        if watch.isDestroyed { throw .windowClosed(name) }
        if !watch.isStale { return }
        watch.isStale = false
        try watch.findFrame()
        let attributesCookie = xcb_get_window_attributes(connection.handle, target)
        let geometryCookie = xcb_get_geometry(connection.handle, target)
        let attributes = xcb_get_window_attributes_reply(connection.handle, attributesCookie, nil)
        defer { free(attributes) }
        let geometry = xcb_get_geometry_reply(connection.handle, geometryCookie, nil)
        defer { free(geometry) }
        try connection.check()
        guard let attributes, let geometry else { throw .windowClosed(name) }
        place = nil
        if attributes.pointee.map_state != UInt8(XCB_MAP_STATE_VIEWABLE.rawValue) { return }
        size = PictureSize(width: Int(geometry.pointee.width), height: Int(geometry.pointee.height))
        place = .screen(connection.root, area: size.whole, screen: try connection.rootSize())
        _ = try follow()
    }

    /// No event reports that a frame around the window has moved, so this costs one round trip for each picture.
    func follow() throws(X11CaptureError) -> Bool {
        guard let old = place else { return false }
        let cookie = xcb_translate_coordinates(connection.handle, target, connection.root, 0, 0)
        guard let translated = xcb_translate_coordinates_reply(connection.handle, cookie, nil) else {
            try connection.check()
            return false
        }
        defer { free(translated) }
        let (x, y) = (Int(translated.pointee.dst_x), Int(translated.pointee.dst_y))
        if old.origin == (x, y) { return false }
        place = .screen(
            connection.root, area: PixelRectangle(x: x, y: y, width: size.width, height: size.height),
            screen: old.extent.size)
        return true
    }
}

extension FoundWindow {
    /// A name for messages to the user: identifier and title.
    var name: String { "\(WindowSelector.identifier(identifier)) '\(PrintableText.harmless(title))'" }
}
