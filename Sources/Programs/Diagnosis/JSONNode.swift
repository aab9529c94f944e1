/// A value of JSON whose form isn't known before.
indirect enum JSONNode: Decodable, Equatable {
    case object([String: JSONNode])
    case array([JSONNode])
    case text(String)
    case number(Double)
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let fields = try? container.decode([String: JSONNode].self) {
            self = .object(fields)
        } else if let items = try? container.decode([JSONNode].self) {
            self = .array(items)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .other
        }
    }

    subscript(_ name: String) -> JSONNode? {
        if case .object(let fields) = self { fields[name] } else { nil }
    }

    /// The name and the value of an object with one field.
    var onlyField: (name: String, value: JSONNode)? {
        guard case .object(let fields) = self, fields.count == 1, let field = fields.first else { return nil }
        return (field.key, field.value)
    }

    var array: [JSONNode]? { if case .array(let items) = self { items } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
}
