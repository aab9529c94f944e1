import FoundationEssentials

/// `/api/pushes`: the control socket's `push` (`Protocol/control.md`) over HTTP.
///
/// It belongs to the site's thread.
struct PushRoutes {
    let commands: CommandAnswers

    /// `GET /api/pushes`
    func list() -> HTTPResponse { commands.response(to: .push(.list), isDocument: true) }

    /// `POST /api/pushes`
    func add(_ exchange: HTTPExchange) -> HTTPResponse {
        withFields(of: exchange, ["url", "preset"], usage: Self.addUsage) { fields in
            guard let url = fields["url"] else { return .problem(400, Self.addUsage) }
            guard !Self.namesFile(url) else {
                return .problem(
                    422, "no file is read or written for /api; use 'screenrelay push add' on the host's machine")
            }
            return commands.response(to: .push(.add(url: url, preset: fields["preset"])))
        }
    }

    /// `DELETE /api/pushes/ID` and `POST /api/pushes/ID/restart`, whose order for the push with that number is `order`.
    func change(_ id: String, _ order: (Int) -> ControlCommand.PushOrder) -> HTTPResponse {
        guard let number = ControlCommand.PushOrder.number(id) else { return Self.noSuchPush }
        return commands.response(to: .push(order(number)))
    }

    /// `POST /api/pushes/ID/reload`
    func reload(_ id: String, _ exchange: HTTPExchange) -> HTTPResponse {
        guard let number = ControlCommand.PushOrder.number(id) else { return Self.noSuchPush }
        return withFields(of: exchange, ["preset"], usage: Self.reloadUsage) { fields in
            commands.response(to: .push(.reload(number, preset: fields["preset"])))
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
            known.isSuperset(of: fields.keys), fields.values.allSatisfy(ControlCommand.PushOrder.isWord)
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
}
