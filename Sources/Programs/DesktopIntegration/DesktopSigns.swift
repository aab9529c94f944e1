import Clocks
public import Glibc
public import MediaTypes
import SessionBus
public import Threading

/// Shows on the sharer's desktop that the screen is shared: an icon in the tray, notifications of viewers who join, and
/// a key that pauses. Whatever the desktop doesn't have is left out, and sharing continues.
///
/// It has no thread of its own, and nothing here waits except for the X server while a key is grabbed, which takes up
/// to 2 s after the connection was made: the owner polls ``entries`` until ``deadline``, and calls ``process()`` after
/// each wait. Not thread-safe.
public final class DesktopSigns {
    /// What the user wants besides the tray icon.
    public struct Settings: Sendable {
        /// Whether viewers who join are reported in notifications.
        public var notifies = false
        /// The key that pauses and resumes, if there is one.
        public var pauseKey: KeyChord?
        /// The X display of the key; nil for the one that DISPLAY names.
        public var display: String?

        /// Only the tray icon.
        public init() {}
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
    private var menuRevision: UInt32 = 1
    private var facts: SharingFacts
    private var notifications: Notifications?
    private var pauseKey: PauseKey?
    /// Whether the key is to be grabbed once there is a source, whose display then answers.
    private var needsKey: Bool
    /// Whether the display has ended. It is tried again when its pictures are back.
    private var isDisplayLost = false

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
        (self.settings, self.news, self.actions, self.log) = (settings, news, actions, log)
        readFacts = facts
        self.facts = facts()
        item = TrayItem { InstalledIcons.contain($0, environment: environment) }
        needsKey = settings.pauseKey != nil
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
        if let pauseKey { entries.append(pollfd(pauseKey.descriptor)) }
        return entries
    }

    /// When ``process()`` has something to do even if nothing arrives.
    public var deadline: MonotonicTime {
        guard let bus else { return .distantFuture }
        return min(bus.deadline, notifications?.deadline ?? .distantFuture)
    }

    /// Handles what has arrived and what has changed. Never waits for the bus.
    public func process() {
        handleNews()
        handleKey()
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
        needsKey = false
    }

    private func handleNews() {
        let reading = news.read()
        notifications?.take(reading)
        let old = facts
        facts = readFacts()
        facts.viewers = reading.viewers
        if !old.hasSource, facts.hasSource, isDisplayLost { (needsKey, isDisplayLost) = (true, false) }
        guard let bus else { return }
        TrayItem.tell(bus, from: old, to: facts)
        TrayMenu.tell(bus, from: old, to: facts, revision: &menuRevision)
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

    private func handleKey() {
        guard let chord = settings.pauseKey else { return }
        do throws(PauseKey.Problem) {
            if needsKey, facts.hasSource {
                needsKey = false
                pauseKey = try PauseKey(chord, display: settings.display)
                log.info("the key \(chord) pauses and resumes")
            }
            let presses = try pauseKey?.handleEvents() ?? 0
            for _ in 0..<presses { actions.togglePause() }
        } catch {
            pauseKey = nil
            switch error {
            case .noDisplay, .noAnswer: isDisplayLost = true
            case .noSuchKey, .taken: break
            }
            log.warning("--pause-key \(chord): \(error); sharing continues without it")
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
            return TrayMenu.answer(message, facts, revision: menuRevision) {
                switch $0 {
                case .togglePause: actions.togglePause()
                case .stop: actions.stop()
                }
            }
        default: return false
        }
    }
}
