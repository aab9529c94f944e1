import Foundation

/// `/api/pushes`: the control socket's `push` (`Protocol/control.md`) over HTTP.
///
/// It belongs to the site's thread.
struct PushRoutes {
    let commands: CommandAnswers

    /// `GET /api/pushes`
    func list() -> HTTPResponse { commands.response(to: "push list", isDocument: true, usage: Self.addUsage) }

    /// `POST /api/pushes`
    func add(_ exchange: HTTPExchange) -> HTTPResponse {
        withFields(of: exchange, ["url", "preset"], usage: Self.addUsage) { fields in
            guard let url = fields["url"] else { return .problem(400, Self.addUsage) }
            guard !Self.namesFile(url) else {
                return .problem(
                    422, "no file is read or written for /api; use 'screenrelay push add' on the host's machine")
            }
            return commands.response(to: Self.line("push add \(url)", fields["preset"]), usage: Self.addUsage)
        }
    }

    /// `DELETE /api/pushes/ID` and `POST /api/pushes/ID/restart`: `action` is the word of the control socket.
    func change(_ id: String, _ action: String) -> HTTPResponse {
        guard Self.isNumber(id) else { return Self.noSuchPush }
        return commands.response(to: "push \(action) \(id)", usage: Self.reloadUsage)
    }

    /// `POST /api/pushes/ID/reload`
    func reload(_ id: String, _ exchange: HTTPExchange) -> HTTPResponse {
        guard Self.isNumber(id) else { return Self.noSuchPush }
        return withFields(of: exchange, ["preset"], usage: Self.reloadUsage) { fields in
            commands.response(to: Self.line("push reload \(id)", fields["preset"]), usage: Self.reloadUsage)
        }
    }

    private static let addUsage = "send a JSON object with url, and preset if wanted, each a text without spaces"
    private static let reloadUsage = "send a JSON object with preset, a text without spaces, or an empty one"
    private static var noSuchPush: HTTPResponse { .problem(404, "there is no such push; GET /api/pushes lists them") }

    private func withFields(
        of exchange: HTTPExchange, _ known: Set<String>, usage: String, _ work: ([String: String]) -> HTTPResponse
    ) -> HTTPResponse {
        guard exchange.contentType == "application/json" else {
            return .problem(415, "the body must be of type application/json")
        }
        guard let fields = try? JSONDecoder().decode([String: String].self, from: Data(exchange.body)),
            known.isSuperset(of: fields.keys), fields.values.allSatisfy(Self.isWord)
        else { return .problem(400, usage) }
        return work(fields)
    }

    /// Whether a push to this URL opens a file: the token may come from another machine, which must neither fill this
    /// one's disk nor learn what is on it.
    private static func namesFile(_ url: String) -> Bool {
        let start = url.lowercased()
        if start.hasPrefix("object:") {
            return !start.hasPrefix("object:http://") && !start.hasPrefix("object:https://")
        }
        return start.hasPrefix("file:")
    }

    private static func line(_ words: String, _ preset: String?) -> String {
        preset.map { "\(words) \($0)" } ?? words
    }

    /// Whether the text is one word of a line: a space would make a part of a URL, such as its key, another word.
    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    /// Whether a push may have this number.
    private static func isNumber(_ text: String) -> Bool { Int(text).map { $0 > 0 && "\($0)" == text } ?? false }
}
