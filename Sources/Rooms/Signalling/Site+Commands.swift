import Foundation
import Synchronization

/// The commands of the control socket (`Protocol/control.md`) over HTTP. Each request is translated to the equivalent
/// line of the control socket, so one implementation serves both.
extension Site {
    /// A path below `/api` for a command.
    private struct Route {
        let method: String
        let line: String
        /// Whether the answer is already a JSON object rather than a sentence.
        var isDocument = false
    }

    private static let routes: [String: Route] = [
        "status": Route(method: "GET", line: "status json", isDocument: true),
        "link": Route(method: "GET", line: "link", isDocument: true),
        "pause": Route(method: "POST", line: "pause"),
        "resume": Route(method: "POST", line: "resume"),
        "sharpen": Route(method: "POST", line: "sharpen"),
        "stop": Route(method: "POST", line: "stop"),
        "rate": Route(method: "POST", line: "rate"),
    ]

    /// Answers a request for one of the commands; returns false if `name` isn't one.
    func command(_ name: String, _ exchange: HTTPExchange) -> Bool {
        guard let route = Self.routes[name] else { return false }
        answer(exchange, route.method) {
            do throws(BadCommand) {
                let line = name == "rate" ? try RateRequest.line(of: exchange) : route.line
                return response(to: line, of: route)
            } catch {
                return Self.problem(error.status, error.reason)
            }
        }
        return true
    }

    private func response(to line: String, of route: Route) -> HTTPResponse {
        switch commands.answer(line) {
        case .done(let text):
            Self.json(200, route.isDocument ? text : ["done": text].jsonLine)
        case .refused(let reason): Self.problem(409, reason)
        case nil: Self.problem(400, RateRequest.usage)
        }
    }
}

/// Why a request isn't a valid command.
private struct BadCommand: Error {
    let status: UInt32
    let reason: String
}

/// The body of `POST /api/rate`.
private struct RateRequest: Decodable {
    static let usage =
        "send a JSON object with fps (1 to 120), bitrate (10000 to 1000000000) or both, each a whole number or \"max\""

    private let limits: [String: Limit]

    private enum Limit: Decodable {
        case number(Int)
        case unlimited

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let number = try? value.decode(Int.self) {
                self = .number(number)
            } else if try value.decode(String.self) == "max" {
                self = .unlimited
            } else {
                throw DecodingError.dataCorruptedError(in: value, debugDescription: "neither a number nor max")
            }
        }

        var word: String {
            switch self {
            case .number(let number): "\(number)"
            case .unlimited: "max"
            }
        }
    }

    init(from decoder: any Decoder) throws {
        limits = try decoder.singleValueContainer().decode([String: Limit].self)
    }

    /// Returns the equivalent line of the control socket. The parser of that line checks the range of the numbers.
    static func line(of exchange: HTTPExchange) throws(BadCommand) -> String {
        guard exchange.contentType == "application/json" else {
            throw BadCommand(status: 415, reason: "the body must be of type application/json")
        }
        guard let request = try? JSONDecoder().decode(RateRequest.self, from: Data(exchange.body)),
            request.limits.keys.allSatisfy({ $0 == "fps" || $0 == "bitrate" })
        else { throw BadCommand(status: 400, reason: usage) }
        return "rate" + request.limits.sorted { $0.key > $1.key }.map { " \($0.key)=\($0.value.word)" }.joined()
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
    func answer(_ line: String) -> ControlAnswer? {
        guard let answer = answers.withLock({ $0 }) else { return .refused("this host takes no commands") }
        return answer(line)
    }
}
