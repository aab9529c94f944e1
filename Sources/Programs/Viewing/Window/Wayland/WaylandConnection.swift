import CWayland
import Clocks
import Glibc
import MediaTypes
import Threading

/// The connection to a Wayland compositor. For one thread, which waits for ``entry``: only the initializer waits
/// itself, for the compositor's first answer. All other objects of the compositor must be released before it is.
final class WaylandConnection {
    /// Why there is no connection.
    enum Failure: Error, CustomStringConvertible {
        /// WAYLAND_DISPLAY isn't set, or nothing listens there.
        case absent
        /// The compositor accepts connections, and doesn't answer.
        case silent

        var description: String {
            switch self {
            case .absent: "no Wayland compositor at WAYLAND_DISPLAY"
            case .silent:
                "the Wayland compositor at WAYLAND_DISPLAY doesn't answer within \(timeout.milliseconds / 1000) s"
            }
        }
    }

    /// Some sessions keep the socket while they start a compositor again.
    private static let timeout = Interval.seconds(5)

    private let display: OpaquePointer
    private var registry: WaylandObject?
    /// The compositor's global objects, the first one of each interface: their numbers and versions.
    private var globals: [String: (number: UInt32, version: UInt32)] = [:]
    /// Those that are in use.
    private var bound: [WaylandObject] = []
    /// Whether there was no room for all requests.
    private var hasUnsent = false

    /// Connects to the compositor of WAYLAND_DISPLAY.
    init() throws(Failure) {
        // Without a folder, libwayland would write a line to standard error.
        guard let name = Self.variable("WAYLAND_DISPLAY"),
            name.hasPrefix("/") || Self.variable("XDG_RUNTIME_DIR") != nil, let display = wl_display_connect(name)
        else { throw .absent }
        self.display = display
        registry = WaylandObject(wl_display_get_registry(display), gone: wl_registry_destroy) { [weak self] event in
            // wl_registry.global
            guard let self, event.number == 0, let interface = event[1].s else { return }
            // Of several, such as seats, the first one is used.
            let name = String(cString: interface)
            if globals[name] == nil { globals[name] = (event[0].u, event[2].u) }
        }
        guard isAnswering() else { throw isLost ? .absent : .silent }
    }

    deinit {
        bound = []
        registry = nil
        wl_display_disconnect(display)
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Waits until the compositor has answered; before that, it names its global objects.
    private func isAnswering() -> Bool {
        var isAnswered = false
        let answer = WaylandObject(wl_display_sync(display), gone: wl_callback_destroy) { _ in isAnswered = true }
        let end = MonotonicTime.now() + Self.timeout
        while true {
            exchange()
            if isAnswered || isLost || MonotonicTime.now() >= end { break }
            var entries = [entry]
            waitForEvents(&entries, until: end)
        }
        return withExtendedLifetime(answer) { isAnswered }
    }

    /// What is waited for before ``exchange()``.
    var entry: pollfd { pollfd(wl_display_get_fd(display), hasUnsent ? POLLIN | POLLOUT : POLLIN) }

    /// Whether the compositor is gone, or has refused a request.
    var isLost: Bool { wl_display_get_error(display) != 0 }

    /// Handles all events that have arrived, and sends all requests. Doesn't wait.
    func exchange() {
        while wl_display_prepare_read(display) != 0 {
            guard wl_display_dispatch_pending(display) >= 0 else { return }
        }
        wl_display_read_events(display)
        wl_display_dispatch_pending(display)
        flush()
    }

    /// Sends all requests, as far as there is room for them.
    func flush() {
        // What went wrong otherwise is found when events are read, after those that say why.
        hasUnsent = wl_display_flush(display) < 0 && errno == EAGAIN
    }

    /// The global object of `interface`, in the compositor's version of it or in `version` if that is lower. It lives
    /// as long as the connection; `gone` gives it up. Nil if the compositor has none, or if there is no memory.
    func bind(
        _ interface: UnsafePointer<wl_interface>?, version: UInt32, gone: @escaping (OpaquePointer) -> Void,
        handler: WaylandObject.Handler? = nil
    ) -> OpaquePointer? {
        guard let registry, let interface, let global = globals[String(cString: interface.pointee.name)],
            let raw = wl_registry_bind(registry.pointer, global.number, interface, min(version, global.version)),
            let object = WaylandObject(OpaquePointer(raw), gone: gone, handler: handler)
        else { return nil }
        bound.append(object)
        return object.pointer
    }
}
