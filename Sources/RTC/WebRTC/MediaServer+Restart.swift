public import MediaSessions
import SDP
import STUN
import Synchronization
import Threading

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
    /// Pictures continue on the old path until the peer nominates one with the new credentials.
    public func restartICE(_ id: MediaSessionID, fragment: String) throws(MediaRefusal) -> RestartedSession {
        guard var remote = counters.withLock({ $0.remoteICE[id] }) else {
            throw .unsupported("there is no such session")
        }
        let credentials: ICECredentials
        do throws(SDPError) {
            credentials = try TrickleFragment(parsing: Array(fragment.utf8)).credentials(of: remote.mid)
        } catch {
            throw .badOffer("\(error)")
        }
        // RFC 8839 section 4.4.1.1.1.
        guard credentials.ufrag != remote.ufrag, credentials.password != remote.password else {
            throw .badOffer("an ICE restart takes a new ice-ufrag and a new ice-pwd")
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
        return RestartedSession(
            fragment: RestartFragment(local: local, mid: remote.mid, payloadType: remote.payloadType).text,
            entityTag: local.iceUfrag)
    }
}
