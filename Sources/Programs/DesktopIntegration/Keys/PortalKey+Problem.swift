import Glibc

extension PortalKey {
    /// Why the desktop gives this program no key, or no longer.
    enum Problem: KeyProblem, Equatable {
        /// There is no session bus; `code` is an errno.
        case noBus(code: Int32)
        /// No portal is on the bus, and none can be started.
        case noPortal
        /// The portal, or its backend for this desktop, has no keys for other programs.
        case noShortcuts
        /// The portal gives keys only to programs whose desktop file is installed.
        case unknownProgram
        /// The user has cancelled the desktop's dialog.
        case cancelled
        /// The desktop has ended the request in another way.
        case refused
        /// The desktop has ended the session.
        case closed
        /// The portal has left the bus.
        case portalGone
        /// The bus has ended the connection.
        case busGone
        /// The portal doesn't answer this call.
        case timedOut(call: String)
        /// The portal answered this call with an error of D-Bus.
        case callFailed(call: String, error: String)
        /// The answer to this call lacks something.
        case malformed(call: String)
        /// This call can't be sent; `code` is an errno.
        case system(call: String, code: Int32)

        var description: String {
            switch self {
            case .noBus(let code): "there is no session bus (\(String(cString: strerror(code))))"
            case .noPortal: "there is no desktop portal on the session bus"
            case .noShortcuts:
                "the desktop portal has no keys for other programs (org.freedesktop.portal.GlobalShortcuts), so set "
                    + "keys for 'screenrelay pause' and 'screenrelay resume' in the desktop's settings"
            case .unknownProgram:
                "the desktop portal gives keys only to installed programs (\(ApplicationID.name).desktop)"
            case .cancelled: "the desktop's dialog was cancelled"
            case .refused: "the desktop refused to bind a key"
            case .closed: "the desktop has released the key"
            case .portalGone: "the desktop portal has ended"
            case .busGone: "the session bus has ended the connection"
            case .timedOut(let call): "the desktop portal doesn't answer \(call)"
            case .callFailed(let call, let error): "the desktop portal answered \(call) with the error \(error)"
            case .malformed(let call): "the desktop portal's answer to \(call) can't be used"
            case .system(let call, let code): "\(call) can't be sent: \(String(cString: strerror(code)))"
            }
        }

        var isTemporary: Bool {
            switch self {
            case .portalGone, .timedOut: true
            default: false
            }
        }
    }
}
