import LinkTransport

/// How near an address is to this machine. Servers elsewhere must not send requests to what only this machine, or only
/// its network, can reach.
package enum Nearness: Int, Comparable, Sendable {
    case global, privateNetwork, linkLocal, thisMachine

    /// The nearness of a numeric address; that of this machine for text that is no address.
    package init(_ address: String) {
        guard AddressRange(address) != nil else {
            self = .thisMachine
            return
        }
        self = Self.ranges.first { $0.range.contains(address) }?.nearness ?? .global
    }

    package static func < (first: Nearness, second: Nearness) -> Bool { first.rawValue < second.rawValue }

    /// From the registries of special addresses (RFC 6890).
    private static let ranges: [(range: AddressRange, nearness: Nearness)] = [
        (thisMachine, ["0.0.0.0/8", "127.0.0.0/8", "::/127"]), (linkLocal, ["169.254.0.0/16", "fe80::/10"]),
        (privateNetwork, ["10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"]),
    ].flatMap { nearness, ranges in ranges.compactMap { AddressRange($0).map { ($0, nearness) } } }
}
