import FoundationEssentials

extension Encodable {
    /// The value as one line of JSON (RFC 8259), for values of texts, finite numbers and dates, whose encoding can't
    /// fail.
    package var jsonLine: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
