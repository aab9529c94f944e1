public import MediaSessions
import SDP
import STUN
import Synchronization
import Threading

extension MediaServer {
    /// The mapped addresses offered to peers: those not among the host's own.
    var reflexiveAddresses: [ReflexiveAddress] {
        sharedAddresses.all.compactMap { mapped in
            let address = HostAddress(address: mapped.address.host, port: mapped.address.port)
            guard !addresses.contains(address) else { return nil }
            return ReflexiveAddress(address: address, base: HostAddress(address: mapped.base.host, port: port))
        }
    }

    /// Has the host send requests to the peer's candidates, so that a NAT in front of the host lets the peer's packets
    /// in. Candidates that come before the peer's answer are kept for it.
    public func remoteCandidates(_ session: MediaSessionID, fragment: String) {
        let candidates = Candidate.all(in: fragment, limit: CheckList.limit).compactMap { RemoteCandidate($0) }
        guard !candidates.isEmpty else { return }
        let isKept = registry.withLock { registry in
            guard let known = registry.offers[session]?.candidates else { return false }
            let room = CheckList.limit - known.count
            registry.offers[session]?.candidates += candidates.prefix(max(room, 0))
            return true
        }
        if !isKept { post(.candidates(session, candidates), to: session) }
    }

    /// The STUN servers in `configuration`; the log names those that can't be read.
    static func stunServers(_ configuration: MediaServerConfiguration, _ log: EventLog) -> [STUNServerName] {
        configuration.stunServers.compactMap { text in
            let name = STUNServerName(text)
            if name == nil { log.warning("\(text) is no STUN server; write it like stun.example.org:3478") }
            return name
        }
    }

    /// The addresses that peers are told. The advertised ones come first, since some peers look only at the first
    /// candidate.
    static func hostAddresses(
        bind: TransportAddress, port: UInt16, advertised: [TransportAddress]
    ) -> [HostAddress] {
        let isWildcard = bind.bytes.allSatisfy { $0 == 0 }
        // The IPv4 wildcard does not receive IPv6; the IPv6 wildcard receives both.
        let reachable = LocalAddresses.reachable(port: port).filter { bind.family == .ipv6 || $0.family == .ipv4 }
        let own = isWildcard ? reachable : [bind]
        let loopback = isWildcard ? [TransportAddress(ipv4: 127, 0, 0, 1, port: port)] : []
        var result: [HostAddress] = advertised.map {
            HostAddress(address: $0.host, port: $0.port == 0 ? port : $0.port)
        }
        for address in own + loopback {
            let candidate = HostAddress(address: address.host, port: port)
            if !result.contains(candidate) { result.append(candidate) }
        }
        return result
    }
}
