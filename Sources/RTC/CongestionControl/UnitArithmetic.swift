import MediaTypes

// Rates and times with fractional factors. Results are rounded to a bit per second or a nanosecond, and saturate.

extension BitRate {
    static let zero = BitRate(bitsPerSecond: 0)
    /// More than any link carries.
    static let unlimited = BitRate(bitsPerSecond: .max)

    /// The rate nearest to `bitsPerSecond`.
    init(rounding bitsPerSecond: Double) {
        self.init(bitsPerSecond: Int(rounded(bitsPerSecond)))
    }

    /// The rate that carries `byteCount` bytes in `time`; unlimited if that is no time.
    init(_ byteCount: Double, in time: Interval) {
        self = time > .zero ? BitRate(rounding: byteCount * 8 / time.seconds) : .unlimited
    }

    /// The bytes that the rate carries in `time`.
    func byteCount(in time: Interval) -> Double { Double(bitsPerSecond) / 8 * time.seconds }

    /// The time that `byteCount` bytes take at this rate.
    func time(for byteCount: Int) -> Interval { Interval(seconds: Double(byteCount) * 8 / Double(bitsPerSecond)) }

    func clamped(to bounds: ClosedRange<BitRate>) -> BitRate { min(max(self, bounds.lowerBound), bounds.upperBound) }

    static func * (rate: BitRate, factor: Double) -> BitRate { BitRate(rounding: Double(rate.bitsPerSecond) * factor) }

    static func + (left: BitRate, right: BitRate) -> BitRate {
        let (sum, overflow) = left.bitsPerSecond.addingReportingOverflow(right.bitsPerSecond)
        return overflow ? .unlimited : BitRate(bitsPerSecond: sum)
    }

    /// How many times `right` the rate is.
    static func / (left: BitRate, right: BitRate) -> Double { Double(left.bitsPerSecond) / Double(right.bitsPerSecond) }
}

extension Interval {
    /// The length nearest to `seconds`.
    init(seconds: Double) {
        self.init(nanoseconds: rounded(seconds * 1e9))
    }

    func scaled(by factor: Double) -> Interval { Interval(nanoseconds: rounded(Double(nanoseconds) * factor)) }
}

private func rounded(_ value: Double) -> Int64 {
    Int64(exactly: value.rounded()) ?? (value > 0 ? .max : value < 0 ? .min : 0)
}
