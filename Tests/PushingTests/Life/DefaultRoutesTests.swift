import ByteCoding
import TestSupport
import Testing

@testable import Pushing

@Suite("What the kernel tells of the way to other networks")
struct DefaultRoutesTests {
    /// A message with its length, padded.
    private func message(_ type: UInt16, _ content: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.uint32LittleEndian(UInt32(16 + content.count))
        writer.uint16LittleEndian(type)
        writer.append([UInt8](repeating: 0, count: 10) + content)
        return padded(writer.bytes)
    }

    private func attribute(_ kind: UInt16, _ value: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.uint16LittleEndian(UInt16(4 + value.count))
        writer.uint16LittleEndian(kind)
        writer.append(value)
        return padded(writer.bytes)
    }

    private func padded(_ bytes: [UInt8]) -> [UInt8] { bytes + [UInt8](repeating: 0, count: -bytes.count & 3) }

    private func route(
        family: UInt8 = 2, prefix: UInt8 = 0, table: UInt8 = 254, type: UInt8 = 1, flags: UInt8 = 0,
        attributes: [UInt8] = []
    ) -> [UInt8] {
        [family, prefix, 0, 0, table, 3, 0, type, flags, 0, 0, 0] + attributes
    }

    private func defaultRoute(
        _ gateway: [UInt8], _ interface: UInt32, metric: UInt32 = 0, family: UInt8 = 2, isUp: Bool = true
    ) -> DefaultRoute {
        var route = DefaultRoute(family: family, isUp: isUp)
        route.way = DefaultRoute.Way(gateway: gateway, interface: interface)
        route.metric = metric
        return route
    }

    /// What Linux 6 answers where `ip route` says `default via 192.0.2.2 dev near metric 50`.
    private let answer: [UInt8] = [
        0x3C, 0, 0, 0, 0x18, 0, 2, 0, 0, 0, 0, 0, 0xD6, 0x71, 0, 0, 2, 0, 0, 0, 0xFE, 3, 0, 1, 0, 0, 0, 0,
        8, 0, 15, 0, 0xFE, 0, 0, 0, 8, 0, 6, 0, 0x32, 0, 0, 0, 8, 0, 5, 0, 0xC0, 0, 2, 2, 8, 0, 4, 0, 3, 0, 0, 0,
        0x14, 0, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0xD6, 0x71, 0, 0, 0, 0, 0, 0,
    ]

    @Test("the answer of a kernel is the default route, and its end")
    func kernel() {
        #expect(RouteMessage.read(answer[...]) == [.route(defaultRoute([192, 0, 2, 2], 3, metric: 50)), .end])
    }

    @Test("only messages about links and default routes count")
    func kinds() {
        let nearby = [
            route(prefix: 24), route(table: 255), route(type: 7), route(family: 17), [2, 0, 0, 0], [],
        ]
        for content in nearby {
            #expect(RouteMessage.read((message(24, content) + message(25, content))[...]) == [], "\(content)")
        }
        let all = message(16, []) + message(17, [1, 2, 3]) + message(20, []) + message(25, route()) + message(2, [])
        #expect(RouteMessage.read(all[...]) == [.link, .link, .routeGone, .failed])
    }

    @Test("a route whose link is down, one by several gateways and one by IPv6 are told apart")
    func routes() {
        let gateway = [UInt8](repeating: 0x20, count: 16)
        let interface = attribute(4, [7, 0, 0, 0])
        let metrics = attribute(6, [0, 4, 0, 0])
        let bytes =
            message(24, route(flags: 0x10, attributes: attribute(5, [192, 0, 2, 3]) + interface))
            + message(24, route(attributes: attribute(0x8009, [1, 2, 3, 4, 5])))
            + message(24, route(family: 10, attributes: interface + attribute(5, gateway) + metrics))
        #expect(
            RouteMessage.read(bytes[...]) == [
                .route(defaultRoute([192, 0, 2, 3], 7, isUp: false)), .route(defaultRoute([1, 2, 3, 4, 5], 0)),
                .route(defaultRoute(gateway, 7, metric: 1024, family: 10)),
            ])
    }

    @Test("what is cut off anywhere gives the messages before that, and no bytes are too wild")
    func damage() {
        let bytes = message(16, [9]) + answer + message(25, route(attributes: attribute(5, [192, 0, 2, 3])))
        let whole = RouteMessage.read(bytes[...])
        #expect(whole.count == 4)
        for count in bytes.indices { #expect(whole.starts(with: RouteMessage.read(bytes[..<count]))) }
        var random = SeededRandom(seed: 19)
        for _ in 0..<20_000 {
            #expect(RouteMessage.read(random.mutation(of: bytes)[...]).count <= 12)
        }
    }

    @Test("the kernel's choice counts: the lowest metric whose link is up, for each IP version")
    func choice() {
        let wire = defaultRoute([192, 0, 2, 1], 2, metric: 100)
        let radio = defaultRoute([198, 51, 100, 1], 3, metric: 600)
        let six = defaultRoute([UInt8](repeating: 1, count: 16), 2, metric: 100, family: 10)
        var wireDown = wire
        wireDown.isUp = false
        func change(_ old: [DefaultRoute], _ new: [DefaultRoute]) -> NetworkChange? {
            DefaultRoutes(old).change(to: DefaultRoutes(new))
        }
        #expect(change([], []) == nil)
        #expect(change([], [wire]) == .found)
        #expect(change([wire], []) == .lost)
        #expect(change([wire], [wireDown]) == .lost)
        #expect(change([wireDown], [wire]) == .found)
        #expect(change([radio], [radio, wire]) == .moved)
        #expect(change([wire], [radio, wire]) == nil)
        #expect(change([wire, radio], [wireDown, radio]) == .moved)
        // What comes beside changes nothing, and what goes may carry a connection.
        #expect(change([wire], [wire, six]) == nil)
        #expect(change([wire, six], [wire]) == .moved)
    }
}
