import MediaTypes
import Testing

@testable import Ingest

@Suite("Unidentified peers on the link's port")
struct UnidentifiedPeersTests {
    /// Returns which of these addresses has to make room; the first one connected first.
    private func firstToGo(_ addresses: [String?]) -> String?? {
        let peers = addresses.enumerated().map { index, address in
            (remote: address, connectedAt: MonotonicTime.zero + .seconds(Int64(index)))
        }
        return LinkLoop.firstToGo(of: peers).map { addresses[$0] }
    }

    @Test("the oldest of the address that has most of them makes room")
    func crowd() {
        #expect(firstToGo(["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.2"]) == "192.0.2.2")
        #expect(firstToGo(["2001:db8::1", "192.0.2.2", "192.0.2.2"]) == "192.0.2.2")
        #expect(firstToGo([]) == nil)
    }

    @Test("one who has all of an IPv6 /64 counts as one address, whichever of them each connection is from")
    func network() {
        let flood = (1...20).map { "2001:db8:0:7::\($0)" as String? }
        #expect(firstToGo(["192.0.2.1", "2001:db8::1"] + flood + ["2001:db8::1", "192.0.2.1"]) == "2001:db8:0:7::1")
        // Other subscribers of the same provider count separately.
        let neighbours = (1...15).map { "2001:db8:0:\($0)::1" as String? }
        #expect(firstToGo(neighbours + ["192.0.2.1", "192.0.2.1"]) == "192.0.2.1")
        // But many of them may all be one subscriber's.
        let many = (1...24).map { "2001:db8:0:\($0)::1" as String? }
        #expect(firstToGo(["192.0.2.1", "192.0.2.1", nil] + many) == "2001:db8:0:1::1")
    }
}
