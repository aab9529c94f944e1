import CommandLine
import LinkTransport
import ScreenRelayKit
import Signalling

/// A command of the program for running hosts: its help, and what it asks them.
struct ControlRow: Sendable {
    let command: Command
    /// Reads the command line.
    let read: @Sendable (ParsedOptions) throws(UsageError) -> Request

    /// What a command line asks.
    struct Request: Sendable {
        /// Whether all running hosts are asked without `--pid`. Otherwise there must be only one.
        let asksAll: Bool
        /// Asks a host, and returns what to print.
        let ask: @Sendable (AskedHost) throws(UsageError) -> Output

        init(asksAll: Bool = false, ask: @escaping @Sendable (AskedHost) throws(UsageError) -> Output) {
            self.asksAll = asksAll
            self.ask = ask
        }
    }

    /// What to print of a host's answer. If several hosts answer, the process id of each is in front.
    enum Output {
        /// A text without a line feed at its end.
        case line(String)
        /// Lines, each with its line feed.
        case lines(String)
        /// A JSON object, which has the process id.
        case json(String)

        func text(of process: Int32, isOneOfSeveral: Bool) -> String {
            switch self {
            case .line(let text): (isOneOfSeveral ? "\(process): " : "") + text + "\n"
            case .lines(let text): (isOneOfSeveral ? "\(process):\n" : "") + text
            case .json(let object): object + "\n"
            }
        }
    }

    /// A command whose line `read` reads. `asksAll` says what `--help` tells of `--pid`.
    init(
        _ name: String, _ summary: String, _ options: [Option] = [], operands: Operands = .none,
        examples: [Example] = [], formerNames: [String] = [], asksAll: Bool = false,
        read: @escaping @Sendable (ParsedOptions) throws(UsageError) -> Request
    ) {
        let process = Option(
            long: "pid", short: "p", value: .required("PID"),
            help: "the process id of the share or host" + (asksAll ? "; without it, all" : "; needed if several run"))
        command = Command(
            name: name, summary: summary, options: options + [process], operands: operands, examples: examples,
            formerNames: formerNames)
        self.read = read
    }

    /// An order, whose answer is a text for people.
    static func order(
        _ name: String, _ summary: String, _ options: [Option] = [], operands: Operands = .none,
        examples: [Example] = [],
        make: @escaping @Sendable (ParsedOptions) throws(UsageError) -> ControlCommand
    ) -> ControlRow {
        ControlRow(name, summary, options, operands: operands, examples: examples) { (options) throws(UsageError) in
            request(try make(options))
        }
    }

    /// A question, whose answer is a document: `text` formats it for people, and with `--json`, which `json` explains,
    /// it is printed as it is.
    static func question(
        _ name: String, _ summary: String, _ options: [Option] = [], json: String, examples: [Example] = [],
        _ command: ControlCommand,
        text: @escaping @Sendable (String, AskedHost, ParsedOptions) throws(UsageError) -> Output
    ) -> ControlRow {
        let forPrograms = Option(long: "json", help: json)
        return ControlRow(name, summary, options + [forPrograms], examples: examples, asksAll: true) {
            (options) throws(UsageError) in
            guard !options.has("json") else {
                guard !options.has("qr") else {
                    throw UsageError("--qr and --json can't go together; leave one out")
                }
                return jsonRequest(command)
            }
            return Request(asksAll: true) { (host) throws(UsageError) in
                try text(try host.ask(command), host, options)
            }
        }
    }

    /// Gives a command, and prints the answer.
    static func request(_ command: ControlCommand) -> Request {
        Request { (host) throws(UsageError) in .line(printable(try host.ask(command))) }
    }

    /// Asks a question, and prints the document with the host's process id.
    static func jsonRequest(_ command: ControlCommand) -> Request {
        Request(asksAll: true) { (host) throws(UsageError) in
            let document = try host.ask(command)
            // The status has it anyway.
            guard command != .status, document.hasPrefix("{\"") else { return .json(document) }
            return .json("{\"process\":\(host.process)," + document.dropFirst())
        }
    }
}

/// A running host that is asked.
struct AskedHost: Sendable {
    let process: Int32
    let client: ControlClient

    /// Returns the answer to a command. Throws ``UsageError`` with the reason if it wasn't carried out.
    func ask(_ command: ControlCommand) throws(UsageError) -> String {
        do throws(ControlError) {
            return try client.ask(command, of: process)
        } catch {
            throw UsageError(error.description, exitCode: error.exitCode)
        }
    }

    /// Returns the document that answers a question.
    func read<Document: Decodable>(_ document: Document.Type, _ command: ControlCommand) throws(UsageError) -> Document
    {
        try parse(document, try ask(command))
    }

    /// Parses an answer.
    func parse<Document: Decodable>(_ document: Document.Type, _ json: String) throws(UsageError) -> Document {
        guard let document = try? Document(jsonLine: json) else {
            throw UsageError(ControlError.unreadable(process: process).description, exitCode: .unavailable)
        }
        return document
    }
}

extension ControlError {
    /// The exit code for a command that did not get through.
    fileprivate var exitCode: ExitCode {
        switch self {
        case .notRunning, .noAnswer, .unreadable, .refused: .unavailable
        case .link(let error): ExitCode(error.kind)
        }
    }
}
