import Clocks
import CommandLine
import MediaTypes
import RoomConnections
import Signalling
import Threading
import WebRTCPushing

/// Views a WHEP endpoint.
final class WHEPViewing: ViewConnection {
    let inbox: Mailbox<ViewEvent>
    private let connection: WHEPConnection

    /// How long the server may take to answer the request that ends the session.
    private static let farewell = Interval.seconds(3)

    /// Begins to connect. Throws if the system has no port, thread or descriptor left.
    ///
    /// - Parameter servers: the TURN servers to use if UDP doesn't reach the server; empty for those that it names.
    init(to server: WebRTCServer, through servers: [ICEServer]) throws(ViewEnd) {
        guard let inbox = Mailbox<ViewEvent>() else { throw .noResources }
        self.inbox = inbox
        do throws(ConnectionEnd) {
            connection = try WHEPConnection(to: server, through: NamedServers(chosen: servers)) { event in
                switch event {
                case .connected: inbox.post(.connected)
                case .path(let path): inbox.post(.path(path))
                case .frame(let frame): inbox.post(frame)
                case .ended(let end): inbox.post(.ended(ViewEnd(end)))
                }
            }
        } catch {
            throw ViewEnd(error)
        }
    }

    func requestKeyFrame() { connection.requestKeyFrame() }

    func abandon() { connection.abandon() }

    func close() { connection.close(until: .now() + Self.farewell) }
}

extension ViewEnd {
    /// The end because a room's connection has ended.
    fileprivate init(_ end: ConnectionEnd) {
        let code: ExitCode =
            switch end.cause {
            case .unavailable: .unavailable
            case .refused: .permission
            case .system: .system
            }
        self.init(end.description, code, mayPass: end.mayPass)
    }
}
