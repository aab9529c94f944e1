/// A command's row in ``ControlCommand/table``: its name, its fields, and its request to `/api`.
package struct CommandRow: Sendable {
    /// The name on the control socket.
    package let name: String
    /// The method of the request.
    package let method: String
    /// The paths below `/api`, as URI templates (RFC 6570): `{field}` for a segment, `{?field}` for the query.
    package let paths: [String]
    /// The fields that it must have, and those that it may have besides.
    let needed: [CommandField]
    let optional: [CommandField]
    /// What a host answers if the command is carried out.
    let success: Success
    /// The command, if it has no fields.
    let constant: ControlCommand?
    private let make: @Sendable (CommandFields) -> ControlCommand?

    /// What a host answers if a command is carried out.
    enum Success {
        /// A text for people.
        case words
        /// A JSON object.
        case document
        /// Nothing over HTTP (204), and a text for people on the socket.
        case silence
    }

    /// A command whose fields `make` reads. They are of their kinds; nil means that they don't go together.
    init(
        _ name: String, _ method: String, _ paths: [String], needs needed: [CommandField] = [],
        may optional: [CommandField] = [], _ success: Success = .words,
        make: @escaping @Sendable (CommandFields) -> ControlCommand?
    ) {
        self.name = name
        self.method = method
        self.paths = paths
        self.needed = needed
        self.optional = optional
        self.success = success
        constant = nil
        self.make = make
    }

    private init(_ name: String, _ method: String, _ path: String, _ success: Success, _ command: ControlCommand) {
        self.name = name
        self.method = method
        paths = [path]
        needed = []
        optional = []
        self.success = success
        constant = command
        make = { _ in command }
    }

    /// An order without fields.
    init(_ name: String, post path: String, _ command: ControlCommand) {
        self.init(name, "POST", path, .words, command)
    }

    /// A question without fields, which is answered with a document.
    init(_ name: String, get path: String, _ command: ControlCommand) {
        self.init(name, "GET", path, .document, command)
    }

    /// Whether the answer is a JSON object.
    package var asksForDocument: Bool { success == .document }

    /// All fields.
    package var fields: [CommandField] { needed + optional }

    /// The command with these fields; nil if one is unknown, missing or not of its kind, or if they don't go together.
    func command(with values: [String: JSONValue]) -> ControlCommand? {
        let read = values.compactMapKeys { name in fields.first { $0.name == name } }
        guard read.count == values.count, needed.allSatisfy({ read[$0] != nil }),
            read.allSatisfy({ $0.key.accepts($0.value) })
        else { return nil }
        return make(CommandFields(values: read))
    }

    /// The fields with their kinds, for people.
    var usage: String { "\(name) has " + Self.list(needed, or: optional) }

    /// The fields of the request's body.
    var bodyFields: [CommandField] {
        fields.filter { field in !paths.contains { $0.contains("\(field.name)}") } }
    }

    /// What the body of the request must be, for people.
    var bodyUsage: String {
        "send a JSON object with "
            + Self.list(bodyFields.filter(needed.contains), or: bodyFields.filter(optional.contains))
    }

    private static func list(_ needed: [CommandField], or optional: [CommandField]) -> String {
        let parts = [
            needed.map(\.description).joined(separator: ", "),
            optional.isEmpty ? "" : "perhaps " + optional.map(\.description).joined(separator: ", "),
        ].filter { !$0.isEmpty }
        return parts.isEmpty ? "no fields" : parts.joined(separator: ", and ")
    }

    /// The texts of the fields in the path whose segments below `/api` are `names`; nil if none of the row's paths is.
    func texts(at names: [String]) -> [CommandField: String]? {
        for path in paths {
            let segments = path.split(separator: "{?")[0].split(separator: "/")
            guard segments.count == names.count else { continue }
            var texts: [CommandField: String] = [:]
            let isMatch = zip(segments, names).allSatisfy { segment, name in
                guard segment.hasPrefix("{") else { return segment == name }
                guard let field = fields.first(where: { segment == "{\($0.name)}" }) else { return false }
                texts[field] = name
                return true
            }
            if isMatch { return texts }
        }
        return nil
    }

    /// The fields that are in the query of a path.
    var queryFields: [CommandField] {
        fields.filter { field in paths.contains { $0.hasSuffix("{?\(field.name)}") } }
    }
}

