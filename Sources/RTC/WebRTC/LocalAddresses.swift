import CLinux
import Glibc
public import STUN

/// This machine's own addresses: what an ICE-lite agent offers as host candidates.
public enum LocalAddresses {
    /// Addresses of interfaces that are up, without loopback and link-local ones; IPv4 first, since some peers look at the
    /// first candidate alone.
    public static func reachable(port: UInt16) -> [TransportAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [TransportAddress] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ifa_next
            let flags = Int32(bitPattern: entry.pointee.ifa_flags)
            guard flags & Int32(IFF_UP) != 0, flags & Int32(IFF_LOOPBACK) == 0,
                let address = entry.pointee.ifa_addr, let transport = transportAddress(address, port: port)
            else { continue }
            if !found.contains(transport) { found.append(transport) }
        }
        return found.filter { $0.family == .ipv4 } + found.filter { $0.family == .ipv6 }
    }

    private static func transportAddress(
        _ address: UnsafeMutablePointer<sockaddr>, port: UInt16
    ) -> TransportAddress? {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { four in
                TransportAddress(bytes: withUnsafeBytes(of: four.pointee.sin_addr) { Array($0) }, port: port)
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { six in
                let bytes = withUnsafeBytes(of: six.pointee.sin6_addr) { Array($0) }
                let isLinkLocal = bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80
                return isLinkLocal ? nil : TransportAddress(bytes: bytes, port: port)
            }
        default:
            return nil
        }
    }
}
