/// The requests of ``ControlCommand/table`` to `/api`.
///
/// It belongs to the site's thread.
struct CommandRoutes {
    let rooms: RoomCommands
    let commands: CommandAnswers

    /// Answers a request to the path `names` below `/api`.
    func response(to exchange: HTTPExchange, at names: [String]) -> HTTPResponse {
        let found = ControlCommand.table.compactMap { row in row.texts(at: names).map { (row: row, texts: $0) } }
        guard !found.isEmpty else { return Fault.notFound.response }
        // HEAD is answered like GET, without the body.
        let method = exchange.method == "HEAD" ? "GET" : exchange.method
        guard let (row, texts) = found.first(where: { $0.row.method == method }) else {
            let methods = found.map(\.row.method).flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] }
            let allowed = methods.joined(separator: ", ")
            return .problem(405, HTTPResponse.wrongMethod(allowed), [("Allow", allowed)])
        }
        let command: ControlCommand
        do throws(Fault) {
            command = try self.command(of: row, texts, exchange)
        } catch {
            return error.response
        }
        return Self.response(rooms.answer(command) ?? commands.answer(command), to: row)
    }

    /// Why a request is no command.
    private struct Fault: Error {
        let status: UInt32
        let words: String

        init(_ status: UInt32, _ words: String) {
            self.status = status
            self.words = words
        }

        static let notFound = Fault(404, "/api has nothing of that name; check the path")
        var response: HTTPResponse { .problem(status, words) }
    }

    /// The command of a request whose path has these texts.
    private func command(
        of row: CommandRow, _ texts: [CommandField: String], _ exchange: HTTPExchange
    ) throws(Fault) -> ControlCommand {
        var values = try body(of: row, texts, exchange)
        for (field, text) in texts { values[field.name] = field.value(spelled: text) }
        for field in row.queryFields {
            guard let text = exchange.query(field.name) else { continue }
            guard let value = field.value(spelled: text) else { throw Fault(400, row.usage) }
            values[field.name] = value
        }
        guard let command = row.command(with: values) else {
            throw Fault(400, row.bodyFields.isEmpty ? row.usage : row.bodyUsage)
        }
        if case .push(.add(let url, _)) = command, Self.namesFile(url) {
            throw Fault(422, "no file is read or written for /api; use 'screenrelay push add' on the host's machine")
        }
        return command
    }

    /// The fields in the body, once the path is known to name something.
    private func body(
        of row: CommandRow, _ texts: [CommandField: String], _ exchange: HTTPExchange
    ) throws(Fault) -> [String: JSONValue] {
        guard texts.allSatisfy({ $0.key.value(spelled: $0.value) != nil }) else { throw .notFound }
        let known = row.bodyFields.map(\.name)
        guard !known.isEmpty else { return [:] }
        guard exchange.contentType == "application/json" else {
            throw Fault(415, "the body must be of type application/json")
        }
        guard let text = exchange.bodyText, let values = try? [String: JSONValue](jsonLine: text),
            values.keys.allSatisfy(known.contains)
        else { throw Fault(400, row.bodyUsage) }
        return values
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

    private static func response(_ answer: ControlAnswer, to row: CommandRow) -> HTTPResponse {
        switch answer {
        case .document(let json): .json(200, json)
        case .done where row.success == .silence, .refused(_, .nothing):
            HTTPResponse(204, headers: HTTPResponse.commonHeaders + [("Cache-Control", "no-store")])
        case .done(let text, let made):
            .json(made == nil ? 200 : 201, ControlAnswer.Written(done: text, id: made).jsonLine)
        case .refused(let reason, .notNow): .problem(409, reason)
        case .refused(let reason, .missing): .problem(404, reason)
        case .refused(let reason, .invalid): .problem(422, reason)
        }
    }
}
