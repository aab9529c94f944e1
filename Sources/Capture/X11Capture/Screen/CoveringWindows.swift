import CXCB
import Glibc
import MediaTypes

/// Tracks whether windows of a screen locker cover the whole screen.
///
/// A locker is known by its windows' structure and not by its name: they lie directly on the root window and have its
/// depth, no window manager has a say in them (override-redirect), and together they cover every monitor, except
/// perhaps for its outermost pixels: the window of xsecurelock that the root window has leaves them out. Full-screen
/// windows of other programs are placed by the window manager, and a screenshot's overlay has an alpha channel, or a
/// shape with a hole.
final class CoveringWindows {
    private(set) var coverScreen = false
    private let connection: X11Connection
    private let hasShapes: Bool
    private var screen: PictureSize
    /// The windows that may be a part of a lock, and the areas of the screen that they cover.
    private var covers: [xcb_window_t: [PixelRectangle]] = [:]
    /// The windows that have to be queried again.
    private var stale: Set<xcb_window_t> = []
    private var isStale = true

    /// A window that is smaller than this part of the screen isn't a part of a lock, but a menu, a tooltip or a panel.
    private static let minPart = 64
    /// A shape of more rectangles than this is a drawing.
    private static let maxRectangles = 64
    /// The most windows that are queried at once.
    private static let maxWindows = 4096

    init(_ connection: X11Connection) throws(X11CaptureError) {
        self.connection = connection
        hasShapes = connection.firstEvent(of: shim_xcb_xfixes_id()) != nil
        screen = try connection.rootSize()
        connection.select(UInt32(XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue), on: connection.root)
        let cookie = xcb_query_tree(connection.handle, connection.root)
        let tree = try connection.reply(to: "QueryTree") { xcb_query_tree_reply(connection.handle, cookie, &$0) }
        defer { free(tree) }
        let children = UnsafeBufferPointer(
            start: xcb_query_tree_children(tree), count: max(0, Int(xcb_query_tree_children_length(tree))))
        // The topmost windows come last.
        stale = Set(children.suffix(Self.maxWindows))
        try update()
    }

    /// Has the coverage checked again: the screen's layout has changed.
    func invalidate() { isStale = true }

    /// Handles an event.
    func take(_ event: UnsafePointer<xcb_generic_event_t>) {
        switch Int32(event.pointee.response_type & 0x7F) {
        case XCB_MAP_NOTIFY:
            let mapped = event.cast(to: xcb_map_notify_event_t.self)
            if mapped.event == connection.root, mapped.override_redirect != 0 { query(mapped.window) }
        case XCB_CONFIGURE_NOTIFY:
            let configured = event.cast(to: xcb_configure_notify_event_t.self)
            guard configured.event == connection.root, configured.override_redirect != 0 else { return }
            let isLarge = isLarge(Int(configured.width), Int(configured.height))
            if isLarge || covers[configured.window] != nil { query(configured.window) }
        case XCB_UNMAP_NOTIFY:
            let unmapped = event.cast(to: xcb_unmap_notify_event_t.self)
            if unmapped.event == connection.root { forget(unmapped.window) }
        case XCB_DESTROY_NOTIFY:
            let destroyed = event.cast(to: xcb_destroy_notify_event_t.self)
            if destroyed.event == connection.root { forget(destroyed.window) }
        case XCB_REPARENT_NOTIFY:
            let reparented = event.cast(to: xcb_reparent_notify_event_t.self)
            if reparented.event == connection.root { forget(reparented.window) }
        default: break
        }
    }

    /// Queries the windows that have changed. Call it after the events have been handled.
    func update() throws(X11CaptureError) {
        if !stale.isEmpty { try queryStale() }
        if !isStale { return }
        isStale = false
        coverScreen = if covers.isEmpty { false } else { try coverEverything() }
    }

    private func query(_ window: xcb_window_t) {
        // The server's own windows, such as the overlay of a compositor, lock nothing.
        if connection.clientPart(of: window) != 0, stale.count < Self.maxWindows { stale.insert(window) }
    }

    private func forget(_ window: xcb_window_t) {
        stale.remove(window)
        if covers.removeValue(forKey: window) != nil { isStale = true }
    }

