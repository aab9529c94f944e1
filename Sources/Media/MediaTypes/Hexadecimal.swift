extension Sequence<UInt8> {
    /// Two hexadecimal digits for each byte, with `separator` between the pairs.
    package func hexadecimal(separator: String = "", uppercase: Bool = false) -> String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: uppercase) }.joined(separator: separator)
    }
}
