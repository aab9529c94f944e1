import MediaTypes
import RTP

/// Recognises reception reports that can't be true. Some libraries always report the sequence number 0, which would
/// imply a queue of many seconds.
struct ReportFaults {
    /// So many reports in a row are no accident.
    private static let several = 5
    /// The clocks of the reports have steps, and packets sent together leave one after the other.
    private static let slack = Interval.milliseconds(20)

    private var count = 0

    /// Returns the fault of a report in words, if any; empty words mean that it may be an accident.
    ///
    /// - Parameters:
    ///   - distance: from the reported number to the stream's last packet.
    ///   - age: how long ago the first of the packets was sent that the report doesn't cover; nil if that is unknown.
    ///   - isUncovered: whether there are such packets, the last few left out.
    ///   - before: the number that the stream's last plausible report named, and the packets that it did not cover.
    mutating func evaluate(
        _ report: ReceptionReport, distance: Int, age: Interval?, isUncovered: Bool, roundTripTime: Interval?,
        before: (highest: UInt32, outstanding: Int)?
    ) -> String? {
        let number = report.highestSequenceNumber & 0xFFFF
        let fault: String? =
            if distance < 0 {
                "they name the sequence number \(number), which was not sent"
            } else if isUncovered, report.fractionLost == 0,
                stands(report, age: age, roundTripTime: roundTripTime, before: before)
            {
                "they stand still at the sequence number \(number)"
            } else {
                nil
            }
        count = fault == nil ? 0 : count + 1
        return fault.map { count < Self.several ? "" : $0 }
    }

    /// Whether a report that shows no loss does not cover packets that the peer must have received by then.
    private func stands(
        _ report: ReceptionReport, age: Interval?, roundTripTime: Interval?,
        before: (highest: UInt32, outstanding: Int)?
    ) -> Bool {
        // It was sent so long ago that it is not remembered, or never.
        guard let age else { return true }
        guard let roundTripTime else {
            return before.map { $0.highest == report.highestSequenceNumber && $0.outstanding > 3 } ?? false
        }
        // Packets don't overtake each other by much: the peer has a sender report that was sent after these.
        let delay = Interval(nanoseconds: Int64(report.delaySinceLastSenderReport) * 1_000_000_000 / 65536)
        return age > roundTripTime + delay + Self.slack
    }
}
