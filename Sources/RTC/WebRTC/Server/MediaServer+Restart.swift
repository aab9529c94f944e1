public import MediaSessions
import SDP
import STUN
import Synchronization
import Threading

extension MediaServer {
    /// Pictures continue on the old path until the peer nominates one with the new credentials.
    public func restartICE(_ id: MediaSessionID, fragment: String) throws(MediaSessionError) -> RestartedSession {
        guard let remote = registry.withLock({ $0.negotiated[id] }) else {
            throw .unsupported("there is no such session")
        }
        let credentials: ICECredentials
        do throws(SDPError) {
            credentials = try TrickleFragment(parsing: Array(fragment.utf8)).credentials(of: remote.sections[0].mid)
        } catch {
            throw .badOffer("\(error)")
        }
        // RFC 8839 section 4.4.1.1.1.
        guard credentials.ufrag != remote.remoteUfrag, credentials.password != remote.remotePassword else {
            throw .badOffer("an ICE restart takes a new ice-ufrag and a new ice-pwd")
        }
        let local = localDescription(in: group.loop(of: id), sending: [])
        let agent = ICEAgent(
            localUfrag: local.iceUfrag, localPassword: local.icePassword, remoteUfrag: credentials.ufrag,
            remotePassword: credentials.password)
        guard post(.restartICE(id, agent), to: id) else { throw .stopped }
        remoteCandidates(id, fragment: fragment)
        registry.withLock { registry in
            registry.negotiated[id]?.remoteUfrag = credentials.ufrag
            registry.negotiated[id]?.remotePassword = credentials.password
        }
        return RestartedSession(
            fragment: RestartFragment(
                local: local, kind: remote.sections[0].kind, mid: remote.sections[0].mid,
                payloadType: remote.sections[0].format.payloadType
            ).text,
            entityTag: local.iceUfrag)
    }
}
