import CWayland
import Glibc
import MediaTypes

/// A window of a Wayland compositor (xdg-shell).
///
/// Its buffer scale is 1: on a screen with another scale, the compositor enlarges it. It has a title bar only if the
/// compositor draws one (xdg-decoration). It is drawn at most once per frame of the compositor, and only while the
/// compositor shows it.
final class WaylandWindow: ViewWindow {
    /// What the compositor wants the window to be (xdg_toplevel.configure).
    private struct Proposal {
        /// Nil if the window has the choice.
        var size: PictureSize?
        /// The largest size that fits the screen, if the compositor says so.
        var bounds: PictureSize?
        var isFullScreen = false
        /// Whether the size is that of the screen, or of a part of it, and not the window's own.
        var isArranged = false
    }

    /// The longest side in pixels, and the largest area: each of the two images has 4 bytes per pixel.
    private static let longestSide = 16_384
    private static let maxPixels = 1 << 26

    private let connection: WaylandConnection
    /// Objects that live as long as the connection.
    private let compositor: OpaquePointer
    private let memory: OpaquePointer
    private let base: OpaquePointer
    private let decorations: OpaquePointer?
    private var input: WaylandInput?
    private var surface: WaylandObject?
    private var role: WaylandObject?
    private var toplevel: WaylandObject?
    private var decoration: WaylandObject?
    /// Waits for the next frame; nil if the compositor has asked for one since the last drawing.
    private var frame: WaylandObject?

    private var content = WindowContent()
    private var proposal = Proposal()
    /// The size that the window has while it isn't arranged.
    private var ownSize: PictureSize?
    /// The size now; nil before the compositor has said what it may be.
    private var size: PictureSize?
    /// Images of this size: one is drawn while the compositor may read the other.
    private var buffers: [WaylandBuffer] = []
    /// Whether something has changed since the last drawing.
    private var needsDrawing = false
    /// Whether the compositor waits for a drawing of another size or state, which doesn't wait for a frame.
    private var isAwaited = false
    private var isClosed = false
    private var hasFailed = false

    /// Throws if the compositor lacks something that is needed.
    init(on connection: WaylandConnection) throws(ViewEnd) {
        guard
            let compositor = connection.bind(
                shim_wl_compositor_interface(), version: 1, gone: wl_compositor_destroy),
            let memory = connection.bind(shim_wl_shm_interface(), version: 1, gone: wl_shm_destroy),
            let base = connection.bind(
                shim_xdg_wm_base_interface(), version: 4, gone: { shim_wl_destroy($0, 0) },
                handler: { event in
                    // xdg_wm_base.ping
                    if event.number == 0 { shim_xdg_pong(event.object, event[0].u) }
                })
        else {
            throw ViewEnd(
                "the Wayland compositor has no windows (xdg_wm_base); name an X server with --display, or use "
                    + "--no-window", mayPass: false)
        }
        self.connection = connection
        self.compositor = compositor
        self.memory = memory
        self.base = base
        decorations = connection.bind(
            shim_xdg_decoration_manager_interface(), version: 1, gone: { shim_wl_destroy($0, 0) })
        input = WaylandInput(on: connection, compositor, memory) { [weak self] action in self?.perform(action) }
    }

    deinit {
        // What depends on something else goes first.
        input = nil
        frame = nil
        decoration = nil
        toplevel = nil
        role = nil
        surface = nil
        buffers = []
    }

    var entry: pollfd { connection.entry }

    func show(_ picture: I420Picture) {
        content.picture = picture
        if surface == nil { hasFailed = !open() }
        needsDrawing = true
    }

    func handleEvents() -> ViewWindowState {
        connection.exchange()
        if isClosed { return .closed }
        guard !connection.isLost else {
            return .failed(ViewEnd("the connection to the Wayland compositor was lost"))
        }
        if hasFailed { return .failed(.noResources) }
        if needsDrawing, frame == nil || isAwaited, draw() { (needsDrawing, isAwaited) = (false, false) }
        connection.flush()
        return .open
    }

    // MARK: The window's objects

