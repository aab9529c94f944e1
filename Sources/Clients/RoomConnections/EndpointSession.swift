import MediaSessions
import MediaTypes
import STUN
import Synchronization
import Threading
import WebRTC
import WebRTCPushing

/// A session with a WHEP or WHIP endpoint, whichever way the media flows: the requests by a ``ServerConnection``, the
/// media by the only session of a ``MediaServer``. Methods may be called on any thread, and don't wait unless their
/// comment states it.
final class EndpointSession: Sendable {
    let media: MediaServer
    private let servers: NamedServers?
    private let shared = Mutex(Shared())

    private struct Shared {
        var connection: ServerConnection?
        var id: MediaSessionID?
        var offer = ""
        /// What the server has named, and the paths for networks that block UDP.
        var named: NamedServers?
        var detours: Detours?
        var isOver = false
    }

    /// Prepares the session.
    ///
    /// - Parameter servers: the TURN servers to use if UDP doesn't reach the server; nil for those that it names.
    /// - Throws: ``ConnectionEnd`` if the system has no port, thread or descriptor left.
    init(through servers: NamedServers?) throws(ConnectionEnd) {
        media = try MediaServer.forOneSession()
        self.servers = servers
    }

    deinit { abandon() }

    /// Begins to offer the session. Called once; `report` is called on the connection's thread.
    ///
    /// - Throws: ``ConnectionEnd`` if the system has no thread left.
    func connect(
        to server: WebRTCServer, offer: String, report: @escaping @Sendable (ServerConnection.Event) -> Void
    ) throws(ConnectionEnd) {
        shared.withLock { $0.offer = offer }
        let made = ServerConnection(server, offer: offer) { [weak self] event in
            if case .named(let named) = event { self?.shared.withLock { $0.named = named } }
            report(event)
        }
        guard let connection = made else { throw .noResources }
        let isOver = shared.withLock { shared in
            shared.connection = connection
            return shared.isOver
        }
        if isOver { connection.abandon() }
    }

    /// The media's session; nil before ``begin(_:)``, and after the end.
    var id: MediaSessionID? { shared.withLock { $0.isOver ? nil : $0.id } }

    /// Takes the media's session, which ends with this one. Returns false if that has happened already.
    @discardableResult
    func begin(_ id: MediaSessionID) -> Bool {
        let isOver = shared.withLock { shared in
            shared.id = id
            return shared.isOver
        }
        if isOver { media.close(id) }
        return !isOver
    }

    /// Follows the media's session, whose answer is accepted, until it is connected; by other paths if UDP doesn't get
    /// through. Returns these paths.
    @discardableResult
    func accepted(_ answer: String, onConnect: @escaping @Sendable () -> Void) -> Detours {
        let (id, offer, named) = shared.withLock { ($0.id, $0.offer, $0.named) }
        let detours = Detours(offer: offer, answer: answer, named: named, chosen: servers) { [weak media] candidate in
            if let id { media?.remoteCandidates(id, fragment: candidate) }
        }
        let isOver = shared.withLock { shared in
            if !shared.isOver { shared.detours = detours }
            return shared.isOver
        }
        if let id, !isOver {
            media.enableKeepalive(id, timeout: MediaServer.silence) {
                detours.settle()
                onConnect()
            }
        }
        return detours
    }

    /// Ends it. The server is told, which isn't waited for.
    func abandon() { finish().connection?.abandon() }

    /// Ends it, and waits until the server knows of the end, but no longer than until `deadline`.
    func close(until deadline: MonotonicTime) {
        let (connection, detours) = finish()
        media.stop()
        connection?.close()
        connection?.join(until: deadline)
        detours?.close(until: deadline)
    }

    /// Ends the media. Returns the connection, which still has to end the session at the server, and the session's
    /// detours, whose end takes locks of its own.
    private func finish() -> (connection: ServerConnection?, detours: Detours?) {
        let (connection, id, detours) = shared.withLock { shared in
            shared.isOver = true
            defer { shared.detours = nil }
            return (shared.connection, shared.id, shared.detours)
        }
        if let id { media.close(id) }
        return (connection, detours)
    }
}

extension MediaServer {
    /// How long a peer may be silent before another connection is tried: two requests, each sent at least twice.
    static let silence = Interval.milliseconds(2_500)

    /// A server for one session with another server. Each session has a UDP port of its own, because servers take one
    /// address for one session.
    ///
    /// - Throws: ``ConnectionEnd`` if the system has no port, thread or descriptor left.
    fileprivate static func forOneSession() throws(ConnectionEnd) -> MediaServer {
        var configuration = MediaServerConfiguration(bind: .unspecified(.ipv6), sessionLimit: 1)
        configuration.takesConnections = false
        configuration.processorLimit = 1
        do throws(WebRTCError) {
            return try MediaServer(configuration, log: .silent)
        } catch {
            throw ConnectionEnd("\(error)", .system, mayPass: false)
        }
    }
}
