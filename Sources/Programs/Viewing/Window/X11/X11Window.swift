import CXCB
import DisplayConnection
import Glibc
import MediaTypes
import Threading

/// A window of an X display.
final class X11Window: ViewWindow {
    private let connection: OpaquePointer
    private let root: xcb_window_t
    private let depth: UInt8
    private let screenSize: PictureSize
    private let window: xcb_window_t
    private let context: xcb_gcontext_t
    private let atoms: X11Atoms
    private let keys: X11Keys

    private var size: PictureSize?
    private var content = WindowContent()
    private var image: X11Image?
    /// Whether something has changed since the last drawing.
    private var needsDrawing = false
    private var isClosed = false

    /// Connects to `display`, or to DISPLAY's if it is nil, for which it waits 5 s at most. Throws if there is no such
    /// display, or if its pixels can't be drawn.
    ///
    /// - Parameter failure: why there is no Wayland window instead, which is tried first if no display is named.
    init(display: String?, without failure: WaylandConnection.Failure = .absent) throws(ViewEnd) {
        guard case (let connection, var number)? = DisplayConnection.open(display) else {
            throw ViewEnd(
                "the X server at \(display ?? "DISPLAY") doesn't answer within "
                    + "\(DisplayConnection.timeout.milliseconds / 1000) s; name another one with --display, or use "
                    + "--no-window", mayPass: false)
        }
        var screens = xcb_screen_iterator_t()
        let setup = xcb_connection_has_error(connection) == 0 ? xcb_get_setup(connection) : nil
        if let setup { screens = xcb_setup_roots_iterator(setup) }
        while number > 0, screens.rem > 1 {
            xcb_screen_next(&screens)
            number -= 1
        }
        guard let setup, screens.rem > 0, let screen = screens.data else {
            xcb_disconnect(connection)
            throw Self.noDisplay(display, failure)
        }
        guard X11Image.isPossible(on: screen, setup) else {
            xcb_disconnect(connection)
            let name = display ?? "DISPLAY"
            throw ViewEnd("the X server at \(name) doesn't use 32 bits per pixel; use --no-window", mayPass: false)
        }
        self.connection = connection
        root = screen.pointee.root
        depth = screen.pointee.root_depth
        screenSize = PictureSize(
            width: Int(screen.pointee.width_in_pixels), height: Int(screen.pointee.height_in_pixels))
        atoms = X11Atoms(connection)
        keys = X11Keys(connection, setup)
        window = xcb_generate_id(connection)
        context = xcb_generate_id(connection)
    }

    deinit {
        image = nil
        xcb_disconnect(connection)
    }

    private static func noDisplay(_ name: String?, _ failure: WaylandConnection.Failure) -> ViewEnd {
        let problem =
            name.map { "no X server at \($0); name one with --display" }
            ?? "\(failure) and no X server at DISPLAY; name an X server with --display"
        return ViewEnd("\(problem), or use --no-window", mayPass: false)
    }

    var entry: pollfd { pollfd(xcb_get_file_descriptor(connection)) }

    func show(_ picture: I420Picture) {
        content.picture = picture
        if size == nil { open(for: picture.size) }
        needsDrawing = true
    }

    /// xcb may read events together with replies.
    func handleEvents() -> ViewWindowState {
        var needsClearing = false
        while let event = xcb_poll_for_event(connection) {
            defer { free(event) }
            let bytes = UnsafeRawPointer(event)
            switch Int32(event.pointee.response_type & 0x7F) {
            case XCB_EXPOSE: needsClearing = true
            case XCB_CONFIGURE_NOTIFY:
                let notice = bytes.loadUnaligned(as: xcb_configure_notify_event_t.self)
                let new = PictureSize(width: Int(notice.width), height: Int(notice.height))
                if new != size {
                    size = new
                    needsClearing = true
                }
            case XCB_KEY_PRESS:
                press(bytes.loadUnaligned(as: xcb_key_press_event_t.self).detail)
                needsClearing = true
            case XCB_CLIENT_MESSAGE:
                let message = bytes.loadUnaligned(as: xcb_client_message_event_t.self)
                if message.type == atoms.protocols, message.data.data32.0 == atoms.deleteWindow { isClosed = true }
            case XCB_DESTROY_NOTIFY: isClosed = true
            default: break
            }
        }
        if isClosed { return .closed }
        guard xcb_connection_has_error(connection) == 0 else {
            return .failed(ViewEnd("the connection to the X server was lost"))
        }
        if needsClearing {
            // Around a picture that doesn't fill the window, something else may have been shown.
            xcb_clear_area(connection, 0, window, 0, 0, 0, 0)
            xcb_flush(connection)
            needsDrawing = true
        }
        if needsDrawing, image?.isDrawn() ?? true {
            needsDrawing = false
            draw()
        }
        return .open
    }

