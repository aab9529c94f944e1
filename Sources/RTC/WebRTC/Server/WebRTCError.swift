import Glibc
public import STUN

/// An error in starting the media server.
public enum WebRTCError: Error, Sendable, CustomStringConvertible {
    /// The UDP port could not be bound.
    case cannotBind(TransportAddress, errorNumber: Int32, reason: String)
    /// A file descriptor, a thread or a certificate could not be created.
    case system(String)

    /// Whether another program uses the port.
    public var isAddressTaken: Bool {
        guard case .cannotBind(_, let number, _) = self else { return false }
        return number == EADDRINUSE
    }

    public var description: String {
        switch self {
        case .cannotBind(let address, _, let reason):
            return "UDP port \(address.port) on \(address.host) can't be used: \(reason)"
        case .system(let what):
            return what
        }
    }
}
