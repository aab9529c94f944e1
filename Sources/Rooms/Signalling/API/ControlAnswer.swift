/// A host's answer to a command on its control socket or through `/api`.
public enum ControlAnswer: Hashable, Sendable {
    /// The command was carried out. The text is for the user; `made` is the number of the object that the command has
    /// created.
    case done(String, made: Int? = nil)
    /// The answer to a question: one line of JSON.
    case document(String)
    /// The command can't be carried out, for the given reason.
    case refused(String, Refusal = .notNow)

    /// The cause of a refusal.
    public enum Refusal: String, Hashable, Sendable, Codable {
        /// The host's state, so that the same command may be carried out later.
        case notNow
        /// The object that the command names doesn't exist.
        case missing
        /// The command's values can't be used, now or later.
        case invalid
        /// There is nothing that the command could change, although it names nothing: `/api` reports success.
        case nothing
    }

    /// The most bytes of a text for people in an answer.
    package static let textLimit = 512

    /// The answer as it is written on the control socket, without the line feed. A text beyond 512 bytes is cut off.
    package var json: String {
        switch self {
        case .done(let text, let made): Written(done: Self.beginning(of: text), id: made).jsonLine
        case .document(let json): json
        case .refused(let reason, let refusal): Written(error: Self.beginning(of: reason), reason: refusal).jsonLine
        }
    }

    /// Parses a line of the control socket; nil if it isn't a JSON object.
    package init?(json: String) {
        guard let written = try? Written(jsonLine: json) else { return nil }
        if let reason = written.error {
            self = .refused(reason, written.reason ?? .notNow)
        } else {
            self = written.done.map { .done($0, made: written.id) } ?? .document(json)
        }
    }

    /// The JSON object of an answer that is no document.
    struct Written: Codable {
        var done: String?
        var id: Int?
        var error: String?
        var reason: Refusal?
    }

    private static func beginning(of text: String) -> String {
        if text.utf8.count <= textLimit { return text }
        // Don't leave half a character at the end.
        var bytes = Array(text.utf8.prefix(textLimit + 1))
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
        return String(decoding: bytes, as: UTF8.self)
    }
}
