import MediaTypes
import SessionBus
import Threading

/// Sends notifications to the desktop (org.freedesktop.Notifications, Desktop Notifications Specification 1.2). For the
/// thread of ``DesktopSigns``.
struct Notifications {
    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    private var notices = JoinNotices()
    private var hasFailed = false
    private let log: EventLog

    init(log: EventLog) { self.log = log }

    /// When the next notification is due.
    var deadline: MonotonicTime { notices.deadline }

    /// Takes the viewers who have joined.
    mutating func take(_ news: DesktopNews.Reading) {
        for name in news.joined { notices.joined(name) }
        notices.joined(further: news.furtherJoined)
    }

    /// Sends what is due. A server that isn't running is started by the bus.
    mutating func send(over bus: BusConnection, _ facts: SharingFacts, now: MonotonicTime) {
        guard let summary = notices.next(at: now) else { return }
        let code = bus.call(Self.name, Self.path, Self.name, "Notify") {
            $0.string("ScreenRelay")
            // It replaces no earlier one.
            $0.unsigned(0)
            $0.string("screenrelay")
            // A summary is plain text. A server may read markup in the body, so the body has no name.
            $0.string(summary)
            $0.string("\(facts.viewersText) in the room \(facts.room)")
            $0.array(of: "s")
            $0.array(of: "{sv}") {
                $0.entry("desktop-entry", "s") { $0.string(ApplicationID.name) }
                $0.entry("category", "s") { $0.string("presence") }
            }
            // The server decides how long it is shown.
            $0.signed(-1)
        }
        if code != 0 { failed("System.Error.\(code)") }
    }

    /// Handles the answer to a notification. Only the first error is logged.
    mutating func answered(_ message: BusMessage) {
        if let error = message.errorName { failed(error) }
    }

    /// Logs, once, why there are no notifications.
    mutating func failed(_ reason: String) {
        guard !hasFailed else { return }
        hasFailed = true
        log.warning("--notify: the desktop shows no notifications (\(reason)); sharing continues without them")
    }
}
