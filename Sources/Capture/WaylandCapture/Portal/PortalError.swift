public import CaptureEngine
public import CaptureLink
import Glibc
public import LinkTransport

/// The reason why the desktop's portal can't share a screen, or no longer does.
public enum PortalError: ScreenError, Equatable {
    /// No compositor answers at this socket.
    case noCompositor(path: String)
    /// No PipeWire takes connections at this socket.
    case noPipeWire(path: String)
    /// There is no user bus; `code` is an errno.
    case noBus(code: Int32)
    /// No portal is on the bus, and none can be started.
    case noPortal
    /// The portal has no backend that shares screens of this desktop.
    case noBackend
    /// The portal's interface has this version, which lacks what is needed.
    case versionTooLow(UInt32)
    /// The desktop can't share sources of the wanted types.
    case noSuchSource(PortalSourceTypes, available: PortalSourceTypes)
    /// The user has cancelled the desktop's dialog.
    case cancelled
    /// The desktop has ended the request in another way.
    case refused
    /// The desktop has ended the request in another way, although the restore token is one that it has given.
    case notRestored
    /// The desktop has ended the session, for example because the user has stopped it there.
    case closed
    /// The portal has left the bus.
    case portalGone
    /// The bus has ended the connection.
    case busGone
    /// The portal doesn't answer this call.
    case timedOut(call: String)
    /// The portal answered this call with an error of D-Bus.
    case callFailed(call: String, error: String)
    /// An answer of the portal lacks this part, or has another type there.
    case malformed(String)
    /// The restore token can't be written; `code` is an errno.
    case tokenNotWritten(path: String, code: Int32)
    /// A call of the system failed; `code` is its errno.
    case system(call: String, code: Int32)

    public var description: String {
        switch self {
        case .noCompositor(let path): "no Wayland compositor answers at '\(path)' (WAYLAND_DISPLAY)"
        case .noPipeWire(let path): "no PipeWire answers at '\(path)'"
        case .noBus(let code):
            "there is no user bus (DBUS_SESSION_BUS_ADDRESS): \(String(cString: strerror(code)))"
        case .noPortal: "there is no desktop portal on the user bus; install xdg-desktop-portal"
        case .noBackend:
            "the desktop portal can't share screens here; install its backend for this desktop, for example "
                + "xdg-desktop-portal-gnome, xdg-desktop-portal-kde or xdg-desktop-portal-wlr"
        case .versionTooLow(let version):
            "the desktop portal's screen cast interface has version \(version); at least "
                + "\(PortalProperties.lowestVersion) is needed: update xdg-desktop-portal"
        case .noSuchSource(let wanted, let available):
            "the desktop portal can't share this source (\(wanted)); it can share: \(available)"
        case .cancelled: "the desktop's dialog was cancelled"
        case .refused: "the desktop refused to share the screen"
        case .notRestored: "the desktop refused to share again what it has shared before"
        case .closed: "the desktop has stopped sharing the screen"
        case .portalGone: "the desktop portal has ended"
        case .busGone: "the user bus has ended the connection"
        case .timedOut(let call): "the desktop portal doesn't answer \(call)"
        case .callFailed(let call, let error): "the desktop portal answered \(call) with the error \(error)"
        case .malformed(let part): "the desktop portal's answer has no usable \(part)"
        case .tokenNotWritten(let path, let code):
            "the restore token can't be written to '\(path)': \(String(cString: strerror(code)))"
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code)))"
        }
    }
}

extension PortalError {
    public var kind: SocketError.Kind {
        switch self {
        case .cancelled, .refused, .closed: .declined
        case .noSuchSource: .usage
        case .tokenNotWritten, .system: .system
        default: .unavailable
        }
    }

    public var endReason: EndReason {
        switch self {
        case .closed: .stopped
        case .portalGone, .busGone: .displayLost
        default: .other
        }
    }
}
