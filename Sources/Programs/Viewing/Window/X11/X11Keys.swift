import CXCB
import Glibc

/// The keys of a window, by the keyboard's codes when it was opened.
struct X11Keys {
    private let first: UInt8
    /// How many keysyms there are for each code.
    private let levels: Int
    private let symbols: [UInt32]

    init(_ connection: OpaquePointer, _ setup: UnsafePointer<xcb_setup_t>) {
        first = setup.pointee.min_keycode
        let count = setup.pointee.max_keycode &- first &+ 1
        let reply = xcb_get_keyboard_mapping_reply(
            connection, xcb_get_keyboard_mapping(connection, first, count), nil)
        defer { free(reply) }
        guard let reply else {
            levels = 0
            symbols = []
            return
        }
        levels = Int(reply.pointee.keysyms_per_keycode)
        symbols = Array(
            UnsafeBufferPointer(
                start: xcb_get_keyboard_mapping_keysyms(reply),
                count: Int(xcb_get_keyboard_mapping_keysyms_length(reply))))
    }

    /// The action of the key with this code, with or without Shift: some keyboards have digits only with it.
    func action(of code: UInt8) -> WindowAction? {
        guard code >= first, levels > 0 else { return nil }
        let start = Int(code - first) * levels
        return WindowAction(symbols.dropFirst(start).prefix(min(levels, 2)))
    }
}

/// The atoms of the window's messages to and from the window manager.
struct X11Atoms {
    let protocols: xcb_atom_t
    let deleteWindow: xcb_atom_t
    let state: xcb_atom_t
    let fullScreen: xcb_atom_t

    init(_ connection: OpaquePointer) {
        func atom(_ name: String) -> xcb_atom_t {
            let cookie = xcb_intern_atom(connection, 0, UInt16(clamping: name.utf8.count), name)
            let reply = xcb_intern_atom_reply(connection, cookie, nil)
            defer { free(reply) }
            return reply?.pointee.atom ?? 0
        }
        protocols = atom("WM_PROTOCOLS")
        deleteWindow = atom("WM_DELETE_WINDOW")
        state = atom("_NET_WM_STATE")
        fullScreen = atom("_NET_WM_STATE_FULLSCREEN")
    }
}