/// A field of a command: its name and the values that it may have.
package struct CommandField: Hashable, Sendable, CustomStringConvertible {
    /// The name in JSON, in paths and in queries.
    package let name: String
    private let kind: Kind
    private let note: String

    private enum Kind: Hashable, Sendable {
        /// Any text but an empty one.
        case text
        /// A text without spaces and control characters.
        case word
        case number(ClosedRange<Int>)
        /// A number, or `max`.
        case limit(ClosedRange<Int>)
        case choice([String])
    }

    private init(_ name: String, _ kind: Kind, note: String = "") {
        self.name = name
        self.kind = kind
        self.note = note
    }

    static let room = CommandField("room", .text)
    static let id = CommandField("id", .text)
    static let decision = CommandField("decision", .choice(TurnDecision.allCases.map(\.rawValue)))
    static let seconds = CommandField("seconds", .number(1...31_536_000), note: "only with allow: ")
    static let fps = CommandField("fps", .limit(ControlCommand.RateChange.frames))
    static let bitrate = CommandField("bitrate", .limit(ControlCommand.RateChange.bits))
    static let push = CommandField("id", .number(1...Int(Int32.max)))
    static let url = CommandField("url", .word)
    static let preset = CommandField("preset", .word)

    /// The name and what it may be, for people.
    package var description: String {
        let values =
            switch kind {
            case .text: "a text"
            case .word: "a text without spaces"
            case .number(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
            case .limit(let range): "a whole number from \(range.lowerBound) to \(range.upperBound), or \"max\""
            case .choice(let words): words.joined(separator: " or ")
            }
        return "\(name) (\(note)\(values))"
    }

    /// Whether the field may have this value.
    func accepts(_ value: JSONValue) -> Bool {
        switch (kind, value) {
        case (.text, .string(let text)): !text.isEmpty
        case (.word, .string(let text)): Self.isWord(text)
        case (.choice(let words), .string(let text)): words.contains(text)
        case (.limit, .string(let text)): text == "max"
        case (.number(let range), .number(let number)), (.limit(let range), .number(let number)):
            Int(exactly: number).map(range.contains) ?? false
        default: false
        }
    }

    /// The value that is written as this text in a path or a query; nil if it may not be the field's. A number has only
    /// one spelling.
    func value(spelled text: String) -> JSONValue? {
        var value = JSONValue.string(text)
        if case .number = kind {
            guard let number = Int(text), "\(number)" == text else { return nil }
            value = .number(Double(number))
        }
        return accepts(value) ? value : nil
    }

    /// Whether a text has no spaces and control characters, which a URL or a preset never has.
    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}

/// The fields of a command, each of which is of its kind.
struct CommandFields {
    fileprivate let values: [CommandField: JSONValue]

    func text(_ field: CommandField) -> String? {
        if case .string(let text)? = values[field] { text } else { nil }
    }

    func number(_ field: CommandField) -> Int? {
        if case .number(let number)? = values[field] { Int(exactly: number) } else { nil }
    }

    func choice<Choice: RawRepresentable<String>>(_ field: CommandField, _ type: Choice.Type) -> Choice? {
        text(field).flatMap { Choice(rawValue: $0) }
    }

    func limit(_ field: CommandField) -> ControlCommand.RateChange.Limit? {
        text(field) != nil ? .unlimited : number(field).map { .atMost($0) }
    }

    /// A value to write.
    struct Value {
        let json: JSONValue

        static func text(_ text: String?) -> Value? { text.map { Value(json: .string($0)) } }
        static func number(_ number: Int?) -> Value? { number.map { Value(json: .number(Double($0))) } }
        static func limit(_ limit: ControlCommand.RateChange.Limit?) -> Value? {
            switch limit {
            case .atMost(let count): number(count)
            case .unlimited: text("max")
            case nil: nil
            }
        }
    }
}

extension Dictionary {
    /// The dictionary with other keys, without those that have none.
    fileprivate func compactMapKeys<Other: Hashable>(_ other: (Key) -> Other?) -> [Other: Value] {
        reduce(into: [:]) { result, entry in
            if let key = other(entry.key) { result[key] = entry.value }
        }
    }
}