    private func queryStale() throws(X11CaptureError) {
        let windows = stale.filter { connection.clientPart(of: $0) != 0 }
        stale = []
        let cookies = windows.map {
            (
                window: $0, attributes: xcb_get_window_attributes(connection.handle, $0),
                geometry: xcb_get_geometry(connection.handle, $0)
            )
        }
        for cookie in cookies {
            let attributes = xcb_get_window_attributes_reply(connection.handle, cookie.attributes, nil)
            defer { free(attributes) }
            let geometry = xcb_get_geometry_reply(connection.handle, cookie.geometry, nil)
            defer { free(geometry) }
            var areas: [PixelRectangle] = []
            if let attributes = attributes?.pointee, let geometry = geometry?.pointee,
                attributes.override_redirect != 0, attributes.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue),
                attributes._class == UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue),
                geometry.root == connection.root, Int(geometry.depth) == connection.rootDepth,
                isLarge(Int(geometry.width), Int(geometry.height))
            {
                let border = Int(geometry.border_width)
                let area = PixelRectangle(
                    x: Int(geometry.x), y: Int(geometry.y), width: Int(geometry.width) + 2 * border,
                    height: Int(geometry.height) + 2 * border)
                areas = shape(of: cookie.window, border: border, in: area)
            }
            if covers[cookie.window] ?? [] == areas { continue }
            covers[cookie.window] = areas.isEmpty ? nil : areas
            isStale = true
        }
        try connection.check()
    }

    /// Whether a window of this size may be a part of a lock.
    private func isLarge(_ width: Int, _ height: Int) -> Bool {
        width * height * Self.minPart >= screen.width * screen.height
    }

    /// The parts of `area`, in the root window's coordinates, that a window has by its shape; all of it if it has none.
    private func shape(of window: xcb_window_t, border: Int, in area: PixelRectangle) -> [PixelRectangle] {
        if !hasShapes { return [area] }
        let region = xcb_generate_id(connection.handle)
        connection.forget(
            xcb_xfixes_create_region_from_window_checked(
                connection.handle, region, window, UInt8(XCB_SHAPE_SK_BOUNDING.rawValue)))
        let cookie = xcb_xfixes_fetch_region(connection.handle, region)
        connection.forget(xcb_xfixes_destroy_region_checked(connection.handle, region))
        guard let reply = xcb_xfixes_fetch_region_reply(connection.handle, cookie, nil) else { return [] }
        defer { free(reply) }
        let rectangles = UnsafeBufferPointer(
            start: xcb_xfixes_fetch_region_rectangles(reply),
            count: max(0, Int(xcb_xfixes_fetch_region_rectangles_length(reply))))
        if rectangles.count > Self.maxRectangles { return [] }
        // The shape's coordinates begin inside the border.
        return rectangles.map {
            PixelRectangle(
                x: area.x + border + Int($0.x), y: area.y + border + Int($0.y), width: Int($0.width),
                height: Int($0.height)
            ).intersection(area)
        }
    }

    /// Whether every part of the root window that a monitor shows is covered.
    private func coverEverything() throws(X11CaptureError) -> Bool {
        screen = try connection.rootSize()
        let all = screen.whole
        let areas = covers.values.flatMap { $0 }
        if all.inside.isCovered(by: areas) { return true }
        // Of monitors of different sizes, the root window has places that none of them shows. Don't ask for the
        // monitors because of each panel.
        let covered = areas.reduce(0) { $0 + $1.width * $1.height }
        if covered * 2 < screen.width * screen.height { return false }
        let monitors = try MonitorSearch(connection).monitors().map { $0.area.intersection(all) }
        return !monitors.isEmpty && monitors.allSatisfy { $0.inside.isCovered(by: areas) }
    }
}

extension PixelRectangle {
    /// Whether `others` together contain every pixel of this rectangle.
    func isCovered(by others: [PixelRectangle]) -> Bool {
        var rest = [self]
        for other in others {
            rest = rest.flatMap { $0.parts(outside: other) }
            // Each rectangle may cut the rest into more parts.
            if rest.count > 4096 { return false }
        }
        return rest.allSatisfy(\.isEmpty)
    }

    /// This rectangle without its outermost pixels.
    fileprivate var inside: PixelRectangle {
        PixelRectangle(x: x + 1, y: y + 1, width: max(0, width - 2), height: max(0, height - 2))
    }

    /// What is left of this rectangle without `other`: up to four parts.
    private func parts(outside other: PixelRectangle) -> [PixelRectangle] {
        let both = intersection(other)
        if both.isEmpty { return [self] }
        let (bottom, right) = (both.y + both.height, both.x + both.width)
        return [
            PixelRectangle(x: x, y: y, width: width, height: both.y - y),
            PixelRectangle(x: x, y: bottom, width: width, height: y + height - bottom),
            PixelRectangle(x: x, y: both.y, width: both.x - x, height: both.height),
            PixelRectangle(x: right, y: both.y, width: x + width - right, height: both.height),
        ].filter { !$0.isEmpty }
    }
}
