import CongestionControl
import MediaSessions
import MediaTypes
import STUN
import Threading

/// What the media loop asks of a session.
extension PeerSession {
    /// The peer's name in the log.
    var title: String { watched == nil ? "publisher \(id)" : "viewer \(id)" }

    /// The bit rate that the peer's path seems to carry.
    var targetBitRate: BitRate { watched?.targetBitRate ?? .highest }

    /// The session's statistics, for monitoring.
    var statistics: PeerStatistics {
        var statistics = PeerStatistics(id: id, isConnected: isConnected, targetBitRate: targetBitRate)
        if let peer = ice.selectedPair.current?.peer {
            statistics.address = peer.host
            statistics.transport = peer.connection == 0 ? .udp : .tcp
        }
        watched?.count(in: &statistics)
        return statistics
    }

    /// Whether the session waits for room in the socket; ``resume(now:)`` must be called once there is some.
    var isStalled: Bool { watched?.isStalled == true }

    /// Checks candidates that the peer found later.
    func add(_ candidates: [RemoteCandidate], now: MonotonicTime) {
        owner.check()
        ice.add(candidates, now: now)
        advance(now: now)
    }

    /// Forgets `address`, a TCP connection that is closed. The session waits for the peer to come back as long as it
    /// does for one that is silent.
    func connectionClosed(_ address: TransportAddress, now: MonotonicTime) {
        owner.check()
        ice.removeAddress(address)
        advance(now: now)
    }

    /// Resumes sending after the socket has room again.
    func resume(now: MonotonicTime) {
        owner.check()
        watched?.isStalled = false
        advance(now: now)
    }

    /// Calls `onChange` with the peer's address on the path in use: once there is one, and after each change.
    func watchPath(_ onChange: @escaping @Sendable (TransportAddress) -> Void) {
        owner.check()
        onPath = onChange
        if let mediaAddress { onChange(mediaAddress) }
    }

    func pathChanged(to peer: TransportAddress) {
        // It waited for room on another path.
        watched?.isStalled = false
        onPath?(peer)
    }

    /// Asks a publisher for a key frame until one arrives.
    func requestKeyFrame(now: MonotonicTime) {
        owner.check()
        if case .publishing(let tracks) = role { tracks.requestKeyFrame(now: now) }
        advance(now: now)
    }
}
