import LinkTransport
import Testing

@Suite("Ranges of addresses")
struct AddressRangeTests {
    @Test(
        "a range has the addresses that begin with its bits, and no others",
        arguments: [
            ("192.0.2.0/24", ["192.0.2.0", "192.0.2.255", "::ffff:192.0.2.9"], ["192.0.3.0", "::1", "::192.0.2.9"]),
            ("192.0.2.77/24", ["192.0.2.1"], ["192.0.3.77"]),
            ("192.0.2.128/25", ["192.0.2.128", "192.0.2.200"], ["192.0.2.127"]),
            ("192.0.2.7", ["192.0.2.7"], ["192.0.2.6"]),
            ("0.0.0.0/0", ["255.1.2.3"], ["::1"]),
            ("2001:db8::/32", ["2001:db8:ffff::1"], ["2001:db9::1", "32.1.13.184"]),
            ("2001:db8::/33", ["2001:db8:7fff::1"], ["2001:db8:8000::1"]),
            ("fe80::/10", ["fe80::1%eth0", "febf::1"], ["fec0::1"]),
            ("::1", ["::1"], ["::2", "127.0.0.1"]),
            ("::/0", ["2001:db8::1"], ["1.2.3.4"]),
        ])
    func contains(text: String, those: [String], others: [String]) throws {
        let range = try #require(AddressRange(text))
        for address in those { #expect(range.contains(address), "\(address)") }
        for address in others + ["", "?", "192.0.2.0/24"] { #expect(!range.contains(address), "\(address)") }
    }

    @Test(
        "what is no range is told from one",
        arguments: [
            "", "/", "/24", "192.0.2.0/", "192.0.2.0/33", "192.0.2.0/-1", "192.0.2.0/+8", "192.0.2.0/24/24",
            "192.0.2/24",
            "2001:db8::/129", "2001:db8::/1000", "localhost", "192.0.2.0/0x8", "tcp:192.0.2.0/24",
        ])
    func mistakes(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test("neighbours in IPv6 share a /64; in IPv4 each is by itself, also in the form of an IPv6 address")
    func neighbours() {
        func around(_ address: String) -> AddressRange? { AddressRange(around: address) }
        #expect(around("2001:db8::1") == around("2001:db8::ffff:ffff:ffff:ffff"))
        #expect(around("2001:db8::1") != around("2001:db8:0:1::1"))
        #expect(around("fe80::1%eth0") == around("fe80::2%eth1"))
        #expect(around("192.0.2.1") != around("192.0.2.2"))
        #expect(around("192.0.2.1") == around("::ffff:192.0.2.1"))
        #expect(around("?") == nil)
        #expect(around("2001:db8::1").map { "\($0)" } == "2001:db8::/64")
        #expect(around("192.0.2.1").map { "\($0)" } == "192.0.2.1/32")
    }
}
