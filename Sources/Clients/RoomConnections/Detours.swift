import MediaTypes
import SDP
import STUN
import Synchronization
import WebRTCPushing

/// The path of a session's packets.
package enum ConnectionPath: String, Hashable, Sendable {
    case udp
    /// TCP to the server's own port (RFC 6544).
    case tcp
    /// A TURN server.
    case relay
}

/// A session's paths around a network that blocks UDP: TCP to the server's own port, and a TURN server. Each is tried
/// only if the session isn't connected in time. May be used on any thread; its end is that of the paths.
final class Detours: Sendable {
    /// How much later than TCP a TURN server is asked, which may be billed by what it relays.
    private static let relayDelay = ServerRelay.delay * 2

    private let connections: ActiveConnections?
    private let relay: ServerRelay?
    private let ports: PortTable

    /// The ports on loopback that stand for the server.
    private final class PortTable: Sendable {
        private let paths = Mutex<[UInt16: ConnectionPath]>([:])

        subscript(port: UInt16) -> ConnectionPath? { paths.withLock { $0[port] } }

        /// Notes a candidate, before the session knows of it.
        func add(_ candidate: String, _ path: ConnectionPath) {
            guard let port = Candidate(parsing: candidate)?.port else { return }
            paths.withLock { $0[port] = path }
        }
    }

    /// Prepares the paths of a session that has been answered.
    ///
    /// - Parameters:
    ///   - named: what the server has named.
    ///   - chosen: the user's TURN servers, which are used instead of the server's; nil if there are none.
    ///   - add: called on threads of the paths with a candidate for the session.
    init(
        offer: String, answer: String, named: NamedServers?, chosen: NamedServers?,
        add: @escaping @Sendable (_ candidate: String) -> Void
    ) {
        let ports = PortTable()
        self.ports = ports
        connections = named.flatMap { named in
            ActiveConnections(offer: offer, answer: answer, nearest: named.nearest) { candidate in
                ports.add(candidate, .tcp)
                add(candidate)
            }
        }
        let delay = connections == nil ? ServerRelay.delay : Self.relayDelay
        relay = (chosen ?? named).flatMap { servers in
            ServerRelay(by: servers, offer: offer, answer: answer, after: delay) { candidate in
                ports.add(candidate, .relay)
                add(candidate)
            }
        }
    }

    /// The session is connected: gives up the paths that haven't been begun.
    func settle() {
        connections?.settle()
        relay?.settle()
    }

    /// Ends them, and waits until a TURN server knows of that, but no longer than until `deadline`.
    func close(until deadline: MonotonicTime) { relay?.close(until: deadline) }

    /// The path on which the session's peer has this address.
    func path(to peer: TransportAddress) -> ConnectionPath {
        peer.family == .ipv4 && peer.low == 0x7F00_0001 ? ports[peer.port] ?? .udp : .udp
    }
}
