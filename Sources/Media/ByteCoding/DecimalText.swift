public import MediaTypes

/// Formats numbers as text, without Foundation.
public enum DecimalText {
    /// Formats `value` with `digits` decimal places (0...9), rounded. Trailing zeros are removed if `trimmed` is true.
    public static func fixed(_ value: Double, digits: Int, trimmed: Bool = false) -> String {
        let digits = max(0, min(9, digits))
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = (value * Double(scale)).rounded()
        guard scaled.magnitude < 9e18 else { return value.isFinite ? "\(value)" : "0" }
        return fixed(Int64(scaled), scale: scale, digits: digits, trimmed: trimmed)
    }

    /// Formats an interval in seconds with three decimal places (truncated), or with nine if `digits` is above 3.
    public static func seconds(_ interval: Interval, digits: Int = 3) -> String {
        let isShort = digits <= 3
        return fixed(
            isShort ? interval.nanoseconds / 1_000_000 : interval.nanoseconds, scale: isShort ? 1_000 : 1_000_000_000,
            digits: isShort ? 3 : 9, trimmed: false)
    }

    private static func fixed(_ value: Int64, scale: Int64, digits: Int, trimmed: Bool) -> String {
        let (whole, fraction) = value.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
        var tail = String(fraction)
        tail = String(repeating: "0", count: max(0, digits - tail.count)) + tail
        if trimmed { while tail.last == "0" { tail.removeLast() } }
        if digits == 0 { tail = "" }
        return (value < 0 ? "-" : "") + "\(whole)" + (tail.isEmpty ? "" : "." + tail)
    }

    /// Formats `1234567` as `1,234,567`.
    public static func grouped(_ value: UInt64) -> String {
        let digits = Array(String(value))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }
}