    /// Asks the compositor for a window, whose size it will say. False if there is no memory.
    private func open() -> Bool {
        surface = WaylandObject(wl_compositor_create_surface(compositor), gone: wl_surface_destroy)
        guard let surface else { return false }
        role = WaylandObject(
            shim_xdg_get_surface(base, surface.pointer), gone: { shim_wl_destroy($0, 0) },
            handler: { [weak self] event in
                // xdg_surface.configure
                if event.number == 0 { self?.configure(event[0].u) }
            })
        guard let role else { return false }
        toplevel = WaylandObject(
            shim_xdg_get_toplevel(role.pointer), gone: { shim_wl_destroy($0, 0) },
            handler: { [weak self] event in self?.handle(event) })
        guard let toplevel else { return false }
        shim_xdg_set_names(toplevel.pointer, "ScreenRelay", "screenrelay")
        if let decorations {
            decoration = WaylandObject(
                shim_xdg_decorate(decorations, toplevel.pointer), gone: { shim_wl_destroy($0, 0) })
        }
        // Nothing may be drawn before the compositor has answered this.
        wl_surface_commit(surface.pointer)
        return true
    }

    /// Handles an event of xdg_toplevel.
    private func handle(_ event: WaylandObject.Event) {
        switch event.number {
        case 0:
            proposal.size = Self.size(event[0].i, event[1].i)
            let states = Self.numbers(event[2].a)
            proposal.isFullScreen = states.contains(2)
            // Maximized, full screen, or tiled at one of four edges; 3 and 4 are resized by the user, and active.
            proposal.isArranged = states.contains { [1, 2, 5, 6, 7, 8].contains($0) }
        case 1: isClosed = true
        case 2: proposal.bounds = Self.size(event[0].i, event[1].i)
        default: break
        }
    }

    /// Does what the compositor has proposed before.
    private func configure(_ serial: UInt32) {
        guard let role else { return }
        shim_xdg_acknowledge(role.pointer, serial)
        let new = proposal.size ?? ownSize ?? openingSize
        if !proposal.isArranged { ownSize = new }
        if new != size {
            size = new
            buffers = []
        }
        (needsDrawing, isAwaited) = (true, true)
    }

    /// The picture's size, or the screen's if that is smaller.
    private var openingSize: PictureSize {
        let wanted = content.picture?.size ?? PictureSize(width: 640, height: 480)
        let bounds = proposal.bounds ?? wanted
        return PictureSize(width: min(wanted.width, bounds.width), height: min(wanted.height, bounds.height))
    }

    private func perform(_ action: WindowAction) {
        switch action {
        case .fit: content.fit()
        case .actual: content.toggleActualSize()
        case .toggleFullScreen: setFullScreen(!proposal.isFullScreen)
        case .leaveFullScreen: setFullScreen(false)
        }
        needsDrawing = true
    }

    private func setFullScreen(_ isFullScreen: Bool) {
        if let toplevel { shim_xdg_set_full_screen(toplevel.pointer, isFullScreen ? 1 : 0) }
    }

    // MARK: Drawing

    /// Draws the newest picture. False if the compositor hasn't said a size yet, or still reads all images.
    private func draw() -> Bool {
        guard let surface, let size else { return false }
        if buffers.isEmpty {
            buffers = [0, 1].compactMap { _ in WaylandBuffer(size, in: memory) }
            hasFailed = buffers.isEmpty
        }
        guard let buffer = buffers.first(where: \.isFree) else { return false }
        buffer.draw(content.shown(in: size))
        wl_surface_attach(surface.pointer, buffer.pointer, 0, 0)
        wl_surface_damage(surface.pointer, 0, 0, Int32(clamping: size.width), Int32(clamping: size.height))
        if frame == nil {
            frame = WaylandObject(wl_surface_frame(surface.pointer), gone: wl_callback_destroy) { [weak self] _ in
                self?.frame = nil
            }
        }
        wl_surface_commit(surface.pointer)
        buffer.isFree = false
        return true
    }

    /// A size of the compositor; nil if it leaves it to the window. A size beyond the limits is reduced to them, its
    /// area in proportion, and the window is smaller than the compositor wants.
    static func size(_ width: Int32, _ height: Int32) -> PictureSize? {
        guard width > 0, height > 0 else { return nil }
        let (width, height) = (min(Int(width), longestSide), min(Int(height), longestSide))
        let scale = min(1, (Double(maxPixels) / Double(width * height)).squareRoot())
        return PictureSize(width: Int(Double(width) * scale), height: Int(Double(height) * scale))
    }

    private static func numbers(_ array: UnsafeMutablePointer<wl_array>?) -> [UInt32] {
        guard let array, let data = array.pointee.data else { return [] }
        let bytes = UnsafeRawBufferPointer(start: data, count: array.pointee.size)
        return stride(from: 0, to: bytes.count & ~3, by: 4).map {
            bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self)
        }
    }
}
