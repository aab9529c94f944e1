import Foundation
import Synchronization

/// A command of the control socket (`Protocol/control.md`) over HTTP. Each request is translated to the equivalent line
/// of the control socket, so one implementation serves both.
struct CommandRoute {
    let method: String
    private let line: String
    /// Whether the answer is already a JSON object rather than a sentence.
    private var isDocument = false

    /// By their path below `/api`.
    static let all: [String: CommandRoute] = [
        "status": CommandRoute(method: "GET", line: "status json", isDocument: true),
        "link": CommandRoute(method: "GET", line: "link", isDocument: true),
        "pause": CommandRoute(method: "POST", line: "pause"),
        "resume": CommandRoute(method: "POST", line: "resume"),
        "mute": CommandRoute(method: "POST", line: "mute"),
        "unmute": CommandRoute(method: "POST", line: "unmute"),
        "mute-mic": CommandRoute(method: "POST", line: "mute mic"),
        "unmute-mic": CommandRoute(method: "POST", line: "unmute mic"),
        "sharpen": CommandRoute(method: "POST", line: "sharpen"),
        "stop": CommandRoute(method: "POST", line: "stop"),
        "rate": CommandRoute(method: "POST", line: "rate"),
    ]

    /// Has `commands` answer a request.
    func response(to exchange: HTTPExchange, from commands: CommandAnswers) -> HTTPResponse {
        var line = self.line
        if line == "rate" {
            guard exchange.contentType == "application/json" else {
                return .problem(415, "the body must be of type application/json")
            }
            guard let limits = try? JSONDecoder().decode([String: RateLimit].self, from: Data(exchange.body)),
                limits.keys.allSatisfy({ $0 == "fps" || $0 == "bitrate" })
            else { return .problem(400, Self.rateUsage) }
            // The parser of the line checks the range of the numbers.
            line += limits.sorted { $0.key > $1.key }.map { " \($0.key)=\($0.value.word)" }.joined()
        }
        return commands.response(to: line, isDocument: isDocument, usage: Self.rateUsage)
    }

    private static let rateUsage =
        "send a JSON object with fps (1 to 120), bitrate (10000 to 1000000000) or both, each a whole number or \"max\""
}

/// A limit in the body of `POST /api/rate`: a whole number or `max`.
private struct RateLimit: Decodable {
    let word: String

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        let number = try? value.decode(Int.self)
        word = try number.map { "\($0)" } ?? value.decode(String.self)
        guard number != nil || word == "max" else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "neither a number nor max")
        }
    }
}

/// Answers commands, once the host's program is able to.
public final class CommandAnswers: Sendable {
    private let answers = Mutex<(@Sendable (String) -> ControlAnswer?)?>(nil)

    public init() {}

    /// Makes `answer` answer from now on; with nil, nobody answers. It gets a line of the control socket, is called on
    /// the signalling thread and must not block. It returns nil if the line isn't a command.
    public func use(_ answer: (@Sendable (String) -> ControlAnswer?)?) {
        answers.withLock { $0 = answer }
    }

    /// Returns the answer to one line.
    private func answer(_ line: String) -> ControlAnswer? {
        guard let answer = answers.withLock({ $0 }) else { return .refused("this host takes no commands") }
        return answer(line)
    }

    /// Returns the answer to one line as JSON. `usage` says what would make a line that is a command.
    func response(to line: String, isDocument: Bool = false, usage: String) -> HTTPResponse {
        switch answer(line) {
        case .done(let text, made: let id?): .json(201, Made(done: text, id: id).jsonLine)
        case .done(let text, made: nil): .json(200, isDocument ? text : ["done": text].jsonLine)
        case .refused(let reason, .notNow): .problem(409, reason)
        case .refused(let reason, .missing): .problem(404, reason)
        case .refused(let reason, .invalid): .problem(422, reason)
        case nil: .problem(400, usage)
        }
    }

    private struct Made: Encodable {
        let done: String
        let id: Int
    }
}
