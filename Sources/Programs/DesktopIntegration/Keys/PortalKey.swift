import Clocks
import Glibc
import MediaTypes
import SessionBus
import Threading

/// A key of a Wayland desktop: org.freedesktop.portal.GlobalShortcuts, version 1.
///
/// `init` begins to ask the desktop, which may show a dialog in which its user accepts the key or chooses another one.
/// Nothing here waits: the owner polls ``entry``, and calls ``handleEvents()`` when it is ready or ``deadline`` has
/// passed. Not thread-safe.
final class PortalKey: SharersKey {
    /// The calls of the portal, one after the other.
    private enum Step: String {
        case registering = "Register"
        case creating = "CreateSession"
        case binding = "BindShortcuts"
    }

    private static let shortcuts = "org.freedesktop.portal.GlobalShortcuts"
    private static let registry = "org.freedesktop.host.portal.Registry"
    private static let dbus = "org.freedesktop.DBus"
    /// The key's name within this program.
    private static let shortcut = "pause"
    /// How long a step may take that doesn't wait for the user, as for a call of the bus.
    private static let timeout = Interval.seconds(25)

    private let chord: KeyChord
    private let log: EventLog
    private let bus: BusConnection
    private var step = Step.registering
    private var request = PortalRequest()
    /// The unique name of the portal, once it has answered.
    private var portal: String?
    /// The session's path, once it was created.
    private var session = ""
    private var isBound = false
    private var limit = MonotonicTime.distantFuture
    private var presses = 0
    private var problem: Problem?

    /// Begins to ask the desktop for a key, if it wants this one.
    ///
    /// - Parameters:
    ///   - log: gets a line once the key is bound.
    ///   - busAddress: the address of the bus with the portal; nil for the user's.
    init(_ chord: KeyChord, log: EventLog, busAddress: String? = nil) {
        self.chord = chord
        self.log = log
        bus = BusConnection(address: busAddress)
        guard bus.failure == 0 else {
            problem = .noBus(code: bus.failure)
            return
        }
        bus.listener = self
        bus.listenToPortal()
        bus.listen(to: "type='signal',interface='\(Self.shortcuts)',member='Activated'")
        begin(.registering)
    }

    var entry: pollfd { pollfd(bus.fileDescriptor, bus.events) }

    var deadline: MonotonicTime { problem == nil ? min(bus.deadline, limit) : .zero }

    func handleEvents() throws(Problem) -> Int {
        if problem == nil {
            if !bus.process() {
                end(.busGone)
            } else if limit <= MonotonicTime.now() {
                end(.timedOut(call: step.rawValue))
            }
        }
        if let problem {
            bus.close()
            throw problem
        }
        defer { presses = 0 }
        return presses
    }

    private func end(_ problem: Problem) {
        if self.problem == nil { self.problem = problem }
    }

    private func begin(_ next: Step) {
        step = next
        request = PortalRequest()
        // The user may take any time for the desktop's dialog.
        limit = next == .binding ? .distantFuture : MonotonicTime.now() + Self.timeout
        let interface = next == .registering ? Self.registry : Self.shortcuts
        let (session, trigger) = (session, chord.trigger)
        let code = bus.call(PortalRequest.portal, PortalRequest.object, interface, next.rawValue) { writer in
            switch next {
            case .registering:
                writer.string(ApplicationID.name)
                writer.array(of: "{sv}")
            case .creating:
                writer.array(of: "{sv}") {
                    $0.entry("handle_token", "s") { $0.string("screenrelay1") }
                    $0.entry("session_handle_token", "s") { $0.string("screenrelay") }
                }
            case .binding:
                writer.path(session)
                writer.array(of: "(sa{sv})") {
                    $0.structure("sa{sv}") {
                        $0.string(Self.shortcut)
                        $0.array(of: "{sv}") {
                            $0.entry("description", "s") { $0.string("Pause or resume screen sharing") }
                            $0.entry("preferred_trigger", "s") { $0.string(trigger) }
                        }
                    }
                }
                // There is no window to show the dialog in front of.
                writer.string("")
                writer.array(of: "{sv}") { $0.entry("handle_token", "s") { $0.string("screenrelay2") } }
            }
        }
        if code != 0 { end(.system(call: next.rawValue, code: code)) }
    }

