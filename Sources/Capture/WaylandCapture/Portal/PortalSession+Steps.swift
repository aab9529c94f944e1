import Clocks
import Glibc
import LinkTransport
import MediaTypes
import SessionBus

/// The conversation with the portal: one call at a time. `CreateSession`, `SelectSources` and `Start` return the path
/// of a request (org.freedesktop.portal.Request), whose signal `Response` has the results.
extension PortalSession {
    private static let interface = "org.freedesktop.portal.ScreenCast"
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let dbus = "org.freedesktop.DBus"
    private static let errors = "org.freedesktop.DBus.Error."

    /// Begins the conversation.
    func begin() {
        bus.listenToPortal()
        begin(.reading)
    }

    private func begin(_ next: Step) {
        step = next
        request = PortalRequest()
        // Some backends ask the user when the sources are selected, the others when the session is started.
        let isAsking = next == .selecting || next == .starting
        state = isAsking ? .asking : .opening
        limit = isAsking ? .distantFuture : MonotonicTime.now() + Self.patience
        callCount += 1
        let token = BusValue.string("screenrelay\(callCount)")
        let arguments: [BusValue] =
            switch next {
            case .reading: [.string(Self.interface)]
            case .creating: [.dictionary(["handle_token": token, "session_handle_token": token])]
            case .selecting: [.path(path), .dictionary(selection(token))]
            case .starting: [.path(path), .string(""), .dictionary(["handle_token": token])]
            case .connecting: [.path(path), .dictionary([:])]
            }
        let interface = next == .reading ? Self.properties : Self.interface
        let code = bus.call(PortalRequest.portal, PortalRequest.object, interface, next.rawValue, arguments)
        if code != 0 { end(.system(call: next.rawValue, code: code)) }
    }

    private func selection(_ token: BusValue) -> [String: BusValue] {
        var options: [String: BusValue] = [
            "handle_token": token, "multiple": .boolean(false),
            // Until the user revokes it.
            "persist_mode": .unsigned(2),
        ]
        if let properties {
            options["types"] = .unsigned(properties.sources.rawValue)
            options["cursor_mode"] = properties.cursorMode.map { BusValue.unsigned($0.rawValue) }
        }
        if let givenToken { options["restore_token"] = .string(givenToken) }
        return options
    }

    private func propertiesFound(_ message: BusMessage) {
        portal = message.sender
        do throws(PortalError) {
            let found = try PortalProperties(
                message.values() ?? [], wanted: wanted, embedsPointer: embedsPointer)
            properties = found
            cursorMode = found.cursorMode ?? .hidden
            begin(.creating)
        } catch {
            end(error)
        }
    }

    private func responded() {
        guard let values = request.results else { return }
        do throws(PortalError) {
            let results = try PortalReplies.results(values)
            switch step {
            case .creating:
                path = try PortalReplies.session(results)
                begin(.selecting)
            case .selecting: begin(.starting)
            case .starting:
                streams = try PortalReplies.streams(results)
                restoreToken = PortalReplies.restoreToken(results)
                begin(.connecting)
            case .reading, .connecting: break
            }
        } catch {
            end(error == .refused && givenToken != nil ? .notRestored : error)
        }
    }

    private func remoteFound(_ message: BusMessage) {
        let descriptor = message.descriptor()
        guard descriptor >= 0 else { return end(.system(call: step.rawValue, code: errno)) }
        remote = FileDescriptor(owning: descriptor)
        limit = .distantFuture
        state = .open
    }

    private func callFailed(_ error: String) {
        if !bus.isOpen { return end(.busGone) }
        let isReading = step == .reading
        switch error.hasPrefix(Self.errors) ? String(error.dropFirst(Self.errors.count)) : error {
        case _ where step == .selecting && givenToken != nil:
            // The portal refuses a token that has another form than its own, and a session is of no use then.
            givenToken = nil
            path = ""
            begin(.creating)
        case "NoReply", "Timeout", "TimedOut": end(.timedOut(call: step.rawValue))
        case "ServiceUnknown" where isReading, "NameHasNoOwner" where isReading: end(.noPortal)
        case let name where isReading && name.hasPrefix("Spawn."): end(.noPortal)
        // Without a backend, some versions leave the interface out.
        case "InvalidArgs" where isReading, "UnknownInterface" where isReading, "UnknownMethod" where isReading,
            "UnknownObject" where isReading:
            end(.noBackend)
        default: end(.callFailed(call: step.rawValue, error: error))
        }
    }
}

extension PortalSession: BusListener {
    func replied(_ message: BusMessage) {
        if hasEnded { return }
        if let error = message.errorName { return callFailed(error) }
        switch step {
        case .reading: propertiesFound(message)
        case .creating, .selecting, .starting:
            guard request.answered(message) else { return end(.malformed("request")) }
            responded()
        case .connecting: remoteFound(message)
        }
    }

    func signalled(_ message: BusMessage) {
        if hasEnded { return }
        switch message.member {
        case "NameOwnerChanged" where message.sender == Self.dbus:
            // The name, its old owner and its new one.
            let old = message.values()?.dropFirst().first?.text
            if let portal, old == portal { end(.portalGone) }
        case "Response" where message.sender == portal:
            request.responded(message)
            responded()
        case "Closed" where message.sender == portal && message.path == path: end(.closed)
        default: break
        }
    }
}
