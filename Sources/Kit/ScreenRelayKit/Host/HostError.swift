import Glibc
public import LinkTransport
public import RecordingFiles
public import STUN
public import Signalling
import WebRTC

/// Why a host could not start. The description is one line that names the option.
public enum HostError: Error, Sendable, CustomStringConvertible {
    /// HTTP can't listen.
    case signalling(SignallingError)
    /// The UDP port can't be used.
    case media(address: TransportAddress, reason: String, isTaken: Bool)
    /// An unprivileged program may not use the UDP port.
    case mediaNotPermitted(address: TransportAddress)
    /// The link can't be opened.
    case link(SocketError)
    /// The recording can't be written.
    case recording(RecordingFileError)
    /// The track can't be added.
    case track(name: String, room: String, reason: String)
    /// The system refused a thread, a descriptor or a key.
    case system(String)

    init(_ error: WebRTCError) {
        switch error {
        case .cannotBind(let address, EADDRNOTAVAIL, _):
            self = .signalling(.notOurs(ListenAddress(address: address.host, port: address.port)))
        case .cannotBind(let address, EACCES, _): self = .mediaNotPermitted(address: address)
        case .cannotBind(let address, _, let reason):
            self = .media(address: address, reason: reason, isTaken: error.isAddressTaken)
        case .system(let what): self = .system(what)
        }
    }

    public var description: String {
        switch self {
        case .signalling(let error): "--listen: \(error)"
        case .media(let address, let reason, let isTaken):
            isTaken
                ? "--udp-port \(address.port): the port is taken by another program; choose another one, or 0 for any"
                : "--udp-port \(address.port): can't be used on \(address.host): \(reason)"
        case .mediaNotPermitted(let address):
            "--udp-port \(address.port): can't be used on \(address.host): not permitted; choose a port from 1024 on"
        case .link(let error): "--link: \(error)"
        case .recording(let error): "--record: \(error)"
        case .track(let name, let room, let reason): "--track \(room)/\(name): \(reason)"
        case .system(let what): what
        }
    }
}
