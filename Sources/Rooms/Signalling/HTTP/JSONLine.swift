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

extension Decodable {
    /// Parses a value that ``Swift/Encodable/jsonLine`` has written. Throws `DecodingError`, or what the type throws.
    package init(jsonLine text: String) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        self = try decoder.decode(Self.self, from: Data(text.utf8))
    }
}
