import CXCB
import DisplayConnection
import Glibc
import MediaTypes

/// A connection to an X server and the root window of one screen. Not thread-safe.
final class X11Connection {
    let handle: OpaquePointer
    /// The display's name as the user would write it.
    let display: String
    let root: xcb_window_t
    let rootDepth: Int
    let rootVisual: xcb_visualid_t
    /// The number of the screen, counted from 0.
    let screenNumber: Int
    let pixels: PixelLayout
    // Points into the connection's setup, and is valid as long as the connection.
    private let screen: UnsafeMutablePointer<xcb_screen_t>
    private let identifierMask: UInt32
    /// The kinds of events that are selected, for each window: the server knows one set for a connection.
    private var selected: [xcb_window_t: UInt32] = [:]

    /// Connects to the display of this name, or of DISPLAY if it is nil. Waits at most `limit` for the server.
    init(
        display name: String?, within limit: Interval = DisplayConnection.timeout
    ) throws(X11CaptureError) {
        let fromEnvironment = getenv("DISPLAY").map { String(cString: $0) }
        let display = name ?? fromEnvironment ?? ""
        if display.isEmpty { throw .noDisplayNamed }
        guard let (handle, screenNumber) = DisplayConnection.open(display, within: limit) else {
            throw .noAnswer(display: display, after: limit)
        }
        do throws(X11CaptureError) {
            switch xcb_connection_has_error(handle) {
            case 0: break
            case XCB_CONN_CLOSED_PARSE_ERR: throw .invalidDisplayName(display)
            case XCB_CONN_CLOSED_INVALID_SCREEN: throw .noSuchScreen(display: display)
            default: throw .cannotOpen(display: display)
            }
            guard let setup = xcb_get_setup(handle) else { throw .cannotOpen(display: display) }
            var screens = xcb_setup_roots_iterator(setup)
            for _ in 0..<max(0, screenNumber) where screens.rem > 1 { xcb_screen_next(&screens) }
            guard screens.rem > 0, let screen = screens.data else { throw .noSuchScreen(display: display) }
            pixels = try PixelLayout(
                of: screen, depth: screen.pointee.root_depth, visual: screen.pointee.root_visual, setup: setup,
                display: display)
            self.screen = screen
            identifierMask = setup.pointee.resource_id_mask
            root = screen.pointee.root
            rootDepth = Int(screen.pointee.root_depth)
            rootVisual = screen.pointee.root_visual
            self.screenNumber = Int(screenNumber)
        } catch {
            xcb_disconnect(handle)
            throw error
        }
        self.handle = handle
        self.display = display
    }

    deinit {
        xcb_disconnect(handle)
    }

    /// A descriptor that is readable when the server has sent something.
    var fileDescriptor: Int32 { xcb_get_file_descriptor(handle) }

