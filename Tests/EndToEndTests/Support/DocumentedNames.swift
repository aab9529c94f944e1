import BrowserDriver
import TestSupport
import Testing

/// The names in a part of a document in Protocol, which stand in backquotes there.
struct DocumentedNames {
    /// All of them: those of fields, and those of their values.
    let all: Set<String>
    /// Those outside of parentheses that have a capital letter, all of which name fields.
    let fields: Set<String>

    /// Reads the part between two texts.
    init(in document: String, from begin: String, until end: String) throws {
        let text = String(decoding: try fileBytes(packageRoot + "/Protocol/" + document), as: UTF8.self)
        let start = try #require(text.firstRange(of: begin)).upperBound
        let stop = try #require(text[start...].firstRange(of: end)).lowerBound
        let part = String(text[start..<stop])
        all = Self.names(in: part)
        fields = Self.names(in: part.replacing(/\([^()]*\)/, with: "")).filter { $0.contains(where: \.isUppercase) }
    }

    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /`([A-Za-z0-9]+)`/).map { String($0.output.1) })
    }
}

extension JSONValue {
    /// The names of its fields, and of the fields of all objects in it.
    var fieldNames: Set<String> {
        switch self {
        case .object(let members): members.values.reduce(into: Set(members.keys)) { $0.formUnion($1.fieldNames) }
        case .array(let elements): elements.reduce(into: Set<String>()) { $0.formUnion($1.fieldNames) }
        case .null, .bool, .number, .string: []
        }
    }
}
