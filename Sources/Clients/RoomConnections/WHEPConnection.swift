import CodecTable
import MediaSessions
package import MediaTypes
import Synchronization
package import WebRTC
package import WebRTCPushing

/// A viewer's session with a WHEP endpoint. Methods may be called on any thread, and don't wait unless their comment
/// states it.
package final class WHEPConnection: PublishedFrameReceiver, Sendable {
    /// An event of the connection, in the order of arrival.
    package enum Event: Sendable {
        /// Media can flow.
        case connected
        /// They flow along this path; follows ``connected``.
        case path(ConnectionPath)
        case frame(ReceivedFrame)
        /// Nothing is to be expected after it, though it may be reported twice.
        case ended(ConnectionEnd)
    }

    private let session: EndpointSession
    private let report: @Sendable (Event) -> Void
    private let builders = Mutex<[TrackFormat.Codec: any FrameBuilder]>([:])
    private let isConnected = Atomic(false)

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - servers: the TURN servers to use if UDP doesn't reach the server; nil for those that the server names.
    ///   - report: called on threads of the connection; it must not block.
    /// - Throws: ``ConnectionEnd`` if the system has no port, thread or descriptor left.
    package init(
        to server: WebRTCServer, through servers: NamedServers? = nil, report: @escaping @Sendable (Event) -> Void
    ) throws(ConnectionEnd) {
        session = try EndpointSession(through: servers)
        self.report = report
        let offer = session.media.offerToView()
        try session.connect(to: server, offer: offer.text) { [weak self] event in self?.take(event, offer) }
    }

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
            id = try session.media.view(offer, answer: answer, to: self) { [weak self] _, reason in
                self?.report(.ended(ConnectionEnd("the connection has ended: \(reason)")))
            }
        } catch {
            return report(.ended(ConnectionEnd("the server's answer can't be used: \(error)")))
        }
        guard session.begin(id) else { return }
        let detours = session.accepted(answer) { [weak self] in self?.connected() }
        session.media.watchPath(id) { [report] peer in report(.path(detours.path(to: peer))) }
    }

    /// On the media thread, when the session tells that it is connected or at the first frame, whichever comes first:
    /// frames may arrive before the session is asked to tell it.
    private func connected() {
        if !isConnected.exchange(true, ordering: .relaxed) { report(.connected) }
    }

    // MARK: Frames

    /// On the media thread.
    package func receive(_ frame: PublishedFrame) {
        connected()
        let frames = builders.withLock { builders in
            var builder = builders[frame.codec] ?? frame.codec.coding.makeBuilder()
            for unit in frame.units { builder.add(unit, captureTime: frame.captureTime) }
            builder.endFrame()
            var frames: [CodedFrame] = []
            while let next = builder.next() { frames.append(next) }
            builders[frame.codec] = builder
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
        if let id = session.id { session.media.requestKeyFrame(of: id) }
    }

    // MARK: The end

    /// Ends it. The server is told, which isn't waited for.
    package func abandon() { session.abandon() }

    /// Ends it, and waits until the server knows of the end, but no longer than until `deadline`.
    package func close(until deadline: MonotonicTime) { session.close(until: deadline) }
}