    /// Whether the server is reached through a Unix socket: only then can memory be shared safely.
    var isLocal: Bool {
        var name = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(fileDescriptor, $0, &length) }
        }
        return result == 0 && name.ss_family == sa_family_t(AF_UNIX)
    }

    /// The part of a resource's identifier that tells which connection created it; 0 for the server's own resources.
    func clientPart(of resource: UInt32) -> UInt32 { resource & ~identifierMask }

    /// Throws if the connection has ended.
    func check() throws(X11CaptureError) {
        if xcb_connection_has_error(handle) != 0 { throw .displayGone(display: display) }
    }

    /// The layout in memory of pixels with this depth and visual.
    func layout(depth: UInt8, visual: xcb_visualid_t) throws(X11CaptureError) -> PixelLayout {
        guard let setup = xcb_get_setup(handle) else { throw .displayGone(display: display) }
        return try PixelLayout(of: screen, depth: depth, visual: visual, setup: setup, display: display)
    }

    /// The first event number of an extension, or nil if the server doesn't have it.
    func firstEvent(of identifier: OpaquePointer?) -> UInt8? {
        guard let data = xcb_get_extension_data(handle, identifier), data.pointee.present != 0 else { return nil }
        return data.pointee.first_event
    }

    /// Selects these kinds of events on a window, besides those that were selected on it before; it is no error if the
    /// window is gone in the meantime.
    func select(_ events: UInt32, on window: xcb_window_t) {
        let all = selected[window, default: 0] | events
        selected[window] = all
        withUnsafePointer(to: all) {
            forget(
                xcb_change_window_attributes_checked(handle, window, UInt32(XCB_CW_EVENT_MASK.rawValue), $0))
        }
    }

    /// Forgets what was selected on a window that is gone, if the event says so.
    func forgetDestroyed(_ event: UnsafePointer<xcb_generic_event_t>) {
        guard Int32(event.pointee.response_type & 0x7F) == XCB_DESTROY_NOTIFY else { return }
        selected[event.cast(to: xcb_destroy_notify_event_t.self).window] = nil
    }

    /// Ignores the result of a checked request.
    func forget(_ cookie: xcb_void_cookie_t) {
        xcb_discard_reply(handle, cookie.sequence)
    }

    /// The atoms of `names`; one round trip.
    func atoms(_ names: [String]) throws(X11CaptureError) -> [xcb_atom_t] {
        let cookies = names.map { xcb_intern_atom(handle, 0, UInt16(clamping: $0.utf8.count), $0) }
        var atoms: [xcb_atom_t] = []
        for cookie in cookies {
            let answer = try reply(to: "InternAtom") { xcb_intern_atom_reply(handle, cookie, &$0) }
            defer { free(answer) }
            atoms.append(answer.pointee.atom)
        }
        return atoms
    }

    /// The first number of a property of 32-bit numbers; nil if the window doesn't have it, or not of the wanted type.
    func number(_ cookie: xcb_get_property_cookie_t) -> UInt32? {
        guard let reply = xcb_get_property_reply(handle, cookie, nil) else { return nil }
        defer { free(reply) }
        guard reply.pointee.format == 32, xcb_get_property_value_length(reply) >= 4 else { return nil }
        return UnsafeRawPointer(xcb_get_property_value(reply)).loadUnaligned(as: UInt32.self)
    }

    /// The window that owns a selection; nil if there is none.
    func owner(of selection: xcb_atom_t) throws(X11CaptureError) -> xcb_window_t? {
        let cookie = xcb_get_selection_owner(handle, selection)
        let answer = try reply(to: "GetSelectionOwner") { xcb_get_selection_owner_reply(handle, cookie, &$0) }
        defer { free(answer) }
        return answer.pointee.owner == 0 ? nil : answer.pointee.owner
    }

    /// The version of RandR that the server speaks; (0, 0) if it has none.
    func randrVersion() throws(X11CaptureError) -> (UInt32, UInt32) {
        guard firstEvent(of: shim_xcb_randr_id()) != nil else { return (0, 0) }
        let cookie = xcb_randr_query_version(handle, 1, 5)
        let version = try reply(to: "RRQueryVersion") { xcb_randr_query_version_reply(handle, cookie, &$0) }
        defer { free(version) }
        return (version.pointee.major_version, version.pointee.minor_version)
    }

    /// The current size of the root window.
    func rootSize() throws(X11CaptureError) -> PictureSize {
        let cookie = xcb_get_geometry(handle, root)
        let geometry = try reply(to: "GetGeometry") { xcb_get_geometry_reply(handle, cookie, &$0) }
        defer { free(geometry) }
        return PictureSize(width: Int(geometry.pointee.width), height: Int(geometry.pointee.height))
    }

    /// The reply that `fetch` waits for; the caller frees it.
    func reply<Reply>(
        to request: String, _ fetch: (inout UnsafeMutablePointer<xcb_generic_error_t>?) -> UnsafeMutablePointer<Reply>?
    ) throws(X11CaptureError) -> UnsafeMutablePointer<Reply> {
        var error: UnsafeMutablePointer<xcb_generic_error_t>?
        if let reply = fetch(&error) { return reply }
        defer { free(error) }
        try check()
        throw .requestRefused(request: request, code: error.map { Int($0.pointee.error_code) } ?? 0)
    }

    /// Whether a checked request succeeded.
    func succeeds(_ cookie: xcb_void_cookie_t) -> Bool {
        guard let error = xcb_request_check(handle, cookie) else { return xcb_connection_has_error(handle) == 0 }
        free(error)
        return false
    }
}

