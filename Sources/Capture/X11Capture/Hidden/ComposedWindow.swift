import CXCB
import MediaTypes

/// A child of the root window as a ``ScreenCompositor`` draws it: its pixmap, what has been drawn on it, and its
/// shape.
///
/// All regions are kept by the X server, so that following a window takes no round trip. Requests about a window that
/// is gone fail, and nothing needs their result.
final class ComposedWindow {
    let window: xcb_window_t
    /// Whether something was drawn on it since the last `askDamage`.
    private(set) var isDamaged = false
    // The last request that had been carried out when it was first drawn on.
    private var damagedSince: UInt32 = 0
    /// The part of the root window that it covers, in root coordinates; valid after `updateCover`.
    let cover: xcb_xfixes_region_t
    /// What `askDamage` returned last; later, in a pass over all windows, the part of this one that is visible.
    let part: xcb_xfixes_region_t
    private let connection: X11Connection
    private var damage: xcb_damage_damage_t = 0
    private var damageSince: UInt32 = 0
    private var lastAsked: UInt32 = 0
    private var pixmap: xcb_pixmap_t = 0
    private(set) var picture: xcb_render_picture_t = 0
    // All in the window's own coordinates.
    private let drawn: xcb_xfixes_region_t
    private var shape: xcb_xfixes_region_t = 0
    /// `drawn` as it was before the last `askDamage`.
    private let drawnBefore: xcb_xfixes_region_t
    /// What `uncover` has fetched for the next `askDamage`.
    private let fetched: xcb_xfixes_region_t
    /// Whether a part may have to be drawn on before it may be shown.
    private var isDoubtful = false

    init(_ connection: X11Connection, _ window: xcb_window_t) {
        self.connection = connection
        self.window = window
        cover = connection.emptyRegion()
        part = connection.emptyRegion()
        drawn = connection.emptyRegion()
        drawnBefore = connection.emptyRegion()
        fetched = connection.emptyRegion()
        connection.forget(xcb_shape_select_input_checked(connection.handle, window, 1))
        watchDamage()
    }

    deinit {
        freePixmap()
        connection.forget(xcb_damage_destroy_checked(connection.handle, damage))
        for region in [cover, part, drawn, shape, drawnBefore, fetched] where region != 0 {
            xcb_xfixes_destroy_region(connection.handle, region)
        }
    }

    /// Handles a damage event.
    func takeDamage(_ sequence: UInt32) {
        // Its damage may have been fetched since.
        if Int32(bitPattern: sequence &- lastAsked) >= 0 { noteDamage(sequence) }
    }

    /// Whether something was drawn on it since the last `askDamage` and before this request was carried out.
    func wasDamaged(before request: UInt32) -> Bool {
        isDamaged && Int32(bitPattern: request &- damagedSince) > 0
    }

    private func noteDamage(_ sequence: UInt32) {
        if !isDamaged { damagedSince = sequence }
        isDamaged = true
    }

    /// Notes that the window is on the screen since the event with this number, with a pixmap of its own.
    ///
    /// The server begins a pixmap with what the screen shows at that place. So nothing that covers a hidden window may
    /// be shown before it has been drawn on: a program may leave the window's background to itself and then hang. If
    /// that may have been drawn before our damage object existed, the server and the program are asked to do it again.
    ///
    /// - Parameters:
    ///   - area: Its size, in its own coordinates, with its border.
    ///   - secret: The places of hidden windows, in its own coordinates.
    func map(_ sequence: UInt32, area: PixelRectangle, secret: [PixelRectangle]) {
        outdateShape()
        connection.set(drawn, [area])
        doubt(secret)
        if Int32(bitPattern: sequence &- damageSince) >= 0 { return }
        forgetDamage()
        for place in secret.lazy.map(area.intersection) where !place.isEmpty {
            connection.forget(
                xcb_clear_area_checked(
                    connection.handle, 1, window, Int16(clamping: place.x), Int16(clamping: place.y),
                    UInt16(clamping: place.width), UInt16(clamping: place.height)))
        }
    }

    /// Takes all of a window that has been on the screen for some time as drawn, except what lies in `secret`.
    func adopt(area: PixelRectangle, secret: [PixelRectangle]) {
        forgetDamage()
        connection.set(drawn, [area])
        doubt(secret)
    }

    /// Notes that the window has left the screen.
    func unmap() {
        freePixmap()
        isDamaged = false
        connection.forget(xcb_damage_destroy_checked(connection.handle, damage))
        watchDamage()
    }

    /// Notes a new size, which also brings a new pixmap; `old` is its size up to now, as `area` is.
    func resize(from old: PixelRectangle, to area: PixelRectangle, secret: [PixelRectangle]) {
        freePixmap()
        connection.set(part, [area])
        connection.set(cover, [old])
        xcb_xfixes_subtract_region(connection.handle, part, cover, part)
        xcb_xfixes_union_region(connection.handle, drawn, part, drawn)
        doubt(secret)
        outdateShape()
    }

