/// One JSON object (RFC 8259). Fields are written in the order in which they are added, without Foundation.
struct JSONObject {
    private var fields = ""

    /// The object as text, without a line feed.
    var text: String { "{\(fields)}" }

    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        add(raw: Self.quoted(value), name)
    }

    mutating func add(_ name: String, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        add(raw: "\(value)", name)
    }

    mutating func add(_ name: String, _ value: Bool) { add(raw: value ? "true" : "false", name) }

    /// Adds a number with at most `digits` decimal places.
    mutating func add(_ name: String, _ value: Double?, digits: Int) {
        guard let value, value.isFinite else { return }
        add(raw: DecimalText.fixed(value, digits: digits, trimmed: true), name)
    }

    mutating func add(_ name: String, _ value: JSONObject?) {
        guard let value else { return }
        add(raw: value.text, name)
    }

    mutating func add(_ name: String, _ values: [JSONObject]) {
        add(raw: "[" + values.map(\.text).joined(separator: ",") + "]", name)
    }

    mutating func add(raw: String, _ name: String) {
        if !fields.isEmpty { fields += "," }
        fields += Self.quoted(name) + ":" + raw
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
