/// The source or destination of a datagram: an IPv4 or IPv6 address and a port. Cheap to compare and hash, so it serves
/// as a dictionary key for peers.
public struct TransportAddress: Sendable, Hashable {
    /// The version of the Internet Protocol.
    public enum Family: UInt8, Sendable, Hashable {
        case ipv4 = 1
        case ipv6 = 2
    }

    /// Whether it is an IPv4 or an IPv6 address.
    public let family: Family
    /// The first 64 bits of an IPv6 address; 0 in IPv4.
    public let high: UInt64
    /// The last 64 bits of an IPv6 address, or the 32 bits of an IPv4 address.
    public let low: UInt64
    /// The UDP port, or the TCP port if there is a ``connection``; in host byte order.
    public let port: UInt16
    /// The interface that a link-local IPv6 address belongs to (`sin6_scope_id`), otherwise 0.
    public let scope: UInt32
    /// The number of the TCP connection that leads there, otherwise 0. It distinguishes UDP from TCP at the same
    /// address and port, and a connection from earlier ones from there.
    public let connection: UInt32

    /// The IPv4 address `a.b.c.d`.
    public init(ipv4 a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, port: UInt16) {
        self.init(
            family: .ipv4, high: 0, low: UInt64(a) << 24 | UInt64(b) << 16 | UInt64(c) << 8 | UInt64(d), port: port)
    }

    /// An address of 4 (IPv4) or 16 (IPv6) bytes in network byte order; nil for any other number of bytes.
    public init?(bytes: some Collection<UInt8>, port: UInt16, scope: UInt32 = 0) {
        switch bytes.count {
        case 4:
            self.init(family: .ipv4, high: 0, low: Self.bigEndian(bytes), port: port)
        case 16:
            self.init(
                family: .ipv6, high: Self.bigEndian(bytes.prefix(8)), low: Self.bigEndian(bytes.dropFirst(8)),
                port: port, scope: scope)
        default:
            return nil
        }
    }

    /// An address from its bits as integers. The media thread uses this initializer because it allocates nothing.
    public init(
        family: Family, high: UInt64, low: UInt64, port: UInt16, scope: UInt32 = 0, connection: UInt32 = 0
    ) {
        self.family = family
        self.high = high
        self.low = low
        self.port = port
        self.scope = scope
        self.connection = connection
    }

    /// The same address at the end of the TCP connection with this number.
    public func over(connection: UInt32) -> TransportAddress {
        TransportAddress(family: family, high: high, low: low, port: port, scope: scope, connection: connection)
    }

    /// The same machine at another port.
    package func with(port: UInt16) -> TransportAddress {
        TransportAddress(family: family, high: high, low: low, port: port, scope: scope)
    }

    private static func bigEndian(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The address in network byte order: 4 bytes for IPv4, 16 for IPv6.
    public var bytes: [UInt8] {
        func split(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
        }
        return family == .ipv4 ? split(low, 4) : split(high, 8) + split(low, 8)
    }

    /// Turns `::ffff:a.b.c.d`, as a dual-stack socket reports an IPv4 peer, into `a.b.c.d`. Other addresses stay as
    /// they are.
    public var unmapped: TransportAddress {
        guard family == .ipv6, high == 0, low >> 32 == 0xffff else { return self }
        return TransportAddress(family: .ipv4, high: 0, low: low & 0xffff_ffff, port: port, connection: connection)
    }

    /// The address without its port, as written in a candidate: `192.0.2.1`, `2001:db8::1` (RFC 5952).
    public var host: String {
        switch family {
        case .ipv4:
            return bytes.map { String($0) }.joined(separator: ".")
        case .ipv6:
            let groups = (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> UInt64((3 - $0 % 4) * 16)) }
            return Self.text(ofGroups: groups)
        }
    }

    /// Formats an IPv6 address. The longest run of two or more zero groups, or the first of equally long runs, is
    /// written `::`.
    private static func text(ofGroups groups: [UInt16]) -> String {
        var longest = 0..<0
        var start = 0
        for index in 0...groups.count where index == groups.count || groups[index] != 0 {
            if index - start > max(longest.count, 1) { longest = start..<index }
            start = index + 1
        }
        func hex(_ part: ArraySlice<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        if longest.isEmpty { return hex(groups[...]) }
        return hex(groups[..<longest.lowerBound]) + "::" + hex(groups[longest.upperBound...])
    }
}

extension TransportAddress: CustomStringConvertible {
    /// `192.0.2.1:32853`, `[2001:db8::1]:32853`.
    public var description: String { family == .ipv4 ? "\(host):\(port)" : "[\(host)]:\(port)" }
}
