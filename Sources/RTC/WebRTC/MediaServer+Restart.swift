import SDP
import STUN
import Synchronization
import Threading

/// A session whose ICE was restarted.
public struct RestartedPeer: Sendable {
    /// Our new credentials and candidates, as `application/trickle-ice-sdpfrag`.
    public var fragment: String
    /// Identifies the current ICE generation, as WHEP's ETag.
    public var entityTag: String
}

/// The peer's current ICE generation, and the media section that it belongs to.
struct RemoteICE: Sendable {
    var ufrag: String
    var password: String
    var mid: String?
    var payloadType: UInt8

    init(_ video: NegotiatedVideo) {
        ufrag = video.remoteUfrag
        password = video.remotePassword
        mid = video.mid
        payloadType = video.payloadType
    }
}

extension MediaServer {
    /// Restarts ICE for a session, with the peer's new credentials in `fragment` (RFC 8840). Quick and never blocks.
    /// Pictures continue on the old path until the peer nominates one with the new credentials. If this throws, nothing
    /// has changed.
    public func restartICE(_ id: PeerSessionID, fragment: String) throws(OfferRefusal) -> RestartedPeer {
        guard var remote = counters.withLock({ $0.remoteICE[id] }) else { throw .unusable("there is no such session") }
        let credentials: ICECredentials
        do throws(SDPError) {
            credentials = try TrickleFragment(parsing: Array(fragment.utf8)).credentials(of: remote.mid)
        } catch {
            throw .malformed("\(error)")
        }
        // RFC 8839 section 4.4.1.1.1.
        guard credentials.ufrag != remote.ufrag, credentials.password != remote.password else {
            throw .malformed("an ICE restart takes a new ice-ufrag and a new ice-pwd")
        }
        remote.ufrag = credentials.ufrag
        remote.password = credentials.password
        let local = localDescription()
        let agent = LiteAgent(
            localUfrag: local.iceUfrag, localPassword: local.icePassword, remoteUfrag: credentials.ufrag,
            remotePassword: credentials.password)
        guard inbox.post(.restartICE(id, agent)) else { throw .stopped }
        counters.withLock { counters in
            guard counters.remoteICE[id] != nil else { return }
            counters.remoteICE[id] = remote
        }
        return RestartedPeer(
            fragment: RestartFragment(local: local, mid: remote.mid, payloadType: remote.payloadType).text,
            entityTag: local.iceUfrag)
    }
}
