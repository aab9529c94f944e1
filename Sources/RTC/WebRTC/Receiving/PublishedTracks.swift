import MediaSessions
import MediaTypes
import RTP
import SecureTransport
import Threading

/// The tracks that a session's peer publishes. Belongs to the media thread.
final class PublishedTracks {
    private let owner = ThreadOwner()
    private let publications: [Publication]
    /// One for each track; empty until the keys are established.
    private var receivers: [TrackReceiver] = []
    /// Reports on the packets of all tracks; nil if the publisher takes no such reports, or until the keys are
    /// established.
    private var reporter: TransportReporter?

    init(_ publications: [Publication]) { self.publications = publications }

    /// Starts to receive.
    func begin(_ parameters: SessionParameters, protector: SRTPSession, now: MonotonicTime) {
        owner.check()
        receivers = publications.map { TrackReceiver(parameters, $0, protector: protector, now: now) }
        reporter = publications.compactMap { TransportReporter(parameters, $0, protector: protector, now: now) }.first
    }

    /// Handles an authenticated packet that arrived at `arrival`.
    func handle(_ packet: RTPPacket, arrival: MonotonicTime, now: MonotonicTime) {
        owner.check()
        reporter?.handle(packet, arrival: arrival, now: now)
        for index in receivers.indices { receivers[index].handle(packet, arrival: arrival, now: now) }
    }

    /// Handles the packets of one RTCP datagram that arrived at `arrival`.
    func handle(_ packets: [RTCPPacket], arrival: MonotonicTime) {
        owner.check()
        for index in receivers.indices { receivers[index].handle(packets, arrival: arrival) }
    }

    /// Asks for a key frame until one arrives.
    func requestKeyFrame(now: MonotonicTime) {
        owner.check()
        for index in receivers.indices { receivers[index].requestKeyFrame(now: now) }
    }

    /// Sends what is due. Returns the time of the next call.
    func advance(now: MonotonicTime, send: ([UInt8]) -> Bool) -> MonotonicTime {
        owner.check()
        reporter?.advance(now: now, send: send)
        var deadline = reporter?.deadline ?? MonotonicTime.distantFuture
        for index in receivers.indices {
            receivers[index].advance(now: now, send: send)
            deadline = min(deadline, receivers[index].deadline)
        }
        return deadline
    }
}
