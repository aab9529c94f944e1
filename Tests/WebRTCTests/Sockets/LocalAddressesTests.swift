import STUN
import Testing

@testable import WebRTC

@Suite("This machine's own addresses")
struct LocalAddressesTests {
    private func four(_ last: UInt8) -> TransportAddress { TransportAddress(ipv4: 192, 0, 2, last, port: 5) }

    private func six(_ last: UInt8) throws -> TransportAddress {
        try #require(
            TransportAddress(bytes: [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [last], port: 5))
    }

    @Test("begin with those that packets to other networks leave from, IPv4 before IPv6; no other address is made up")
    func order() throws {
        let found = [try six(1), four(1), try six(2), four(2)]
        #expect(
            LocalAddresses.ordered(found, outgoing: [four(2), try six(2)]) == [
                four(2), try six(2), four(1), try six(1),
            ])
        // A network inside this machine has IPv4, the way out alone IPv6.
        #expect(LocalAddresses.ordered(found, outgoing: [try six(2)]).first == (try six(2)))
        #expect(LocalAddresses.ordered(found, outgoing: []) == [four(1), four(2), try six(1), try six(2)])
        #expect(LocalAddresses.ordered([four(1)], outgoing: [four(9)]) == [four(1)])
        #expect(LocalAddresses.ordered([], outgoing: [four(9)]).isEmpty)
    }
}