extension X11Connection {
    /// Negotiates the version of XFixes; before that, the server accepts no other request of the extension.
    func announceXFixes() throws(X11CaptureError) {
        guard firstEvent(of: shim_xcb_xfixes_id()) != nil else { return }
        let cookie = xcb_xfixes_query_version(handle, 5, 0)
        free(try reply(to: "XFixesQueryVersion") { xcb_xfixes_query_version_reply(handle, cookie, &$0) })
    }

    /// Negotiates the versions of Composite, Damage and Render; before that, a server accepts no other of their
    /// requests, or treats us as an older client.
    func announceComposition() throws(X11CaptureError) {
        let composite = xcb_composite_query_version(handle, 0, 4)
        let damage = xcb_damage_query_version(handle, 1, 1)
        let render = xcb_render_query_version(handle, 0, 11)
        let version = try reply(to: "CompositeQueryVersion") {
            xcb_composite_query_version_reply(handle, composite, &$0)
        }
        defer { free(version) }
        free(try reply(to: "DamageQueryVersion") { xcb_damage_query_version_reply(handle, damage, &$0) })
        free(try reply(to: "RenderQueryVersion") { xcb_render_query_version_reply(handle, render, &$0) })
        // Earlier ones can't name the pixmap of a window.
        if (version.pointee.major_version, version.pointee.minor_version) < (0, 2) {
            throw .cannotHide(display: display)
        }
    }

    /// Selects the events that report changes of the screen or its monitors; returns the first of RandR's two event
    /// numbers.
    func selectScreenChanges() throws(X11CaptureError) -> UInt8? {
        // A change of the list of monitors is reported only by this event on the root window.
        select(UInt32(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue), on: root)
        guard let first = firstEvent(of: shim_xcb_randr_id()) else { return nil }
        var events = XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE.rawValue
        if try randrVersion() >= (1, 2) {
            events |= XCB_RANDR_NOTIFY_MASK_CRTC_CHANGE.rawValue | XCB_RANDR_NOTIFY_MASK_OUTPUT_CHANGE.rawValue
        }
        xcb_randr_select_input(handle, root, UInt16(events))
        return first
    }

    /// Finds what `target` names.
    func find(
        _ target: CaptureTarget, onWarning: (String) -> Void
    ) throws(X11CaptureError) -> any TrackedTarget {
        switch target {
        case .screen: return try TrackedRegion(self, region: nil)
        case .region(let region):
            let tracked = try TrackedRegion(self, region: region)
            if tracked.size != region.size, let area = tracked.place?.area {
                onWarning("the region is cut to the screen: \(area.named) of \(region.named) is shared")
            }
            return tracked
        case .monitor(let name): return try TrackedMonitor(self, name: name)
        case .window(let selector):
            let found = try WindowSearch(self).window(selector)
            if found.isInputOnly { throw .windowWithoutPixels(found.name) }
            let layout = try layout(depth: found.depth, visual: found.visual)
            if let tracked = try TrackedWindow(self, found, layout: layout) {
                onWarning("only the window itself is shared: viewers don't see its menus and dialogs")
                return tracked
            }
            onWarning("the display has no Composite: viewers see whatever covers the window, such as its menus")
            return try TrackedVisibleWindow(self, found)
        }
    }
}
