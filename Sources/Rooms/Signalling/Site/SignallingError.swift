/// Why the server can't start.
public enum SignallingError: Error, Sendable, Equatable, CustomStringConvertible {
    case notAnAddress(String)
    case occupied(ListenAddress)
    case notPermitted(ListenAddress)
    /// The address doesn't belong to this machine.
    case notOurs(ListenAddress)
    case cannotListen(ListenAddress, reason: String)
    /// GLib has no TLS backend on this machine.
    case noTLS
    /// The certificate or its key is unusable.
    case certificate(String)
    case alreadyStarted

    public var description: String {
        switch self {
        case .notAnAddress(let text):
            "can't listen on '\(text)': not an IP address; give one such as 127.0.0.1, 0.0.0.0 or ::1"
        case .occupied(let address):
            "can't listen on \(address): port \(address.port) is taken by another program; choose another port"
        case .notPermitted(let address):
            "can't listen on \(address): not permitted; choose a port from 1024 on"
        case .notOurs(let address):
            "can't listen on \(address): this machine doesn't have that address"
        case .cannotListen(let address, let reason):
            "can't listen on \(address): \(reason)"
        case .noTLS:
            "there is no TLS on this machine; install the package glib-networking"
        case .certificate(let reason):
            "the certificate can't be used: \(reason)"
        case .alreadyStarted:
            "the server was started already"
        }
    }
}
