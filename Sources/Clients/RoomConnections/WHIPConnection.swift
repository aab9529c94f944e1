import MediaSessions
package import MediaTypes
package import TrackHub
import WebRTC
package import WebRTCPushing

/// A publisher's session with a WHIP endpoint, which is served like a viewer. Methods may be called on any thread, and
/// don't wait unless their comment states it.
package final class WHIPConnection: Sendable {
    /// An event of the connection, in the order of arrival.
    package enum Event: Sendable {
        /// Media can flow.
        case connected
        /// Nothing is to be expected after it, though it may be reported twice.
        case ended(ConnectionEnd)
    }

    private let session: EndpointSession
    private let report: @Sendable (Event) -> Void

    /// Begins to publish `source`.
    ///
    /// - Parameters:
    ///   - servers: the TURN servers to use if UDP doesn't reach the server; nil for those that the server names.
    ///   - report: called on threads of the connection; it must not block.
    /// - Throws: ``ConnectionEnd`` if the system has no port, thread or descriptor left.
    package init(
        publishing source: WatchedSource, to server: WebRTCServer, through servers: NamedServers? = nil,
        report: @escaping @Sendable (Event) -> Void
    ) throws(ConnectionEnd) {
        session = try EndpointSession(through: servers)
        self.report = report
        let offered: OfferedSession
        do throws(MediaSessionError) {
            offered = try session.media.offer(watching: source, controlling: true) { reason in
                report(.ended(ConnectionEnd("the connection has ended: \(reason)")))
            }
        } catch {
            throw ConnectionEnd("\(error)", .system, mayPass: false)
        }
        session.begin(offered.id)
        try session.connect(to: server, offer: offered.offer) { [weak self] event in self?.take(event) }
    }

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
        guard let id = session.id else { return }
        do throws(MediaSessionError) {
            try session.media.accept(answer: answer, for: id)
        } catch {
            return report(.ended(ConnectionEnd("the server's answer can't be used: \(error)")))
        }
        session.accepted(answer) { [report] in report(.connected) }
    }

    /// Ends it. The server is told, which isn't waited for.
    package func abandon() { session.abandon() }

    /// Ends it, and waits until the server knows of the end, but no longer than until `deadline`.
    package func close(until deadline: MonotonicTime) { session.close(until: deadline) }
}
