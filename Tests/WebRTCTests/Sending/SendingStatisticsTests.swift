import MediaSessions
import MediaTypes
import Testing

@testable import WebRTC

struct SendingStatisticsTests {
    @Test("estimates of paths are sampled once per second, for sessions that have one")
    func samples() {
        let record = SendingStatistics()
        let target = BitRate(bitsPerSecond: 1_000_000)
        var sessions = (UInt64(1)...3).map { number in
            PeerStatistics(id: MediaSessionID(rawValue: number), isConnected: true, targetBitRate: target)
        }
        sessions[0].estimate = BitRate(bitsPerSecond: 2_000_000)
        sessions[1].estimate = BitRate(bitsPerSecond: 7_000_000)
        let start = MonotonicTime.zero + .seconds(5)
        for milliseconds in [0, 200, 999, 1000, 1100] as [Int64] {
            record.sampleEstimates(of: sessions, now: start + .milliseconds(milliseconds))
        }
        let estimates = record.totals(with: sessions).estimates
        #expect(estimates.count == 4 && estimates.sum == 18_000_000)
        let buckets = estimates.buckets.filter { [1_000_000, 2_000_000, 8_000_000].contains($0.bound.bitsPerSecond) }
        #expect(buckets.map(\.count) == [0, 2, 4])
    }

    @Test("what sessions that have ended were sent still counts")
    func ended() {
        let record = SendingStatistics()
        var session = PeerStatistics(
            id: MediaSessionID(rawValue: 1), isConnected: true, targetBitRate: BitRate(bitsPerSecond: 1_000_000))
        session.sentOctets = 5_000_000_000
        record.ended.add(session)
        session.sentOctets = 7
        #expect(record.totals(with: [session]).sentBytes == 5_000_000_007)
    }
}
