import Signalling

extension JSONValue {
    subscript(_ name: String) -> JSONValue? {
        if case .object(let fields) = self { fields[name] } else { nil }
    }

    /// The name and the value of an object with one field.
    var onlyField: (name: String, value: JSONValue)? {
        guard case .object(let fields) = self, fields.count == 1, let field = fields.first else { return nil }
        return (field.key, field.value)
    }

    var array: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
}
