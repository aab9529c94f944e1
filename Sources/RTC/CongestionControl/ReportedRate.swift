import MediaTypes

/// The rate for a peer that sends receiver reports, but no transport-wide feedback.
///
/// Loss lowers the rate only together with a longer round trip, which shows a queue, or when it is heavy (the loss-based
/// controller of draft-ietf-rmcat-gcc-02 section 6, with the delay that the reports show).
struct ReportedRate {
    private var leastRoundTrip = WindowedMinimum(span: 10_000_000_000)
    private var reportedAt: MonotonicTime?
    /// The round trip beyond the least one of the last 10 to 20 s, in milliseconds.
    private(set) var queue = 0.0

    /// Returns the rate after a report. Rates are in bits per second, `loss` is a fraction.
    mutating func rate(
        after loss: Double, roundTripTime: Interval?, rate: Double, sent: Double, isApplicationLimited: Bool,
        at now: MonotonicTime
    ) -> Double {
        let elapsed = reportedAt.map { min((now - $0).seconds, 2) } ?? 0
        reportedAt = now
        if let roundTripTime {
            let milliseconds = Double(roundTripTime.nanoseconds) / 1e6
            leastRoundTrip.add(milliseconds, at: now.nanoseconds)
            queue = milliseconds - leastRoundTrip.value
        }
        let base = min(rate, max(sent, rate / 2))
        if queue > 100 { return base * 0.85 }
        if loss > 0.3 || (loss > 0.1 && (queue > 30 || roundTripTime == nil)) { return base * (1 - loss / 2) }
        if isApplicationLimited || queue > 30 || (loss > 0.02 && roundTripTime == nil) { return rate }
        return rate * (1 + 0.08 * elapsed)
    }
}
