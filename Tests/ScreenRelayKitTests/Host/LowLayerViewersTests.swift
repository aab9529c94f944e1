import MediaSessions
import MediaTypes
import ScreenRelayKit
import Testing

@Suite("Which viewers get fewer pictures, and why")
struct NarrowViewersTests {
    private func viewer(_ number: UInt64, narrow: Bool = true, _ rate: Int? = nil, queue: Int64? = nil)
        -> PeerStatistics
    {
        var statistics = PeerStatistics(
            id: MediaSessionID(rawValue: number), isConnected: true, targetBitRate: BitRate(bitsPerSecond: 1_000_000))
        statistics.address = "10.0.0.\(number)"
        statistics.getsLowLayer = narrow
        statistics.estimate = rate.map { BitRate(bitsPerSecond: $0) }
        statistics.queueDelay = queue.map { .milliseconds($0) }
        return statistics
    }

    @Test("nothing is said of viewers who get all pictures")
    func none() {
        let viewers = LowLayerViewers(in: [viewer(1, narrow: false, 4_000_000, queue: 200)])
        #expect(viewers.count == 0 && viewers.text == nil)
    }

    @Test("the address, what the path carries and how long its queue is, as far as they are known")
    func reasons() {
        #expect(
            LowLayerViewers(in: [viewer(7, 480_000, queue: 120), viewer(8, narrow: false)]).text
                == "1 viewer gets fewer pictures: 10.0.0.7, whose path carries 480 kbit/s, with packets 120 ms in "
                + "its queue")
        #expect(
            LowLayerViewers(in: [viewer(9, 1_250_000, queue: 9), viewer(8)]).text
                == "2 viewers get fewer pictures: 10.0.0.8 and 10.0.0.9, whose path carries 1.25 Mbit/s")
    }

    @Test("at most three are listed, so that the status stays short")
    func many() {
        let viewers = LowLayerViewers(in: (1...9).map { viewer($0) })
        #expect(viewers.count == 9)
        #expect(viewers.text == "9 viewers get fewer pictures: 10.0.0.1 and 10.0.0.2 and 10.0.0.3 and 6 more")
    }
}