    /// Opens the window in the picture's size, or in that of the screen if that is smaller.
    private func open(for wanted: PictureSize) {
        let size = PictureSize(
            width: min(wanted.width, screenSize.width), height: min(wanted.height, screenSize.height))
        self.size = size
        let events =
            XCB_EVENT_MASK_EXPOSURE.rawValue | XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue
            | XCB_EVENT_MASK_KEY_PRESS.rawValue
        // The values are in the order of the mask's bits: a black background, then the events.
        let values: [UInt32] = [0, events]
        xcb_create_window(
            connection, UInt8(XCB_COPY_FROM_PARENT), window, root, 0, 0, UInt16(clamping: size.width),
            UInt16(clamping: size.height), 0, UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), 0,
            XCB_CW_BACK_PIXEL.rawValue | XCB_CW_EVENT_MASK.rawValue, values)
        xcb_create_gc(connection, context, window, XCB_GC_GRAPHICS_EXPOSURES.rawValue, [UInt32(0)])
        let replaces = UInt8(XCB_PROP_MODE_REPLACE.rawValue)
        let title = Array("ScreenRelay".utf8)
        xcb_change_property(
            connection, replaces, window, xcb_atom_t(XCB_ATOM_WM_NAME.rawValue),
            xcb_atom_t(XCB_ATOM_STRING.rawValue), 8, UInt32(title.count), title)
        let name = Array("screenrelay\0ScreenRelay\0".utf8)
        xcb_change_property(
            connection, replaces, window, xcb_atom_t(XCB_ATOM_WM_CLASS.rawValue),
            xcb_atom_t(XCB_ATOM_STRING.rawValue), 8, UInt32(name.count), name)
        // The window manager sends a message instead of ending the connection.
        xcb_change_property(
            connection, replaces, window, atoms.protocols, xcb_atom_t(XCB_ATOM_ATOM.rawValue), 32, 1,
            [atoms.deleteWindow])
        xcb_map_window(connection, window)
        xcb_flush(connection)
    }

    private func draw() {
        guard let size, let shown = content.shown(in: size) else { return }
        let image: X11Image
        if let known = self.image, known.size == shown.size {
            image = known
        } else {
            image = X11Image(shown.size, on: connection, depth: depth)
            self.image = image
        }
        image.draw(
            shown, on: window, context, x: (size.width - shown.size.width) / 2,
            y: (size.height - shown.size.height) / 2)
    }

    private func press(_ code: UInt8) {
        switch keys.action(of: code) {
        case .fit: content.fit()
        case .actual: content.toggleActualSize()
        case .toggleFullScreen: changeFullScreen(2)
        case .leaveFullScreen: changeFullScreen(0)
        case nil: break
        }
    }

    /// Asks the window manager (EWMH, _NET_WM_STATE): 0 leaves full screen, and 2 toggles it.
    private func changeFullScreen(_ change: UInt32) {
        var event = xcb_client_message_event_t()
        event.response_type = UInt8(XCB_CLIENT_MESSAGE)
        event.format = 32
        event.window = window
        event.type = atoms.state
        event.data.data32.0 = change
        event.data.data32.1 = atoms.fullScreen
        let mask =
            XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue
        withUnsafePointer(to: &event) {
            $0.withMemoryRebound(to: CChar.self, capacity: 32) {
                _ = xcb_send_event(connection, 0, root, UInt32(mask), $0)
            }
        }
        xcb_flush(connection)
    }
}
