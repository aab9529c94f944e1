import Clocks
public import Glibc
public import MediaTypes
import SessionBus
public import Threading

/// Shows on the sharer's desktop that the screen is shared: an icon in the tray, notifications of viewers who join, and
/// a key that pauses. Whatever the desktop doesn't have is left out, and sharing continues.
///
/// It has no thread of its own, and nothing here waits except for the X server while a key is grabbed, which takes 2 s
/// at most: the owner polls ``entries`` until ``deadline``, and calls ``process()`` after each wait. Not thread-safe.
public final class DesktopSigns {
    /// What the user wants besides the tray icon.
    public struct Settings: Sendable {
        /// Whether viewers who join are reported in notifications.
        public var notifies = false
        /// The key that pauses and resumes, if there is one.
        public var pauseKey: KeyChord?
        /// Where the key is.
        public var keyPlace = KeyPlace.display(nil)

        /// Only the tray icon.
        public init() {}
    }

    /// Where a key is that works whatever window has the focus.
    public enum KeyPlace: Equatable, Sendable {
        /// On this X display; nil for the one that DISPLAY names.
        case display(String?)
        /// On the Wayland desktop, by its portal.
        case portal
    }

    /// What the desktop's user may do. Called in ``process()``.
    public struct Actions {
        let togglePause: () -> Void
        let stop: () -> Void

        /// Calls `togglePause` for a pause and its end, and `stop` for the end of sharing.
        public init(togglePause: @escaping () -> Void, stop: @escaping () -> Void) {
            self.togglePause = togglePause
            self.stop = stop
        }
    }

    private static let dbus = "org.freedesktop.DBus"
    private static let watcher = "org.kde.StatusNotifierWatcher"

    private let settings: Settings
    private let news: DesktopNews
    private let log: EventLog
    private let readFacts: () -> SharingFacts
    private let actions: Actions

    private var bus: BusConnection?
    private let item: TrayItem
    private var isRegistered = false
    private var facts: SharingFacts
    private var notifications: Notifications?
    private var pauseKey: PauseKeys?

    /// Connects to the user's bus, if there is one.
    ///
    /// - Parameters:
    ///   - settings: what the user wants.
    ///   - news: the viewers who come and go.
    ///   - facts: returns the share's state; the number of viewers is filled in.
    ///   - actions: what the user may do.
    ///   - log: gets a line for what was asked for and isn't possible.
    ///   - environment: returns the value of a variable.
    public init(
        _ settings: Settings, news: DesktopNews, facts: @escaping () -> SharingFacts, actions: Actions, log: EventLog,
        environment: (String) -> String?
    ) {
        self.settings = settings
        self.news = news
        self.actions = actions
        self.log = log
        readFacts = facts
        self.facts = facts()
        item = TrayItem { InstalledIcons.contain($0, environment: environment) }
        pauseKey = settings.pauseKey.map { PauseKeys($0, of: settings.keyPlace, log: log) }
        if settings.notifies { notifications = Notifications(log: log) }
        let bus = BusConnection(address: nil)
        if bus.failure == 0 {
            self.bus = bus
            bus.listener = self
            bus.listen(
                to: "type='signal',sender='\(Self.dbus)',interface='\(Self.dbus)',member='NameOwnerChanged',"
                    + "arg0='\(Self.watcher)'")
            bus.serve(TrayItem.path)
            bus.serve(TrayMenu.path)
        } else {
            notifications?.failed("no session bus: \(String(cString: strerror(bus.failure)))")
        }
        process()
    }

    /// What to poll.
    public var entries: [pollfd] {
        var entries: [pollfd] = []
        if let bus { entries.append(pollfd(bus.fileDescriptor, bus.events)) }
        if let entry = pauseKey?.entry { entries.append(entry) }
        return entries
    }

    /// When ``process()`` has something to do even if nothing arrives.
    public var deadline: MonotonicTime {
        let key = pauseKey?.deadline ?? .distantFuture
        guard let bus else { return key }
        return min(bus.deadline, notifications?.deadline ?? .distantFuture, key)
    }

    /// Handles what has arrived and what has changed. Never waits for the bus.
    public func process() {
        handleNews()
        for _ in 0..<(pauseKey?.handleEvents(hasSource: facts.hasSource) ?? 0) { actions.togglePause() }
        guard let bus else { return }
        if !bus.process() {
            bus.close()
            self.bus = nil
            notifications?.failed("the session bus has ended the connection")
            log.info("the session bus has ended the connection, and with it the tray icon")
            return
        }
        if !isRegistered { register() }
        // A click may just have changed the state.
        handleNews()
    }

    /// Removes the icon and releases the key. Idempotent.
    public func close() {
        bus?.close()
        bus = nil
        pauseKey = nil
    }

    private func handleNews() {
        let reading = news.read()
        notifications?.take(reading)
        let old = facts
        facts = readFacts()
        facts.viewers = reading.viewers
        guard let bus else { return }
        TrayItem.tell(bus, from: old, to: facts)
        TrayMenu.tell(bus, from: old, to: facts)
        notifications?.send(over: bus, facts, now: .now())
    }

    /// Registers the icon at the tray, if there is one.
    private func register() {
        guard let bus, let name = bus.uniqueName else { return }
        isRegistered = true
        bus.tell(Self.watcher, "/StatusNotifierWatcher", Self.watcher, "RegisterStatusNotifierItem") {
            $0.string(name)
        }
    }
}

extension DesktopSigns: BusListener {
    func replied(_ message: BusMessage) {
        // Nothing else asks for an answer.
        notifications?.answered(message)
    }

    func signalled(_ message: BusMessage) {
        guard message.member == "NameOwnerChanged", message.sender == Self.dbus else { return }
        // The name, its old owner and its new one.
        if let new = message.values()?.last?.text, !new.isEmpty { register() }
    }

    func called(_ message: BusMessage) -> Bool {
        switch message.path {
        case TrayItem.path: return item.answer(message, facts) { actions.togglePause() }
        case TrayMenu.path:
            return TrayMenu.answer(message, facts) {
                switch $0 {
                case .togglePause: actions.togglePause()
                case .stop: actions.stop()
                }
            }
        default: return false
        }
    }
}
