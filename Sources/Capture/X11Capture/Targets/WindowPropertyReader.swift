import CXCB
import Glibc

/// Asks for the properties that describe a window, and reads the answers.
struct WindowPropertyReader {
    // The properties' atoms; the protocol predefines some of them.
    let state: xcb_atom_t
    let modernTitle: xcb_atom_t
    let leader: xcb_atom_t
    let process: xcb_atom_t
    let kind: xcb_atom_t
    let title = xcb_atom_t(XCB_ATOM_WM_NAME.rawValue)
    let className = xcb_atom_t(XCB_ATOM_WM_CLASS.rawValue)
    let transientFor = xcb_atom_t(XCB_ATOM_WM_TRANSIENT_FOR.rawValue)
    let machine = xcb_atom_t(XCB_ATOM_WM_CLIENT_MACHINE.rawValue)
    private let utf8: xcb_atom_t
    private let panel: xcb_atom_t
    private let menus: Set<xcb_atom_t>
    private let connection: X11Connection

    init(_ connection: X11Connection) throws(X11CaptureError) {
        self.connection = connection
        let atoms = try connection.atoms([
            "WM_STATE", "_NET_WM_NAME", "UTF8_STRING", "WM_CLIENT_LEADER", "_NET_WM_PID", "_NET_WM_WINDOW_TYPE",
            "_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_MENU", "_NET_WM_WINDOW_TYPE_DROPDOWN_MENU",
            "_NET_WM_WINDOW_TYPE_POPUP_MENU", "_NET_WM_WINDOW_TYPE_COMBO",
        ])
        state = atoms[0]
        modernTitle = atoms[1]
        utf8 = atoms[2]
        leader = atoms[3]
        process = atoms[4]
        kind = atoms[5]
        panel = atoms[6]
        menus = Set(atoms[7...])
    }

    /// Requests the first 1 KiB from `offset`, or as much as `length` says, both in units of 4 bytes.
    func sendRequest(
        _ window: xcb_window_t, _ atom: xcb_atom_t, from offset: UInt32 = 0, length: UInt32 = 256
    ) -> xcb_get_property_cookie_t {
        xcb_get_property(connection.handle, 0, window, atom, 0 /* any type */, offset, length)
    }

    /// The property's bytes as text, or nil if the window doesn't have it. If `atom` is given, anything beyond the
    /// first 1 KiB is read as well.
    func text(
        _ cookie: xcb_get_property_cookie_t, restOf atom: xcb_atom_t? = nil, _ window: xcb_window_t = 0
    ) -> String? {
        guard let reply = xcb_get_property_reply(connection.handle, cookie, nil) else { return nil }
        defer { free(reply) }
        if reply.pointee.type == 0 { return nil }
        var bytes = Self.bytes(reply)
        if let atom, reply.pointee.bytes_after > 0 {
            // This is rare: the title holds a page's whole address, or a program tries to keep its window from being
            // matched.
            let rest = sendRequest(window, atom, from: UInt32(clamping: bytes.count / 4), length: Self.maxRest)
            if let more = xcb_get_property_reply(connection.handle, rest, nil) {
                bytes += Self.bytes(more)
                free(more)
            }
        }
        return reply.pointee.type == utf8 ? String(decoding: bytes, as: UTF8.self) : PrintableText.latin1(bytes)
    }

    /// What the property `kind` says.
    func kind(_ cookie: xcb_get_property_cookie_t) -> FoundWindow.Kind {
        switch connection.number(cookie) {
        case panel: .panel
        case let kind? where menus.contains(kind): .menu
        default: .other
        }
    }

    /// In units of 4 bytes. With the first 1 KiB, this makes up to 64 KiB of a title.
    private static let maxRest: UInt32 = (64 - 1) << 8

    private static func bytes(_ reply: UnsafeMutablePointer<xcb_get_property_reply_t>) -> [UInt8] {
        Array(
            UnsafeRawBufferPointer(
                start: xcb_get_property_value(reply), count: max(0, Int(xcb_get_property_value_length(reply)))))
    }
}
