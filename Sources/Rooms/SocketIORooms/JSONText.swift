/// Writes text as ASCII-only JSON, so it doesn't matter whether a client counts bytes, characters or UTF-16 code units.
enum JSONText {
    static func string(_ text: String) -> String {
        var result = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22: result += "\\\""
            case 0x5C: result += "\\\\"
            case 0x0A: result += "\\n"
            case 0x0D: result += "\\r"
            case 0x20...0x7E: result.unicodeScalars.append(Unicode.Scalar(UInt8(truncatingIfNeeded: unit)))
            default:
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result + "\""
    }

    static func list(_ elements: [String]) -> String {
        "[\(elements.joined(separator: ","))]"
    }
}
