import MediaTypes
import RTP
import STUN
import SecureTransport

/// What a session makes of the packets that its peer sends once it is connected.
extension PeerSession {
    /// Handles a datagram of RTCP.
    func handleRTCP(
        _ datagram: ArraySlice<UInt8>, from address: TransportAddress, arrival: MonotonicTime, now: MonotonicTime
    ) {
        guard let protector else { return }
        scratch.removeAll(keepingCapacity: true)
        scratch.append(contentsOf: datagram)
        // A datagram that can't be authenticated did not come from the peer, and one that can't be parsed carries no
        // information.
        guard (try? protector.unprotectRTCP(&scratch)) != nil,
            let packets = try? RTCPPacket.parse(scratch[...])
        else { return }
        ice.noteHeard(at: address, now: now)
        switch role {
        case .watching(let tracks):
            guard let path = ice.selectedPair.consented(now: now) else { return }
            let sink = self.sink
            tracks.handle(packets, arrival: arrival, now: now) { sink.send($0, along: path) }
        case .publishing(let tracks):
            tracks.handle(packets, arrival: arrival)
        }
    }

    /// A viewer sends no media. A publisher's audio shows that it is alive, as its video does.
    func handleRTP(
        _ datagram: ArraySlice<UInt8>, from address: TransportAddress, arrival: MonotonicTime, now: MonotonicTime
    ) {
        guard case .publishing(let tracks) = role, let protector else { return }
        scratch.removeAll(keepingCapacity: true)
        scratch.append(contentsOf: datagram)
        guard (try? protector.unprotect(&scratch)) != nil, let packet = try? RTPPacket(parsing: scratch[...]) else {
            return
        }
        ice.noteHeard(at: address, now: now)
        ice.selectedPair.publisherHeard(at: address, now: now)
        tracks.handle(packet, arrival: arrival, now: now)
    }
}
