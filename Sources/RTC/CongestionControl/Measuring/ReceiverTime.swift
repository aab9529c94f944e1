import MediaTypes

/// A time on the receiver's clock, whose origin is unknown. It can only be compared with others of the same receiver.
struct ReceiverTime: Comparable {
    var nanoseconds: Int64

    static func < (left: ReceiverTime, right: ReceiverTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The time from `right` to `left`. It wraps instead of trapping, because the receiver chooses both.
    static func - (left: ReceiverTime, right: ReceiverTime) -> Interval {
        Interval(nanoseconds: left.nanoseconds &- right.nanoseconds)
    }
}

/// Follows the reference time of feedback, 24 bits in units of 64 ms, which wraps after twelve days.
struct FeedbackClock {
    private var last: Int64?

    /// The time that `reference` means: the one nearest to the previous feedback's time.
    mutating func time(_ reference: Int32) -> ReceiverTime {
        let wire = Int64(reference) & 0xFF_FFFF
        var units = wire
        if let last {
            let difference = (wire - last) & 0xFF_FFFF
            units = last + (difference < 0x80_0000 ? difference : difference - 0x100_0000)
        }
        last = units
        return ReceiverTime(nanoseconds: units &* 64_000_000)
    }
}
