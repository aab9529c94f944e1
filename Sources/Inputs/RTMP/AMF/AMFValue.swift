/// A value of Action Message Format 0, in which commands are written (AMF0 section 2).
enum AMFValue: Hashable, Sendable {
    case number(Double)
    case boolean(Bool)
    case string(String)
    /// An object, or an array with names, whose properties are in the order in which they were written.
    case object([Property])
    case array([AMFValue])
    case null
    /// No value, or one that is of no use here: a date, a reference or an unsupported value.
    case undefined

    struct Property: Hashable, Sendable {
        var name: String
        var value: AMFValue
    }

    /// The text, if this is one.
    var text: String? { if case .string(let text) = self { text } else { nil } }
    /// The number, if this is one.
    var double: Double? { if case .number(let number) = self { number } else { nil } }

    /// The first property with this name; nil if there is none.
    subscript(_ name: String) -> AMFValue? {
        guard case .object(let properties) = self else { return nil }
        return properties.first { $0.name == name }?.value
    }
}
