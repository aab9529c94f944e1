/// Percent-encoding of parts of a URL (RFC 3986 section 2.1).
public enum PercentCoding {
    /// Returns `text` with each `%XX` decoded; nil if one is incomplete, or if the result isn't UTF-8.
    ///
    /// - Parameter allowsControls: whether the result may have control characters of ASCII; otherwise, it is nil then.
    public static func decode(_ text: some StringProtocol, allowsControls: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while var byte = rest.next() {
            if byte == UInt8(ascii: "%") {
                guard let high = digit(rest.next()), let low = digit(rest.next()) else { return nil }
                byte = high << 4 | low
            }
            guard allowsControls || byte >= 0x20 && byte != 0x7F else { return nil }
            bytes.append(byte)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns `text` with all bytes encoded as `%XX` except unreserved characters (RFC 3986 section 2.3).
    public static func encode(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            if isUnreserved(byte) { return result.unicodeScalars.append(Unicode.Scalar(byte)) }
            result += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
