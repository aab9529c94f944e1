import MediaTypes
import RTP

/// Accumulates reception reports until they are statistically meaningful. A still screen sends one packet in 2.5 s, and
/// losing that one is a loss of 100 %; a report that comes with a NACK covers only a few milliseconds. The streams of a
/// session take the same path, so that their reports count together.
struct LossWindow {
    /// The minimum number of packets for a loss measurement.
    static let leastPackets = 20
    /// The minimum time for a rate measurement.
    static let leastTime = Interval.milliseconds(500)

    /// The loss in a window, and the rate sent over about the same time.
    struct Loss {
        /// The fraction of packets lost, in 1/256.
        var fraction: UInt8
        var sent: BitRate
    }

    private var start: (time: MonotonicTime, octets: UInt32)?
    /// The highest sequence number that each stream's receiver has reported.
    private var highest: [SSRC: UInt32] = [:]
    private var expected = 0
    /// The number of packets lost, in units of 1/256 packet.
    private var lost = 0

    /// Adds the next report. Returns the loss once the window holds enough data, and begins a new window.
    ///
    /// - Parameter sentOctets: the number of octets that all streams have sent so far.
    mutating func take(_ report: ReceptionReport, sentOctets: UInt32, now: MonotonicTime) -> Loss? {
        let last = highest.updateValue(report.highestSequenceNumber, forKey: report.ssrc)
        let covered = last.map { Int(Int32(bitPattern: report.highestSequenceNumber &- $0)) }
        guard let start, let covered, (0..<65_536).contains(covered) else {
            begin(now: now, octets: sentOctets)
            return nil
        }
        expected += covered
        lost += covered * Int(report.fractionLost)
        let passed = now - start.time
        guard passed >= Self.leastTime, lost == 0 || expected >= Self.leastPackets else { return nil }
        let bits = Double(sentOctets &- start.octets) * 8 / passed.seconds
        let loss = Loss(
            fraction: UInt8(clamping: expected > 0 ? lost / expected : 0), sent: BitRate(bitsPerSecond: Int(bits)))
        begin(now: now, octets: sentOctets)
        return loss
    }

    private mutating func begin(now: MonotonicTime, octets: UInt32) {
        start = (now, octets)
        expected = 0
        lost = 0
    }
}
