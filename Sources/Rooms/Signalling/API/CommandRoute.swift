import FoundationEssentials
import Synchronization

/// A command of the control socket (`Protocol/control.md`) over HTTP.
struct CommandRoute {
    let method: String
    /// Nil for `rate`, whose limits are in the request's body.
    private let command: ControlCommand?
    /// Whether the answer is already a JSON object rather than a sentence.
    private var isDocument = false

    /// By their path below `/api`.
    static let all: [String: CommandRoute] = [
        "status": CommandRoute(method: "GET", command: .status, isDocument: true),
        "link": CommandRoute(method: "GET", command: .link, isDocument: true),
        "pause": CommandRoute(method: "POST", command: .pause),
        "resume": CommandRoute(method: "POST", command: .resume),
        "mute": CommandRoute(method: "POST", command: .mute),
        "unmute": CommandRoute(method: "POST", command: .unmute),
        "mute-mic": CommandRoute(method: "POST", command: .muteMicrophone),
        "unmute-mic": CommandRoute(method: "POST", command: .unmuteMicrophone),
        "sharpen": CommandRoute(method: "POST", command: .sharpen),
        "pointing-on": CommandRoute(method: "POST", command: .pointing(true)),
        "pointing-off": CommandRoute(method: "POST", command: .pointing(false)),
        "chat-on": CommandRoute(method: "POST", command: .chat(true)),
        "chat-off": CommandRoute(method: "POST", command: .chat(false)),
        "stop": CommandRoute(method: "POST", command: .stop),
        "rate": CommandRoute(method: "POST", command: nil),
    ]

    /// Has `commands` answer a request.
    func response(to exchange: HTTPExchange, from commands: CommandAnswers) -> HTTPResponse {
        if let command { return commands.response(to: command, isDocument: isDocument) }
        guard exchange.contentType == "application/json" else {
            return .problem(415, "the body must be of type application/json")
        }
        guard let limits = try? JSONDecoder().decode([String: RateLimit].self, from: Data(exchange.body)),
            limits.keys.allSatisfy({ $0 == "fps" || $0 == "bitrate" }),
            let change = ControlCommand.RateChange(
                framesPerSecond: limits["fps"]?.limit, bitsPerSecond: limits["bitrate"]?.limit)
        else { return .problem(400, Self.rateUsage) }
        return commands.response(to: .rate(change))
    }

    private static let rateUsage =
        "send a JSON object with fps (1 to 120), bitrate (10000 to 1000000000) or both, each a whole number or \"max\""
}

/// A limit in the body of `POST /api/rate`: a whole number or `max`.
private struct RateLimit: Decodable {
    let limit: ControlCommand.RateChange.Limit

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int.self) {
            limit = .atMost(number)
        } else if try value.decode(String.self) == "max" {
            limit = .unlimited
        } else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "neither a number nor max")
        }
    }
}

/// Answers commands, once the host's program is able to.
public final class CommandAnswers: Sendable {
    private let answers = Mutex<(@Sendable (ControlCommand) -> ControlAnswer)?>(nil)

    public init() {}

    /// Makes `answer` answer from now on; nil answers no commands. It is called on the signalling thread and must not
    /// block.
    public func use(_ answer: (@Sendable (ControlCommand) -> ControlAnswer)?) {
        answers.withLock { $0 = answer }
    }

    /// Returns the answer to a command as JSON.
    func response(to command: ControlCommand, isDocument: Bool = false) -> HTTPResponse {
        let answer = answers.withLock { $0 }
        return switch answer?(command) ?? .refused("this host takes no commands") {
        case .done(let text, made: let id?): .json(201, Made(done: text, id: id).jsonLine)
        case .done(let text, made: nil): .json(200, isDocument ? text : ["done": text].jsonLine)
        case .refused(let reason, .notNow): .problem(409, reason)
        case .refused(let reason, .missing): .problem(404, reason)
        case .refused(let reason, .invalid): .problem(422, reason)
        }
    }

    private struct Made: Encodable {
        let done: String
        let id: Int
    }
}