    /// Has the shape queried again.
    func outdateShape() {
        if shape != 0 { xcb_xfixes_destroy_region(connection.handle, shape) }
        shape = 0
    }

    /// Notes that a window no longer covers `area`, in this window's coordinates, since the event with this number.
    ///
    /// The server then reports the area as damage, because it copies it to the screen, although no program has drawn on
    /// it.
    func uncover(_ area: PixelRectangle, _ sequence: UInt32) {
        if !isDoubtful { return }
        connection.set(cover, [area])
        if Int32(bitPattern: lastAsked &- sequence) > 0 {
            xcb_xfixes_subtract_region(connection.handle, cover, drawnBefore, part)
            xcb_xfixes_subtract_region(connection.handle, drawn, part, drawn)
        }
        connection.set(part, [])
        connection.forget(xcb_damage_subtract_checked(connection.handle, damage, 0, part))
        xcb_xfixes_union_region(connection.handle, fetched, part, fetched)
        xcb_xfixes_subtract_region(connection.handle, part, cover, part)
        xcb_xfixes_union_region(connection.handle, drawn, part, drawn)
        noteDamage(sequence)
    }

    /// Requests the area drawn since the last call, into `part`; drawing from now on counts for the next call.
    func askDamage() {
        isDamaged = false
        connection.set(part, [])
        let cookie = xcb_damage_subtract_checked(connection.handle, damage, 0, part)
        lastAsked = cookie.sequence
        connection.forget(cookie)
        if isDoubtful { xcb_xfixes_copy_region(connection.handle, drawn, drawnBefore) }
        xcb_xfixes_union_region(connection.handle, drawn, part, drawn)
        if isDoubtful {
            xcb_xfixes_union_region(connection.handle, part, fetched, part)
            connection.set(fetched, [])
        }
    }

    /// Brings `cover` up to date for a window whose top left corner, inside its border, is at `origin`.
    func updateCover(_ origin: (x: Int, y: Int)) {
        if shape == 0 {
            shape = xcb_generate_id(connection.handle)
            connection.forget(
                xcb_xfixes_create_region_from_window_checked(
                    connection.handle, shape, window, xcb_shape_kind_t(XCB_SHAPE_SK_BOUNDING.rawValue)))
        }
        // If the window has just gone, there is no region of its shape, and `cover` has to stay empty.
        connection.set(cover, [])
        connection.forget(xcb_xfixes_intersect_region_checked(connection.handle, drawn, shape, cover))
        connection.translate(cover, origin)
    }

    /// Makes `picture`, if it has none.
    func name(_ format: xcb_render_pictformat_t) {
        if picture != 0 { return }
        pixmap = xcb_generate_id(connection.handle)
        picture = xcb_generate_id(connection.handle)
        connection.forget(xcb_composite_name_window_pixmap_checked(connection.handle, window, pixmap))
        connection.forget(xcb_render_create_picture_checked(connection.handle, picture, pixmap, format, 0, nil))
    }

    private func watchDamage() {
        damage = xcb_generate_id(connection.handle)
        let cookie = xcb_damage_create_checked(
            connection.handle, damage, window, UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue))
        damageSince = cookie.sequence
        lastAsked = cookie.sequence
        connection.forget(cookie)
    }

    /// Forgets that the whole window counts as damaged when a damage object is made.
    private func forgetDamage() {
        connection.forget(xcb_damage_subtract_checked(connection.handle, damage, 0, 0))
    }

    private func doubt(_ secret: [PixelRectangle]) {
        if secret.isEmpty { return }
        isDoubtful = true
        connection.set(part, secret)
        xcb_xfixes_subtract_region(connection.handle, drawn, part, drawn)
    }

    private func freePixmap() {
        if picture == 0 { return }
        connection.forget(xcb_render_free_picture_checked(connection.handle, picture))
        connection.forget(xcb_free_pixmap_checked(connection.handle, pixmap))
        (picture, pixmap) = (0, 0)
    }
}

extension X11Connection {
    /// A region of the server's that is empty.
    func emptyRegion() -> xcb_xfixes_region_t {
        let region = xcb_generate_id(handle)
        xcb_xfixes_create_region(handle, region, 0, nil)
        return region
    }

    /// Makes `region` cover these rectangles, as far as the protocol's numbers reach.
    func set(_ region: xcb_xfixes_region_t, _ rectangles: [PixelRectangle]) {
        let values = rectangles.map {
            xcb_rectangle_t(
                x: Int16(clamping: $0.x), y: Int16(clamping: $0.y), width: UInt16(clamping: $0.width),
                height: UInt16(clamping: $0.height))
        }
        xcb_xfixes_set_region(handle, region, UInt32(values.count), values)
    }

    /// Moves `region`.
    func translate(_ region: xcb_xfixes_region_t, _ offset: (x: Int, y: Int)) {
        xcb_xfixes_translate_region(handle, region, Int16(clamping: offset.x), Int16(clamping: offset.y))
    }
}
