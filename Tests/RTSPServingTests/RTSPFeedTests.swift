import MediaTypes
import Testing

@testable import RTSPServing

@Suite("What waits for a publisher's thread")
struct RTSPFeedTests {
    @Test("is limited in memory, even if each packet has only one byte")
    func smallPackets() throws {
        let feed = try #require(RTSPFeed())
        let limit = (16 << 20) / 100
        let accepted = (0..<limit).prefix { _ in feed.post(.sound([0xFF], heard: .zero, until: .zero)) }
        #expect(accepted.count < limit)
    }
}
