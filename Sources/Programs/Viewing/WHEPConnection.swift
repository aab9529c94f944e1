import Clocks
import CodecTable
import CommandLine
import MediaSessions
import MediaTypes
import OutputLife
import STUN
import Synchronization
import Threading
import WebRTC
import WebRTCPushing

/// A viewer's session with a WHEP endpoint: the requests by a ``ServerConnection``, the media by the only session of a
/// ``MediaServer``. Each session has a UDP port of its own, because servers take one address for one session.
final class WHEPConnection: ViewConnection, PublishedFrameReceiver, Sendable {
    /// How long the server may be silent before another connection is tried: two requests, each sent at least twice.
    private static let timeout = Interval.milliseconds(2_500)
    /// How long the server may take to answer the request that ends the session.
    private static let farewell = Interval.seconds(3)

    let inbox: Mailbox<ViewEvent>
    private let media: MediaServer
    private let shared = Mutex(Shared())

    private struct Shared {
        var connection: ServerConnection?
        var session: MediaSessionID?
        var builders: [TrackFormat.Codec: any FrameBuilder] = [:]
        var isOver = false
    }

    /// Begins to connect. Throws if the system has no port, thread or descriptor left.
    init(to server: WebRTCServer) throws(ViewEnd) {
        guard let inbox = Mailbox<ViewEvent>() else { throw .noResources }
        var configuration = MediaServerConfiguration(bind: .unspecified(.ipv6), sessionLimit: 1)
        configuration.takesConnections = false
        configuration.processorLimit = 1
        let media: MediaServer
        do throws(WebRTCError) {
            media = try MediaServer(configuration, log: .silent)
        } catch {
            throw ViewEnd("\(error)", .system, mayPass: false)
        }
        (self.inbox, self.media) = (inbox, media)
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
        case .failed(let error): end(ViewEnd(of: error))
        case .closed: end(ViewEnd("the connection was closed"))
        }
    }

    private func begin(_ answer: String, _ offer: ViewingOffer) {
        let id: MediaSessionID
        do throws(MediaSessionError) {
            id = try media.view(offer, answer: answer, to: self) { [weak self] _, reason in
                self?.end(ViewEnd("the connection has ended: \(reason)"))
            }
        } catch {
            return end(ViewEnd("the server's answer can't be used: \(error)"))
        }
        let isOver = shared.withLock { shared in
            shared.session = id
            return shared.isOver
        }
        if isOver { return media.close(id) }
        media.enableKeepalive(id, timeout: Self.timeout) { [inbox] in inbox.post(.connected) }
    }

    private func end(_ end: ViewEnd) { inbox.post(.ended(end)) }

    // MARK: Frames

    /// On the media thread.
    func receive(_ frame: PublishedFrame) {
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
            inbox.post(
                ViewedFrame(
                    coded: coded, codec: frame.codec, arrival: frame.arrival,
                    lostPackets: frame.codec.kind == .video ? frame.lostPackets : 0))
        }
    }

    /// The server sends a key frame when it can.
    func keyFrameRequestsIgnored() {}

    func requestKeyFrame() {
        if let session = shared.withLock({ $0.session }) { media.requestKeyFrame(of: session) }
    }

    // MARK: The end

    func abandon() { finish()?.abandon() }

    func close() {
        let connection = finish()
        media.stop()
        connection?.close()
        connection?.join(until: .now() + Self.farewell)
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

extension ViewEnd {
    /// The end because of the server's answer. With a wrong token or password, another attempt is useless.
    fileprivate init(of error: OutputError) {
        self.init("\(error)", error.isFinal ? .permission : .unavailable, mayPass: !error.isFinal)
    }
}
