import CWayland
import Glibc

/// The keyboard and the pointer of a Wayland seat, over the one window. For one thread; it must live as long as events
/// are handled, and not longer than the connection.
final class WaylandInput {
    private let compositor: OpaquePointer
    private let memory: OpaquePointer
    private let perform: (WindowAction) -> Void
    private var seat: OpaquePointer?
    private var keyboard: WaylandObject?
    private var keys: WaylandKeys?
    private var pointer: WaylandObject?
    private var cursor: WaylandCursor?

    /// Uses the compositor's seat; nil if it has none. `perform` is called with what each pressed key does.
    init?(
        on connection: WaylandConnection, _ compositor: OpaquePointer, _ memory: OpaquePointer,
        perform: @escaping (WindowAction) -> Void
    ) {
        self.compositor = compositor
        self.memory = memory
        self.perform = perform
        seat = connection.bind(shim_wl_seat_interface(), version: 3, gone: wl_seat_destroy) { [weak self] event in
            // wl_seat.capabilities
            if event.number == 0 { self?.update(wl_seat_capability(event[0].u)) }
        }
        guard seat != nil else { return nil }
    }

    /// Keyboards and pointers may come and go.
    private func update(_ devices: wl_seat_capability) {
        guard let seat else { return }
        if devices.rawValue & WL_SEAT_CAPABILITY_KEYBOARD.rawValue == 0 {
            (keyboard, keys) = (nil, nil)
        } else if keyboard == nil {
            keyboard = WaylandObject(
                wl_seat_get_keyboard(seat),
                gone: { wl_proxy_get_version($0) >= 3 ? wl_keyboard_release($0) : wl_keyboard_destroy($0) },
                handler: { [weak self] event in self?.handleKeyboard(event) })
        }
        if devices.rawValue & WL_SEAT_CAPABILITY_POINTER.rawValue == 0 {
            pointer = nil
        } else if pointer == nil {
            pointer = WaylandObject(
                wl_seat_get_pointer(seat),
                gone: { wl_proxy_get_version($0) >= 3 ? wl_pointer_release($0) : wl_pointer_destroy($0) },
                handler: { [weak self] event in self?.handlePointer(event) })
        }
    }

    private func handleKeyboard(_ event: WaylandObject.Event) {
        switch event.number {
        case 0:  // keymap: format, descriptor, size
            let file = event[1].h
            defer { close(file) }
            keys = event[0].u == WL_KEYBOARD_KEYMAP_FORMAT_XKB_V1.rawValue ? WaylandKeys(file, Int(event[2].u)) : nil
        case 3:  // key: serial, time, code, state
            guard event[3].u == WL_KEYBOARD_KEY_STATE_PRESSED.rawValue else { return }
            if let action = keys?.action(of: event[2].u) { perform(action) }
        case 4:  // modifiers: serial, three masks, layout
            keys?.layout = event[4].u
        default: break
        }
    }

    /// Gives the pointer a shape: without one, it is hidden over the window.
    private func handlePointer(_ event: WaylandObject.Event) {
        // wl_pointer.enter
        guard event.number == 0 else { return }
        cursor = cursor ?? WaylandCursor(compositor, memory)
        cursor?.show(event.object, serial: event[0].u)
    }
}

/// The usual shape of the pointer, from the user's theme.
private final class WaylandCursor {
    private let theme: OpaquePointer
    private var surface: WaylandObject?
    private let hotspot: (x: Int32, y: Int32)

    init?(_ compositor: OpaquePointer, _ memory: OpaquePointer) {
        // libwayland-cursor has shapes of its own if no theme is installed.
        guard let theme = wl_cursor_theme_load(nil, 24, memory) else { return nil }
        let cursor = wl_cursor_theme_get_cursor(theme, "default") ?? wl_cursor_theme_get_cursor(theme, "left_ptr")
        guard let cursor, cursor.pointee.image_count > 0, let image = cursor.pointee.images[0],
            let surface = WaylandObject(wl_compositor_create_surface(compositor), gone: wl_surface_destroy)
        else {
            wl_cursor_theme_destroy(theme)
            return nil
        }
        self.theme = theme
        self.surface = surface
        hotspot = (Int32(clamping: image.pointee.hotspot_x), Int32(clamping: image.pointee.hotspot_y))
        wl_surface_attach(surface.pointer, wl_cursor_image_get_buffer(image), 0, 0)
        wl_surface_damage(
            surface.pointer, 0, 0, Int32(clamping: image.pointee.width), Int32(clamping: image.pointee.height))
        wl_surface_commit(surface.pointer)
    }

    deinit {
        surface = nil
        wl_cursor_theme_destroy(theme)
    }

    /// Shows it while `pointer` is over the window, which it has entered with this serial number.
    func show(_ pointer: OpaquePointer, serial: UInt32) {
        if let surface { wl_pointer_set_cursor(pointer, serial, surface.pointer, hotspot.x, hotspot.y) }
    }
}
