import MediaSessions
package import MediaTypes
import Synchronization
package import TrackHub
import WebRTC
package import WebRTCPushing

/// A publisher's session with a WHIP endpoint: the requests by a ``ServerConnection``, the media by the only session of
/// a ``MediaServer``, which serves the endpoint like a viewer. Methods may be called on any thread, and don't wait
/// unless their comment states it.
package final class WHIPConnection: Sendable {
    /// An event of the connection, in the order of arrival.
    package enum Event: Sendable {
        /// Media can flow.
        case connected
        /// Nothing is to be expected after it, though it may be reported twice.
        case ended(ConnectionEnd)
    }

    private let media: MediaServer
    private let report: @Sendable (Event) -> Void
    private let shared = Mutex(Shared())

    private struct Shared {
        var connection: ServerConnection?
        var session: MediaSessionID?
        var isOver = false
    }

    /// Begins to publish `source`.
    ///
    /// - Parameter report: called on threads of the connection; it must not block.
    /// - Throws: ``ConnectionEnd`` if the system has no port, thread or descriptor left.
    package init(
        publishing source: WatchedSource, to server: WebRTCServer, report: @escaping @Sendable (Event) -> Void
    ) throws(ConnectionEnd) {
        let media = try MediaServer.forOneSession()
        (self.media, self.report) = (media, report)
        let offered: OfferedSession
        do throws(MediaSessionError) {
            offered = try media.offer(watching: source, controlling: true) { reason in
                report(.ended(ConnectionEnd("the connection has ended: \(reason)")))
            }
        } catch {
            throw ConnectionEnd("\(error)", .system, mayPass: false)
        }
        shared.withLock { $0.session = offered.id }
        let made = ServerConnection(server, offer: offered.offer) { [weak self] event in self?.take(event) }
        guard let connection = made else { throw .noResources }
        let isOver = shared.withLock { shared in
            shared.connection = connection
            return shared.isOver
        }
        if isOver { connection.abandon() }
    }

    deinit { abandon() }

    /// On the server connection's thread.
    private func take(_ event: ServerConnection.Event) {
        switch event {
        case .named: break
        case .answered(let answer): accept(answer)
        case .failed(let error): report(.ended(ConnectionEnd(of: error)))
        case .closed: report(.ended(ConnectionEnd("the connection was closed")))
        }
    }

    private func accept(_ answer: String) {
        guard let session = shared.withLock({ $0.isOver ? nil : $0.session }) else { return }
        do throws(MediaSessionError) {
            try media.accept(answer: answer, for: session)
        } catch {
            return report(.ended(ConnectionEnd("the server's answer can't be used: \(error)")))
        }
        media.enableKeepalive(session, timeout: MediaServer.silence) { [report] in report(.connected) }
    }

    /// Ends it. The server is told, which isn't waited for.
    package func abandon() { finish()?.abandon() }

    /// Ends it, and waits until the server knows of the end, but no longer than until `deadline`.
    package func close(until deadline: MonotonicTime) {
        let connection = finish()
        media.stop()
        connection?.close()
        connection?.join(until: deadline)
    }

    /// Ends the media. Returns the connection, which still has to end the session at the server.
    private func finish() -> ServerConnection? {
        let (connection, session) = shared.withLock { shared in
            shared.isOver = true
            return (shared.connection, shared.session)
        }
        if let session { media.close(session) }
        return connection
    }
}
