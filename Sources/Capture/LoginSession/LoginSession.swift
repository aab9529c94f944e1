import CSystemBus
import Glibc
public import MediaTypes

/// The login session that this process belongs to, as logind keeps it: whether its desktop says that it is locked.
///
/// Desktops set `LockedHint` of their session (org.freedesktop.login1(5)) if they lock the screen without windows or a
/// screen saver of X, as GNOME does. Nothing here waits: the caller polls `descriptor`, and calls `process` when it is
/// ready or `deadline` has passed. Without a system bus, logind or a session, nothing is ever locked. Not thread-safe.
public final class LoginSession {
    /// Whether the session is locked; false while that isn't known. Changes only in `process`.
    public private(set) var isLocked = false
    /// Whether the session exists and has said whether it is locked.
    public private(set) var isKnown = false
    private let display: String?
    private var bus: OpaquePointer?
    private var path = ""
    // Set in callbacks, during which the connection can't be closed.
    private var isOver = false

    private static let logind = "org.freedesktop.login1"
    private static let session = "org.freedesktop.login1.Session"
    private static let properties = "org.freedesktop.DBus.Properties"

    /// Connects to the system bus and asks for this process's session.
    ///
    /// - Parameter display: the X display whose lock is wanted, as in `:0`. A session that names another one is
    ///   ignored: the user's session at the screen isn't that of a virtual display. Nil accepts any session.
    public init(display: String?) {
        self.display = display.map(Self.plain)
        if sd_bus_open_system(&bus) < 0 { bus = nil }
        // With "auto", a process outside any session, such as a service of the user's, means the user's graphical one.
        call("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "GetSession", ["auto"]) {
            message, context, _ in
            LoginSession.of(context)?.sessionFound(message)
            return 0
        }
        process()
    }

    deinit { close() }

    /// The descriptor to poll for `events`; -1 if there is nothing to wait for.
    public var descriptor: Int32 { bus.map { max(-1, sd_bus_get_fd($0)) } ?? -1 }

    /// The events to poll `descriptor` for.
    public var events: Int32 { bus.map { max(0, sd_bus_get_events($0)) } ?? 0 }

    /// The time at which `process` has something to do even if nothing arrives: while an answer is awaited.
    public var deadline: MonotonicTime {
        var microseconds = UInt64.max
        guard let bus, sd_bus_get_timeout(bus, &microseconds) >= 0, microseconds < UInt64(Int64.max) / 1000 else {
            return .distantFuture
        }
        return MonotonicTime(nanoseconds: Int64(microseconds) * 1000)
    }

    /// Reads what has arrived, and writes what is to be sent. Never waits.
    public func process() {
        while let bus, !isOver {
            let result = sd_bus_process(bus, nil)
            if result < 0 { isOver = true }
            if result <= 0 { break }
        }
        if isOver { close() }
    }

    private func close() {
        guard let bus else { return }
        self.bus = nil
        // Unlike a flush, closing never waits.
        sd_bus_close(bus)
        sd_bus_unref(bus)
        isKnown = false
        isLocked = false
    }

    // MARK: - Answers

    private func sessionFound(_ message: OpaquePointer?) {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_is_method_error(message, nil) == 0,
            sd_bus_message_read_basic(message, Self.type("o"), &text) > 0,
            let text
        else {
            isOver = true
            return
        }
        path = String(cString: text)
        get("Display") { message, context, _ in
            LoginSession.of(context)?.displayFound(message)
            return 0
        }
    }

    private func displayFound(_ message: OpaquePointer?) {
        // A session of a terminal or of Wayland names no display.
        let named = Self.text(in: message).map(Self.plain) ?? ""
        if let display, !named.isEmpty, named != display {
            isOver = true
            return
        }
        // The bus handles one request after the other, so no change is missed between these two.
        sd_bus_match_signal_async(
            bus, nil, Self.logind, path, Self.properties, "PropertiesChanged",
            { _, context, _ in
                LoginSession.of(context)?.askForHint()
                return 0
            }, nil, Unmanaged.passUnretained(self).toOpaque())
        askForHint()
    }

    private func askForHint() {
        get("LockedHint") { message, context, _ in
            LoginSession.of(context)?.hintFound(message)
            return 0
        }
    }

    private func hintFound(_ message: OpaquePointer?) {
        var value: Int32 = 0
        guard sd_bus_message_is_method_error(message, nil) == 0,
            sd_bus_message_enter_container(message, Self.type("v"), "b") > 0,
            sd_bus_message_read_basic(message, Self.type("b"), &value) > 0
        else {
            // The session has ended.
            isKnown = false
            isLocked = false
            return
        }
        isKnown = true
        isLocked = value != 0
    }

    // MARK: - Questions

    private func get(_ property: String, _ answer: sd_bus_message_handler_t) {
        call(path, Self.properties, "Get", [Self.session, property], answer)
    }

    private func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [String], _ answer: sd_bus_message_handler_t
    ) {
        guard let bus else { return }
        var message: OpaquePointer?
        var isMade = sd_bus_message_new_method_call(bus, &message, Self.logind, path, interface, member) >= 0
        // Where logind isn't running, it isn't wanted.
        isMade = isMade && sd_bus_message_set_auto_start(message, 0) >= 0
        for argument in arguments {
            isMade = isMade && argument.withCString { sd_bus_message_append_basic(message, Self.type("s"), $0) } >= 0
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        // The usual time limit of the bus applies, 25 s.
        if !isMade || sd_bus_call_async(bus, nil, message, answer, context, 0) < 0 { isOver = true }
        sd_bus_message_unref(message)
    }

    /// The string in the variant that `message` holds; nil if there is none.
    private static func text(in message: OpaquePointer?) -> String? {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_is_method_error(message, nil) == 0,
            sd_bus_message_enter_container(message, type("v"), "s") > 0,
            sd_bus_message_read_basic(message, type("s"), &text) > 0
        else { return nil }
        return text.map { String(cString: $0) }
    }

    /// The display's name without its screen and without the words for this machine: `unix:0.0` is `:0`.
    private static func plain(_ display: String) -> String {
        guard let colon = display.lastIndex(of: ":") else { return display }
        let host = display[..<colon] == "unix" ? "" : String(display[..<colon])
        return host + String(display[colon...].prefix { $0 != "." })
    }

    /// A type of D-Bus, by its letter.
    private static func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }

    private static func of(_ context: UnsafeMutableRawPointer?) -> LoginSession? {
        context.map { Unmanaged<LoginSession>.fromOpaque($0).takeUnretainedValue() }
    }
}
