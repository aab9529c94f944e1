import MediaTypes

/// Puts audio packets from another clock on ours, and keeps the intervals between them exactly as they were captured: a
/// player that hears of 20.1 ms between two packets of 20 ms plays a gap.
///
/// It starts again, with an audible break, only if the two clocks have gone too far apart for lips and sound to match.
struct AudioClock {
    /// How far a packet may be from where the clock's measured offset puts it.
    private static let clockError = Interval.milliseconds(10)
    /// How late a packet may come, for example behind a large picture, before all packets after it are placed as late.
    private static let maxDelay = Interval.milliseconds(100)

    /// What is added to capture times; nil before the first packet.
    private var shift: Interval?

    /// The place of a packet that was captured at `known`, as far as the offset of the clocks has been measured.
    mutating func place(_ captured: MonotonicTime, known: MonotonicTime) -> MonotonicTime {
        place(captured, near: known, lateness: Self.clockError)
    }

    /// The place of a packet of which only the arrival is known; it is never later than that. The packet's first sample
    /// was captured `duration`, its length, before it could be sent.
    mutating func place(
        _ captured: MonotonicTime, arrival: MonotonicTime, lasting duration: Interval
    ) -> MonotonicTime {
        place(captured, near: arrival - max(duration, Self.clockError), lateness: Self.maxDelay)
    }

    private mutating func place(
        _ captured: MonotonicTime, near expected: MonotonicTime, lateness: Interval
    ) -> MonotonicTime {
        if let shift {
            let placed = captured + shift
            if placed - expected <= Self.clockError, expected - placed <= lateness { return placed }
        }
        shift = expected - captured
        return expected
    }
}
