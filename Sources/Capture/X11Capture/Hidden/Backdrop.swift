import CXCB

/// The background of the root window, as a picture that repeats.
///
/// The root window itself can't be read: it also has what a compositing manager paints, or what the server copies from
/// the windows' pixmaps. So whatever programs draw on the root window isn't seen. Its background is, if the program
/// that set it says so with a property, as `xsetroot`, `feh` and others do and compositing managers need.
final class Backdrop {
    /// The picture; 0 if no program has said what the background is.
    private(set) var picture: xcb_render_picture_t = 0
    private let connection: X11Connection
    private let format: xcb_render_pictformat_t
    /// The properties that name the background's pixmap, the most usual first.
    private let properties: [xcb_atom_t]

    /// `format` is that of the root window's visual.
    init(_ connection: X11Connection, format: xcb_render_pictformat_t) throws(X11CaptureError) {
        self.connection = connection
        self.format = format
        properties = try connection.atoms(["_XROOTPMAP_ID", "ESETROOT_PMAP_ID", "_XSETROOT_ID"]).filter { $0 != 0 }
        look()
    }

    /// Handles a changed property of the root window; returns whether the background may be another now.
    func take(_ atom: xcb_atom_t) -> Bool {
        if !properties.contains(atom) { return false }
        look()
        return true
    }

    private func look() {
        if picture != 0 { connection.forget(xcb_render_free_picture_checked(connection.handle, picture)) }
        picture = 0
        guard let pixmap = properties.lazy.compactMap(pixmap(of:)).first else { return }
        picture = xcb_generate_id(connection.handle)
        // The program may have freed the pixmap, and then there is no picture either.
        let isRepeated: [UInt32] = [UInt32(XCB_RENDER_REPEAT_NORMAL.rawValue)]
        connection.forget(
            xcb_render_create_picture_checked(
                connection.handle, picture, pixmap, format, XCB_RENDER_CP_REPEAT.rawValue, isRepeated))
    }

    private func pixmap(of property: xcb_atom_t) -> xcb_pixmap_t? {
        let type = xcb_atom_t(XCB_ATOM_PIXMAP.rawValue)
        let cookie = xcb_get_property(connection.handle, 0, connection.root, property, type, 0, 1)
        guard let pixmap = connection.number(cookie), pixmap != 0 else { return nil }
        return pixmap
    }
}
