/// Writes one JSON object (RFC 8259): fields in the order in which they are added, without Foundation.
public struct JSONObject: Sendable {
    private var fields = ""
    private let isASCII: Bool

    /// Creates an object with the fields that `addFields` adds.
    ///
    /// - Parameter isASCII: whether texts are written as ASCII only, so that it doesn't matter whether a reader counts
    ///   bytes, characters or UTF-16 code units.
    public init(isASCII: Bool = false, _ addFields: (inout JSONObject) -> Void = { _ in }) {
        self.isASCII = isASCII
        addFields(&self)
    }

    /// The object as text, without a line feed.
    public var text: String { "{\(fields)}" }

    /// Adds a text, or nothing if it is nil, as all these functions do.
    public mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        add(raw: Self.quoted(value, isASCII: isASCII), name)
    }

    /// Adds an integer.
    @inlinable public mutating func add(_ name: String, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        add(raw: "\(value)", name)
    }

    /// Adds `true` or `false`.
    public mutating func add(_ name: String, _ value: Bool) { add(raw: value ? "true" : "false", name) }

    /// Adds a number with at most `digits` decimal places.
    public mutating func add(_ name: String, _ value: Double?, digits: Int) {
        guard let value, value.isFinite else { return }
        add(raw: DecimalText.fixed(value, digits: digits, trimmed: true), name)
    }

    /// Adds an object.
    public mutating func add(_ name: String, _ value: JSONObject?) {
        guard let value else { return }
        add(raw: value.text, name)
    }

    /// Adds an array of objects.
    public mutating func add(_ name: String, _ values: [JSONObject]) {
        add(raw: "[" + values.map(\.text).joined(separator: ",") + "]", name)
    }

    /// Adds an array of texts.
    public mutating func add(_ name: String, _ values: [String]) {
        add(raw: "[" + values.map { Self.quoted($0, isASCII: isASCII) }.joined(separator: ",") + "]", name)
    }

    /// Adds a value that is already JSON.
    public mutating func add(raw: String, _ name: String) {
        if !fields.isEmpty { fields += "," }
        fields += Self.quoted(name, isASCII: isASCII) + ":" + raw
    }

    /// A text as a JSON string.
    public static func quoted(_ text: String, isASCII: Bool = false) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r" where isASCII: result += "\\r"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F || isASCII && !scalar.isASCII:
                for unit in scalar.utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
