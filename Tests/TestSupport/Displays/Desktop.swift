public import CXCB
import Glibc
public import MediaTypes
import Processes

/// A virtual screen with a window manager that others wrote, and perhaps a compositor.
public final class Desktop {
    /// Who arranges and composes the windows.
    public enum Kind: CaseIterable, Sendable {
        /// A window manager alone.
        case openbox
        /// A window manager that composes the screen itself, as most desktops have.
        case xfwm4
        /// A window manager, and a compositor of its own that fades windows in and out.
        case picom
    }

    /// Whether all of it is installed.
    public static var isAvailable: Bool {
        VirtualScreen.isAvailable
            && ["openbox", "xfwm4", "picom", "dbus-run-session"].allSatisfy { ProgramLookup.path(of: $0) != nil }
    }

    /// Where it is.
    public let screen: VirtualScreen
    private let client: DisplayClient
    private var programs: [ChildProcess] = []

    /// Starts the programs, and returns when windows are managed and composed.
    public init(_ kind: Kind, size: PictureSize) throws {
        screen = try VirtualScreen(size)
        client = try DisplayClient(screen.name)
        client.background(0x404040)
        switch kind {
        case .openbox: try run("openbox", [])
        case .xfwm4: try run("dbus-run-session", ["--", "xfwm4", "--compositor=on"])
        case .picom:
            try run("openbox", [])
            try run("picom", ["--backend", "xrender", "--fading", "--fade-delta", "5"])
        }
        // Some lose a window that is mapped while they start, so another is mapped until one is managed.
        try eventually("the window manager") {
            let window = client.window(PixelRectangle(x: 0, y: 0, width: 9, height: 9), color: 0)
            defer { client.destroy(window) }
            return try? eventually("its mark on the window", within: .milliseconds(300)) {
                client.hasProperty("WM_STATE", on: window) ? () : nil
            }
        }
        if kind != .openbox { try eventually("the compositor") { client.hasOwner("_NET_WM_CM_S0") } }
    }

    deinit { for program in programs.reversed() { program.stop() } }

    private func run(_ program: String, _ arguments: [String]) throws {
        var launch = Launch(program, arguments)
        launch.environment["DISPLAY"] = screen.name
        launch.standardOutput = .null
        launch.standardError = .null
        launch.leadsProcessGroup = true
        programs.append(try ChildProcess(launch))
    }

    /// Minimises a window as its program would (ICCCM 4.1.4).
    public func minimise(_ window: xcb_window_t) {
        var event = xcb_client_message_event_t()
        event.response_type = UInt8(XCB_CLIENT_MESSAGE)
        event.format = 32
        event.window = window
        event.type = client.atom("WM_CHANGE_STATE")
        event.data.data32.0 = 3
        let mask =
            XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue
        withUnsafePointer(to: &event) {
            $0.withMemoryRebound(to: CChar.self, capacity: 32) {
                _ = xcb_send_event(client.connection, 0, client.root, UInt32(mask), $0)
            }
        }
        xcb_flush(client.connection)
    }

    /// Whether the screen shows a pixel of magenta, or of a mixture with it.
    public var showsMagenta: Bool {
        let cookie = xcb_get_image(
            client.connection, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), client.root, 0, 0,
            UInt16(screen.size.width), UInt16(screen.size.height), ~0)
        guard let reply = xcb_get_image_reply(client.connection, cookie, nil) else { return false }
        defer { free(reply) }
        let count = Int(xcb_get_image_data_length(reply)) / 4
        guard let data = UnsafeRawPointer(xcb_get_image_data(reply)) else { return false }
        return Self.hasMagenta(UnsafeBufferPointer(start: data.assumingMemoryBound(to: UInt32.self), count: count))
    }

    /// Whether a pixel is magenta, or a mixture with it.
    public static func hasMagenta(_ pixels: UnsafeBufferPointer<UInt32>) -> Bool {
        pixels.contains { pixel in
            let (red, green, blue) = (pixel >> 16 & 0xFF, pixel >> 8 & 0xFF, pixel & 0xFF)
            return red > green + 40 && blue > green + 40
        }
    }

    /// Presses keys, or lets them go, by their keysyms.
    public func key(_ symbols: [UInt32], isDown: Bool) {
        for symbol in symbols { client.key(symbol, isDown: isDown) }
    }
}

extension DisplayClient {
    /// Whether a window has a property.
    func hasProperty(_ name: String, on window: xcb_window_t) -> Bool {
        let cookie = xcb_get_property(connection, 0, window, atom(name), 0, 0, 1)
        guard let reply = xcb_get_property_reply(connection, cookie, nil) else { return false }
        defer { free(reply) }
        return reply.pointee.type != 0
    }

    /// Whether a selection has an owner.
    func hasOwner(_ selection: String) -> Bool {
        let cookie = xcb_get_selection_owner(connection, atom(selection))
        guard let reply = xcb_get_selection_owner_reply(connection, cookie, nil) else { return false }
        defer { free(reply) }
        return reply.pointee.owner != 0
    }

    /// Presses the key that has this keysym, or lets it go (XTEST).
    public func key(_ symbol: UInt32, isDown: Bool) {
        guard let setup = xcb_get_setup(connection) else { return }
        let first = setup.pointee.min_keycode
        let count = setup.pointee.max_keycode - first
        let cookie = xcb_get_keyboard_mapping(connection, first, count)
        guard let reply = xcb_get_keyboard_mapping_reply(connection, cookie, nil) else { return }
        defer { free(reply) }
        let symbols = UnsafeBufferPointer(
            start: xcb_get_keyboard_mapping_keysyms(reply),
            count: Int(xcb_get_keyboard_mapping_keysyms_length(reply)))
        guard let index = symbols.firstIndex(of: symbol) else { return }
        let code = first + UInt8(index / Int(reply.pointee.keysyms_per_keycode))
        xcb_test_fake_input(
            connection, UInt8(isDown ? XCB_KEY_PRESS : XCB_KEY_RELEASE), code, 0, root, 0, 0, 0)
        xcb_flush(connection)
    }
}
