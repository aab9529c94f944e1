import CLinux
import Glibc
public import STUN

/// This machine's own addresses, which peers are told as host candidates.
public enum LocalAddresses {
    /// The addresses of interfaces that are up, without loopback and link-local ones.
    ///
    /// The source addresses of packets to other networks come first: some peers look only at the first candidate, and
    /// the other addresses often belong to networks inside this machine (containers, virtual machines). IPv4 comes
    /// before IPv6.
    public static func reachable(port: UInt16) -> [TransportAddress] {
        ordered(ofInterfaces(port: port), outgoing: outgoing(port: port))
    }

    /// Sorts `addresses` so that the `outgoing` ones come first, and IPv4 before IPv6 within each part.
    static func ordered(_ addresses: [TransportAddress], outgoing: [TransportAddress]) -> [TransportAddress] {
        let isFirst = { (address: TransportAddress) in outgoing.contains(address) }
        return [true, false].flatMap { wanted in
            let part = addresses.filter { isFirst($0) == wanted }
            return part.filter { $0.family == .ipv4 } + part.filter { $0.family == .ipv6 }
        }
    }

    /// The source addresses that the kernel chooses for datagrams to other networks, determined with addresses reserved
    /// for documentation (RFC 5737, RFC 3849). Nothing is sent.
    private static func outgoing(port: UInt16) -> [TransportAddress] {
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = UInt16(9).bigEndian
        inet_pton(AF_INET, "203.0.113.1", &four.sin_addr)
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = UInt16(9).bigEndian
        inet_pton(AF_INET6, "2001:db8::1", &six.sin6_addr)
        return [source(towards: four, port: port), source(towards: six, port: port)].compactMap { $0 }
    }

    /// The local address of a socket connected to `destination`; nil if there is no route.
    private static func source<Address>(towards destination: Address, port: UInt16) -> TransportAddress? {
        var address = destination
        let family = withUnsafeBytes(of: &address) { Int32($0.loadUnaligned(as: sa_family_t.self)) }
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var length = socklen_t(MemoryLayout<Address>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard connect(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0 else {
                    return nil
                }
                return transportAddress(address, port: port)
            }
        }
    }

    private static func ofInterfaces(port: UInt16) -> [TransportAddress] {
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
        return found
    }

    /// The address with another port; nil if it is link-local or no IP address.
    private static func transportAddress(
        _ address: UnsafeMutablePointer<sockaddr>, port: UInt16
    ) -> TransportAddress? {
        var end = shim_endpoint()
        guard shim_endpoint_from(address, &end) == 0 else { return nil }
        let isLinkLocal = end.is_ipv6 != 0 && end.address.0 == 0xfe && end.address.1 & 0xc0 == 0x80
        end.port = port
        return isLinkLocal ? nil : TransportAddress(end)
    }
}
