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
        "sharpen": CommandRoute(method: "POST", line: "sharpen"),
        "stop": CommandRoute(method: "POST", line: "stop"),
        "rate": CommandRoute(method: "POST", line: "rate"),
    ]

    /// Has `commands` answer a request.
    func response(to exchange: HTTPExchange, from commands: CommandAnswers) -> HTTPResponse {
        do throws(BadCommand) {
            let line = self.line == "rate" ? try RateRequest.line(of: exchange) : self.line
            return switch commands.answer(line) {
            case .done(let text): .json(200, isDocument ? text : RoomsDocument.json(["done": text]))
            case .refused(let reason): .problem(409, reason)
            case nil: .problem(400, RateRequest.usage)
            }
        } catch {
            return .problem(error.status, error.reason)
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
