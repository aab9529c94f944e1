import CongestionControl
import MediaSessions
import MediaTypes
import RTP
import SecureTransport

/// What a session does with media: it sends to a peer that watches, or receives from one that publishes.
enum SessionRole {
    case watching(WatchedTracks)
    case publishing(PublishedTracks)

    /// A peer that is silent for this long is gone (RFC 7675 section 5.1). A publisher sends pictures all the time, and
    /// another publisher may be waiting to take its place.
    var patience: Interval {
        switch self {
        case .watching: .seconds(30)
        case .publishing: .seconds(10)
        }
    }

    /// Whether pictures wait for room in the socket.
    var isStalled: Bool {
        guard case .watching(let tracks) = self else { return false }
        return tracks.isStalled
    }

    /// Sends a viewer the pictures since the last key frame again, with new sequence numbers.
    func restart() {
        if case .watching(let tracks) = self { tracks.restart() }
    }
}

/// The tracks of a source that a session's peer watches. Belongs to the media thread.
final class WatchedTracks {
    let feed: TrackFeed
    /// One for each track; empty until the keys are established, because a sender takes far more memory than an
    /// unanswered offer should cost.
    private var senders: [TrackSender] = []
    private var onPointerChange: ((PointerChange) -> Void)?

    init(_ feed: TrackFeed) {
        self.feed = feed
    }

    /// Starts to send; `roundTripTime` is the first estimate, if there is one.
    func begin(
        _ parameters: SessionParameters, protector: SRTPSession, roundTripTime: Interval?, now: MonotonicTime
    ) {
        senders = [TrackSender(parameters, feed: feed, protector: protector, roundTripTime: roundTripTime, now: now)]
        senders[0].pointer.isWatched = onPointerChange != nil
    }

    /// Handles the packets of one RTCP datagram.
    func handle(_ packets: [RTCPPacket], now: MonotonicTime, send: ([UInt8]) -> Bool) {
        for index in senders.indices { senders[index].handle(packets, now: now, send: send) }
    }

    /// Begins again with the last key frame.
    func restart() {
        for index in senders.indices { senders[index].restart() }
    }

    /// Sends what is due. Returns the time of the next call.
    func advance(now: MonotonicTime, send: ([UInt8]) -> Bool) -> MonotonicTime {
        var deadline = MonotonicTime.distantFuture
        for index in senders.indices {
            senders[index].advance(now: now, send: send)
            deadline = min(deadline, senders[index].deadline)
            for change in senders[index].pointer.take() { onPointerChange?(change) }
        }
        return deadline
    }

    /// Calls `onChange` for the first picture, and whenever the pointer starts or stops being drawn into the pictures.
    /// If pictures have already been sent, calls it at once.
    func watchPointer(_ onChange: @escaping (PointerChange) -> Void) {
        onPointerChange = onChange
        for index in senders.indices {
            senders[index].pointer.isWatched = true
            if let last = senders[index].pointer.last { onChange(last) }
        }
    }

    /// Whether sending waits for room in the socket. Set it to false to let sending go on.
    var isStalled: Bool {
        get { senders.indices.contains { senders[$0].isStalled } }
        set { for index in senders.indices { senders[index].isStalled = newValue } }
    }

    /// The estimated bit rate that the peer's path can carry.
    var targetBitRate: BitRate {
        senders.indices.reduce(LossBasedRate.highest) { min($0, senders[$1].rate.target) }
    }

    /// Adds what was sent to `statistics`.
    func count(in statistics: inout PeerStatistics) {
        for sender in senders {
            statistics.sentUnits += sender.sentUnits
            statistics.sentPackets += Int(sender.stream.statistics.packetCount)
            statistics.retransmittedPackets += Int(sender.stream.retransmissionStatistics.packetCount)
            statistics.roundTripTime = sender.roundTripTime ?? statistics.roundTripTime
        }
    }
}

/// The tracks that a session's peer publishes. Belongs to the media thread.
final class PublishedTracks {
    private let publications: [Publication]
    /// One for each track; empty until the keys are established.
    private var receivers: [TrackReceiver] = []

    init(_ publications: [Publication]) { self.publications = publications }

    /// Starts to receive.
    func begin(_ parameters: SessionParameters, protector: SRTPSession, now: MonotonicTime) {
        receivers = publications.map { TrackReceiver(parameters, $0, protector: protector, now: now) }
    }

    /// Handles an authenticated packet.
    func handle(_ packet: RTPPacket, now: MonotonicTime) {
        for index in receivers.indices { receivers[index].handle(packet, now: now) }
    }

    /// Handles the packets of one RTCP datagram.
    func handle(_ packets: [RTCPPacket], now: MonotonicTime) {
        for index in receivers.indices { receivers[index].handle(packets, now: now) }
    }

    /// Asks for a key frame until one arrives.
    func requestKeyFrame(now: MonotonicTime) {
        for index in receivers.indices { receivers[index].requestKeyFrame(now: now) }
    }

    /// Sends what is due. Returns the time of the next call.
    func advance(now: MonotonicTime, send: ([UInt8]) -> Bool) -> MonotonicTime {
        var deadline = MonotonicTime.distantFuture
        for index in receivers.indices {
            receivers[index].advance(now: now, send: send)
            deadline = min(deadline, receivers[index].deadline)
        }
        return deadline
    }
}
