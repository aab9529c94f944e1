import STUN
import Testing

struct TransportAddressTests {
    @Test(
        "an IPv6 address is written as RFC 5952 says",
        arguments: [
            ("20010db8000000000000000000000001", "2001:db8::1"),
            ("00000000000000000000000000000000", "::"),
            ("00000000000000000000000000000001", "::1"),
            ("00010000000000000000000000000000", "1::"),
            ("20010db8000000010001000100010001", "2001:db8:0:1:1:1:1:1"),
            ("20010000000000010000000000000001", "2001:0:0:1::1"),
            ("20010db8000000000001000000000001", "2001:db8::1:0:0:1"),
            ("fe800000000000001234abcd00ef0001", "fe80::1234:abcd:ef:1"),
        ])
    func text(hex: String, text: String) throws {
        let address = try #require(TransportAddress(bytes: RFC5769.bytes(hex), port: 1))
        #expect(address.host == text)
        #expect(address.description == "[\(text)]:1")
        #expect(address.bytes == RFC5769.bytes(hex))
        #expect(address.family == .ipv6)
    }

    @Test("addresses are equal where family, bytes, port and scope are")
    func equality() throws {
        let address = TransportAddress(ipv4: 127, 0, 0, 1, port: 80)
        #expect(address == TransportAddress(bytes: [127, 0, 0, 1], port: 80))
        #expect(address != TransportAddress(bytes: [127, 0, 0, 1], port: 81))
        #expect(address.description == "127.0.0.1:80")
        #expect(address.bytes == [127, 0, 0, 1])
        let linkLocal = [0xfe, 0x80] + [UInt8](repeating: 1, count: 14)
        #expect(
            TransportAddress(bytes: linkLocal, port: 1, scope: 2)
                != TransportAddress(bytes: linkLocal, port: 1, scope: 3))
        #expect(TransportAddress(bytes: [1, 2, 3], port: 1) == nil)
    }

    @Test("datagrams are told apart by their first bytes")
    func datagramKinds() {
        #expect(DatagramKind(of: RFC5769.request) == .stun)
        #expect(DatagramKind(of: RFC5769.request[...].prefix(19)) == .other)
        #expect(DatagramKind(of: [0x16, 0xfe, 0xfd]) == .dtls)
        #expect(DatagramKind(of: [0x80, 0x60]) == .rtp)
        #expect(DatagramKind(of: [0x80, 0xe0]) == .rtp)
        #expect(DatagramKind(of: [0x81, 0xc9]) == .rtcp)
        #expect(DatagramKind(of: [0x80]) == .other)
        #expect(DatagramKind(of: []) == .other)
        for first in UInt8.min ... .max {
            let kind = DatagramKind(of: [first, 96])
            switch first {
            case 20...63: #expect(kind == .dtls)
            case 128...191: #expect(kind == .rtp)
            default: #expect(kind == .other)
            }
        }
    }
}
