import MediaTypes
import RTP

/// Gathers reception reports until they say something about the path: of the one packet in 2.5 s that a still screen
/// costs, a lost one is a loss of 100 %, and a report that comes with each NACK covers a few milliseconds.
struct LossWindow {
    /// The fewest packets that a loss is a measure of.
    static let leastPackets = 20
    /// The least time that what was sent is a rate over.
    static let leastTime = Interval.milliseconds(500)

    /// What was lost in a window, and what was sent in about the same time.
    struct Loss {
        /// In 1/256 of the packets.
        var fraction: UInt8
        var sent: BitRate
    }

    private var start: (time: MonotonicTime, octets: UInt32)?
    private var highest: UInt32 = 0
    private var expected = 0
    /// In 1/256 of a packet.
    private var lost = 0

    /// Takes the next report; gives what the window holds once that is enough, and begins a new one.
    mutating func take(_ report: ReceptionReport, sentOctets: UInt32, now: MonotonicTime) -> Loss? {
        let covered = Int(Int32(bitPattern: report.highestSequenceNumber &- highest))
        highest = report.highestSequenceNumber
        guard let start, (0..<65_536).contains(covered) else {
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