    private func responded() {
        guard let values = request.results else { return }
        switch values.first?.number {
        case 0: break
        case 1: return end(.cancelled)
        case nil: return end(.malformed(call: step.rawValue))
        default: return end(.refused)
        }
        let results = values.dropFirst().first?.entries ?? [:]
        switch step {
        case .registering: break
        case .creating:
            guard let path = results["session_handle"]?.text, path.hasPrefix("/") else {
                return end(.malformed(call: step.rawValue))
            }
            session = path
            begin(.binding)
        case .binding:
            if !isBound { bound(results["shortcuts"]) }
            isBound = true
        }
    }

    /// Logs what the desktop has bound. If it is nothing, the user may bind a key later.
    private func bound(_ shortcuts: BusValue?) {
        guard case .array(let elements)? = shortcuts else { return noKeyBound() }
        for case .structure(let parts) in elements where parts.first?.text == Self.shortcut {
            // The user may have chosen another key.
            let text = parts.dropFirst().first?.entries?["trigger_description"]?.text ?? ""
            log.info("the key \(Self.printable(text) ?? chord.description) pauses and resumes")
            return
        }
        noKeyBound()
    }

    private func noKeyBound() {
        log.warning(
            "--pause-key \(chord): the desktop has bound no key yet; one that you set for ScreenRelay in its settings "
                + "pauses and resumes")
    }

    /// The desktop's text for a key, as a log line can have it; nil if nothing is left.
    private static func printable(_ text: String) -> String? {
        let scalars = text.unicodeScalars.prefix(60).filter {
            switch $0.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        guard !scalars.isEmpty else { return nil }
        var printable = String.UnicodeScalarView()
        printable.append(contentsOf: scalars)
        return String(printable)
    }

    private func callFailed(_ error: String) {
        if !bus.isOpen { return end(.busGone) }
        let prefix = "\(Self.dbus).Error."
        let name = error.hasPrefix(prefix) ? String(error.dropFirst(prefix.count)) : error
        switch name {
        case "NoReply", "Timeout", "TimedOut": end(.timedOut(call: step.rawValue))
        case "ServiceUnknown" where portal == nil, "NameHasNoOwner" where portal == nil: end(.noPortal)
        case _ where portal == nil && name.hasPrefix("Spawn."): end(.noPortal)
        // Portals before 1.19.4 have no registry, and others know only programs that are installed. Most portals
        // before 1.21 bind keys for a program that they don't know.
        case _ where step == .registering: begin(.creating)
        case "UnknownMethod" where step == .creating, "UnknownInterface" where step == .creating,
            "UnknownObject" where step == .creating:
            end(.noShortcuts)
        case "org.freedesktop.portal.Error.NotAllowed": end(.unknownProgram)
        default: end(.callFailed(call: step.rawValue, error: error))
        }
    }
}

extension PortalKey: BusListener {
    func replied(_ message: BusMessage) {
        if problem != nil { return }
        // The bus itself answers for a portal that isn't there.
        if message.sender.hasPrefix(":") { portal = message.sender }
        if let error = message.errorName { return callFailed(error) }
        if step == .registering { return begin(.creating) }
        guard request.answered(message) else { return end(.malformed(call: step.rawValue)) }
        responded()
    }

    func signalled(_ message: BusMessage) {
        if problem != nil { return }
        switch message.member {
        case "NameOwnerChanged" where message.sender == Self.dbus:
            // The name, its old owner and its new one.
            let old = message.values()?.dropFirst().first?.text
            if let portal, old == portal { end(.portalGone) }
        case "Response" where message.sender == portal:
            request.responded(message)
            responded()
        case "Closed" where message.sender == portal && message.path == session: end(.closed)
        case "Activated" where message.sender == portal:
            // Some portals send the signals of all programs to each.
            let values = message.values() ?? []
            if isBound, values.first?.text == session, values.dropFirst().first?.text == Self.shortcut { presses += 1 }
        default: break
        }
    }
}
