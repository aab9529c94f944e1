import Glibc
import SDP
package import STUN

/// A candidate of the peer's that the host may check: an address of a machine, and how much the peer prefers it.
struct RemoteCandidate: Sendable, Hashable {
    let address: TransportAddress
    let priority: UInt32

    init(address: TransportAddress, priority: UInt32) {
        self.address = address
        self.priority = priority
    }

    /// Nil unless `candidate` is a UDP port of one machine: a peer must not have the host send to a group or to nobody.
    /// Names (`….local`) are not looked up.
    init?(_ candidate: Candidate) {
        guard candidate.transport == "udp", candidate.component == 1, candidate.port != 0,
            let address = TransportAddress(numeric: candidate.address, port: candidate.port)?.unmapped,
            address.isUnicast || address.isLoopback
        else { return nil }
        self.init(address: address, priority: candidate.priority)
    }
}

extension TransportAddress {
    /// A numeric IPv4 or IPv6 address without a zone, and a port; nil if `text` is anything else.
    package init?(numeric text: String, port: UInt16) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: bytes.prefix(4), port: port)
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes, port: port)
        } else {
            return nil
        }
    }

    /// The address that leaves the choice of a local address to the kernel.
    package static func unspecified(_ family: Family) -> TransportAddress {
        TransportAddress(family: family, high: 0, low: 0, port: 0)
    }

    /// Whether the address is a global or private one of a single machine: not loopback, link-local, multicast,
    /// broadcast, or reserved (RFC 6890).
    var isUnicast: Bool {
        switch family {
        case .ipv4:
            let first = UInt8(truncatingIfNeeded: low >> 24)
            return (1...223).contains(first) && first != 127 && low >> 16 != 169 << 8 | 254
        case .ipv6:
            // 2000::/3 and fc00::/7.
            return high >> 61 == 1 || high >> 57 == 0xfc >> 1
        }
    }

    var isLoopback: Bool { family == .ipv4 ? low >> 24 == 127 : high == 0 && low == 1 }
}
