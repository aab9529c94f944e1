public import MediaTypes

extension ValueFormat where Value == BitRate {
    /// Bits a second: `4M`, `600k`, `2.5M`, `2500000`; from 10k to 1G.
    public static var bitRate: ValueFormat<BitRate> {
        ValueFormat { (text) throws(ValueError) in
            let units: [(String, Int)] = [("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("", 1)]
            guard let bits = scaledDecimal(text, units: units) else {
                throw ValueError("not a bit rate; write it like 4M, 600k or 2500000")
            }
            guard (10_000...1_000_000_000).contains(bits) else {
                throw ValueError("bit rate out of range; it may be from 10k to 1G")
            }
            return BitRate(bitsPerSecond: bits)
        }
    }
}

extension ValueFormat where Value == Interval {
    /// A length of time: `500ms`, `2s`, `1.5s`, `3m`, `1h`, or a number of seconds; at most 24 h.
    public static var duration: ValueFormat<Interval> {
        ValueFormat { (text) throws(ValueError) in
            let units: [(String, Int)] = [
                ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
                ("", 1_000_000_000),
            ]
            guard let nanoseconds = scaledDecimal(text, units: units) else {
                throw ValueError("not a length of time; write it like 500ms, 2s, 1.5s, 3m or 1h")
            }
            guard nanoseconds <= 24 * 3_600_000_000_000 else {
                throw ValueError("too long; at most 24h")
            }
            return Interval(nanoseconds: Int64(nanoseconds))
        }
    }
}

extension ValueFormat where Value == Duration {
    /// A period of validity: `90s`, `30m`, `2h`, `1d`; from a second to a year. A unit is required, since a number
    /// alone could mean any of them.
    public static var lifetime: ValueFormat<Duration> {
        ValueFormat { (text) throws(ValueError) in
            let units = [("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]
            if scaledDecimal(text, units: [("", 1)]) != nil {
                throw ValueError("the unit is missing; write \(text)s, \(text)m, \(text)h or \(text)d")
            }
            guard let milliseconds = scaledDecimal(text, units: units) else {
                throw ValueError("not a length of time; write it like 30m, 2h or 1d")
            }
            guard (1_000...365 * 86_400_000).contains(milliseconds) else {
                throw ValueError("out of range; it may be from 1s to 365d")
            }
            return .milliseconds(milliseconds)
        }
    }
}

extension ValueFormat where Value == UInt64 {
    /// A size in bytes: `200M`, `1.5G`, `50000k` or `200000000`, with decimal units; from 1M to 1T.
    public static var byteCount: ValueFormat<UInt64> {
        ValueFormat { (text) throws(ValueError) in
            let units = [
                ("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000), ("", 1),
            ]
            guard let bytes = scaledDecimal(text, units: units) else {
                throw ValueError("not a size; write it like 200M, 1.5G or 200000000")
            }
            guard (1_000_000...1_000_000_000_000).contains(bytes) else {
                throw ValueError("size out of range; it may be from 1M to 1T")
            }
            return UInt64(bytes)
        }
    }
}

/// Parses digits, optionally a point and up to nine more digits, and one of the units. The result is cut off to a whole
/// number. Nil if the text has another form or the number is too large.
private func scaledDecimal(_ text: String, units: [(suffix: String, factor: Int)]) -> Int? {
    guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
    let parts = text.dropLast(unit.suffix.count).split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = decimalInteger(String(parts[0])) else { return nil }
    let (high, overflow) = whole.multipliedReportingOverflow(by: unit.factor)
    if overflow { return nil }
    guard parts.count == 2 else { return high }
    guard parts[1].count <= 9, let fraction = decimalInteger(String(parts[1])) else { return nil }
    var low = fraction
    var place = 1
    for _ in parts[1] { place *= 10 }
    // A fraction below 10^9 times a unit of up to 3.6 * 10^12 fits into 64 bits only after dividing by the common
    // factor.
    let common = greatestCommonDivisor(unit.factor, place)
    let (product, lowOverflow) = low.multipliedReportingOverflow(by: unit.factor / common)
    if lowOverflow { return nil }
    low = product / (place / common)
    let (sum, sumOverflow) = high.addingReportingOverflow(low)
    return sumOverflow ? nil : sum
}

private func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
    var (larger, smaller) = (first, second)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return larger
}
