import ByteCoding

/// A message of rtnetlink(7), as far as it can tell of the way to other networks.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +---------------------------------------------------------------+
///     |               length, with these 16 bytes                     |
///     +-------------------------------+-------------------------------+
///     |             type              |             flags             |
///     +-------------------------------+-------------------------------+
///     |                        sequence number                        |
///     +---------------------------------------------------------------+
///     |                            port                               |
///     +---------------------------------------------------------------+
///     |            content, and zeros up to a multiple of four        |
///
/// Numbers have the machine's byte order, which is little-endian wherever this runs.
enum RouteMessage: Hashable, Sendable {
    /// A default route that there is.
    case route(DefaultRoute)
    /// A default route has gone.
    case routeGone
    /// A link has changed, come or gone.
    case link
    /// An answer is complete.
    case end
    /// The kernel can't answer, or the routes changed while it did.
    case failed

    /// Reads what the kernel has sent at once. Messages that don't matter are left out, and what follows one whose
    /// length is wrong.
    static func read(_ bytes: ArraySlice<UInt8>) -> [RouteMessage] {
        var reader = ByteReader(bytes)
        var messages: [RouteMessage] = []
        while let length = reader.uint32LittleEndian(), let type = reader.uint16LittleEndian(),
            let flags = reader.uint16LittleEndian(), reader.bytes(8) != nil,
            let content = reader.bytes(Int(length) - 16)
        {
            _ = reader.bytes(min(reader.count, -Int(length) & 3))
            switch type {
            case _ where flags & 0x10 != 0: messages.append(.failed)  // NLM_F_DUMP_INTR
            case 2: messages.append(.failed)  // NLMSG_ERROR
            case 3: messages.append(.end)  // NLMSG_DONE
            case 16, 17: messages.append(.link)  // RTM_NEWLINK, RTM_DELLINK
            case 24: if let route = DefaultRoute(content) { messages.append(.route(route)) }  // RTM_NEWROUTE
            case 25: if DefaultRoute(content) != nil { messages.append(.routeGone) }  // RTM_DELROUTE
            default: break
            }
        }
        return messages
    }
}

/// A default route of the main table.
struct DefaultRoute: Hashable, Sendable {
    /// Where packets go.
    struct Way: Hashable, Sendable {
        /// The gateway's address, or the description of several; empty if packets go out without a gateway.
        var gateway: [UInt8] = []
        /// The number of the interface; 0 if the route has several.
        var interface: UInt32 = 0
    }

    var way = Way()
    /// AF_INET or AF_INET6.
    var family: UInt8
    /// Of several routes, the kernel takes the one with the lowest metric.
    var metric: UInt32 = 0
    /// Whether its link is up.
    var isUp: Bool

    /// A route with these values.
    init(family: UInt8, isUp: Bool = true) {
        self.family = family
        self.isUp = isUp
    }

    /// Reads the content of a message about a route, `struct rtmsg` and its attributes; nil if it is another kind of
    /// route, or cut off.
    init?(_ content: ArraySlice<UInt8>) {
        var reader = ByteReader(content)
        guard let family = reader.uint8(), let prefixLength = reader.uint8(), reader.bytes(2) != nil,
            let table = reader.uint8(), reader.bytes(2) != nil, let type = reader.uint8(),
            let flags = reader.uint32LittleEndian()
        else { return nil }
        // AF_INET or AF_INET6, RT_TABLE_MAIN, and RTN_UNICAST: not one that refuses packets.
        guard family == 2 || family == 10, prefixLength == 0, table == 254, type == 1 else { return nil }
        // Neither RTNH_F_DEAD nor RTNH_F_LINKDOWN.
        self.init(family: family, isUp: flags & 0x11 == 0)
        while let length = reader.uint16LittleEndian(), let kind = reader.uint16LittleEndian(),
            let value = reader.bytes(Int(length) - 4)
        {
            _ = reader.bytes(min(reader.count, -Int(length) & 3))
            var number = ByteReader(value)
            switch kind & 0x3FFF {
            case 4: way.interface = number.uint32LittleEndian() ?? 0  // RTA_OIF
            case 5, 9, 18: way.gateway = Array(value)  // RTA_GATEWAY, RTA_MULTIPATH, RTA_VIA
            case 6: metric = number.uint32LittleEndian() ?? 0  // RTA_PRIORITY
            default: break
            }
        }
    }
}

/// This machine's ways to other networks: for IPv4 and IPv6, the default route that the kernel takes.
struct DefaultRoutes: Hashable, Sendable {
    /// By the address family; a family without a route whose link is up has none.
    private let ways: [UInt8: DefaultRoute.Way]

    /// Chooses among all the default routes that there are.
    init(_ all: [DefaultRoute]) {
        var taken: [UInt8: DefaultRoute] = [:]
        for route in all where route.isUp {
            if let best = taken[route.family], best.metric <= route.metric { continue }
            taken[route.family] = route
        }
        ways = taken.mapValues(\.way)
    }

    /// What has changed for connections to other machines when these ways have become `new`; nil if nothing. A way that
    /// comes beside another, as IPv6 beside IPv4, changes nothing for them.
    func change(to new: DefaultRoutes) -> NetworkChange? {
        if new.ways.isEmpty { return ways.isEmpty ? nil : .lost }
        if ways.isEmpty { return .found }
        return ways.allSatisfy { new.ways[$0.key] == $0.value } ? nil : .moved
    }
}
