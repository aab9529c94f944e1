import CodecTable
import MediaSessions
package import MediaTypes
import STUN
import Synchronization
import Threading
package import WebRTC
package import WebRTCPushing

/// A viewer's session with a WHEP endpoint: the requests by a ``ServerConnection``, the media by the only session of a
/// ``MediaServer``. Methods may be called on any thread, and don't wait unless their comment states it.
package final class WHEPConnection: PublishedFrameReceiver, Sendable {
    /// An event of the connection, in the order of arrival.
    package enum Event: Sendable {
        /// Media can flow.
        case connected
        case frame(ReceivedFrame)
        /// Nothing is to be expected after it, though it may be reported twice.
        case ended(ConnectionEnd)
    }

    private let media: MediaServer
    private let report: @Sendable (Event) -> Void
    private let shared = Mutex(Shared())

    private struct Shared {
        var connection: ServerConnection?
        var session: MediaSessionID?
        var builders: [TrackFormat.Codec: any FrameBuilder] = [:]
        var isOver = false
    }

    /// Begins to connect.
    ///
    /// - Parameter report: called on threads of the connection; it must not block.
    /// - Throws: ``ConnectionEnd`` if the system has no port, thread or descriptor left.
    package init(
        to server: WebRTCServer, report: @escaping @Sendable (Event) -> Void
    ) throws(ConnectionEnd) {
        let media = try MediaServer.forOneSession()
        (self.media, self.report) = (media, report)
        let offer = media.offerToView()
        let made = ServerConnection(server, offer: offer.text) { [weak self] event in self?.take(event, offer) }
        guard let connection = made else { throw .noResources }
        let isOver = shared.withLock { shared in
            shared.connection = connection
            return shared.isOver
        }
        if isOver { connection.abandon() }
    }

    deinit { abandon() }

    /// On the server connection's thread.
    private func take(_ event: ServerConnection.Event, _ offer: ViewingOffer) {
        switch event {
        case .named: break
        case .answered(let answer): begin(answer, offer)
        case .failed(let error): report(.ended(ConnectionEnd(of: error)))
        case .closed: report(.ended(ConnectionEnd("the connection was closed")))
        }
    }

    private func begin(_ answer: String, _ offer: ViewingOffer) {
        let id: MediaSessionID
        do throws(MediaSessionError) {
            id = try media.view(offer, answer: answer, to: self) { [weak self] _, reason in
                self?.report(.ended(ConnectionEnd("the connection has ended: \(reason)")))
            }
        } catch {
            return report(.ended(ConnectionEnd("the server's answer can't be used: \(error)")))
        }
        let isOver = shared.withLock { shared in
            shared.session = id
            return shared.isOver
        }
        if isOver { return media.close(id) }
        media.enableKeepalive(id, timeout: MediaServer.silence) { [report] in report(.connected) }
    }

    // MARK: Frames

    /// On the media thread.
    package func receive(_ frame: PublishedFrame) {
        let frames = shared.withLock { shared in
            var builder = shared.builders[frame.codec] ?? frame.codec.coding.makeBuilder()
            for unit in frame.units { builder.add(unit, captureTime: frame.captureTime) }
            builder.endFrame()
            var frames: [CodedFrame] = []
            while let next = builder.next() { frames.append(next) }
            shared.builders[frame.codec] = builder
            return frames
        }
        for coded in frames {
            report(
                .frame(
                    ReceivedFrame(
                        coded: coded, codec: frame.codec, arrival: frame.arrival,
                        lostPackets: frame.codec.kind == .video ? frame.lostPackets : 0)))
        }
    }

    /// The server sends a key frame when it can.
    package func keyFrameRequestsIgnored() {}

    /// Asks the server for a key frame.
    package func requestKeyFrame() {
        if let session = shared.withLock({ $0.session }) { media.requestKeyFrame(of: session) }
    }

    // MARK: The end

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

extension MediaServer {
    /// How long a peer may be silent before another connection is tried: two requests, each sent at least twice.
    static let silence = Interval.milliseconds(2_500)

    /// A server for one session with another server. Each session has a UDP port of its own, because servers take one
    /// address for one session.
    ///
    /// - Throws: ``ConnectionEnd`` if the system has no port, thread or descriptor left.
    static func forOneSession() throws(ConnectionEnd) -> MediaServer {
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
