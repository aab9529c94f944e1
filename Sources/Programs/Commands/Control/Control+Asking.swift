import CommandLine
import LinkTransport
import MediaTypes
import ScreenRelayKit
import Signalling

/// The client's side: sends a command to the running hosts, and prints their answers.
extension Control {
    /// Sends the command to the running host, or to the host that `--pid` names. A question without `--pid` is sent to
    /// all hosts.
    static func run(_ name: String, _ options: ParsedOptions) throws(UsageError) -> Int32 {
        let command = try wanted(name, options)
        if options.has("qr"), options.has("json") {
            throw UsageError("--qr and --json can't go together; leave one out")
        }
        let client = ControlClient()
        let processes = try chosen(of: client.processes, for: command, options)
        for process in processes {
            do throws(ControlError) {
                let code: Int32
                switch command {
                case .remove(let who): code = try RoomCommands.remove(who, from: process, client)
                case .present(let decision, let who, let seconds):
                    code = try RoomCommands.decide(decision, about: who, seconds: seconds, in: process, client)
                case .entry(let decision, let who?):
                    code = try RoomCommands.decide(decision, entryOf: who, in: process, client)
                default:
                    let text = try output(of: command, by: process, client, options)
                    code = Program.answer(processes.count > 1 ? text.labelled : text.plain)
                }
                guard code == ExitCode.success.rawValue else { return code }
            } catch {
                return Program.fail(error.description, error.exitCode)
            }
        }
        return ExitCode.success.rawValue
    }

    /// The hosts to send the command to: the host that `--pid` names, the only host, or, for a question, all hosts.
    private static func chosen(
        of running: [Int32], for command: ControlCommand, _ options: ParsedOptions
    ) throws(UsageError) -> [Int32] {
        let list = running.map(String.init).joined(separator: ", ")
        if let number = try options.value("pid", as: .integer(1...Int(Int32.max), what: "process number")) {
            let process = Int32(clamping: number)
            if running.contains(process) { return [process] }
            let others = running.isEmpty ? "none runs" : "those of this user are \(list)"
            throw UsageError("--pid \(process): no share or host has that number; \(others)", exitCode: .unavailable)
        }
        if running.isEmpty { throw UsageError("no share or host of this user runs", exitCode: .unavailable) }
        if running.count > 1, AnswerForm(command) == .text {
            throw UsageError(
                "\(running.count) shares or hosts run (\(list)); choose one with --pid; "
                    + "'screenrelay status' shows which is which")
        }
        return running
    }

    /// The form of a host's answer to a command.
    private enum AnswerForm {
        /// A text about the result, for orders.
        case text
        /// For questions: a JSON object, which is printed for people or, with `--json`, as it is.
        case status, rooms, link, pushes

        init(_ command: ControlCommand) {
            switch command {
            case .status: self = .status
            case .rooms: self = .rooms
            case .link: self = .link
            case .push(.list): self = .pushes
            default: self = .text
            }
        }
    }

    /// The output for one host's answer. If several hosts answer, `labelled` is printed, which has the host's process
    /// id in front.
    private struct Output {
        let plain: String
        let labelled: String
    }

    /// Asks a host, and formats its answer for people or, with `--json`, for programs.
    private static func output(
        of command: ControlCommand, by process: Int32, _ client: ControlClient, _ options: ParsedOptions
    ) throws(ControlError) -> Output {
        let answer = try client.ask(command, of: process)
        let form = AnswerForm(command)
        if options.has("json") {
            // The status has the host's process id; the other objects get it here.
            let lacksID = form != .status && answer.hasPrefix("{\"")
            let object = lacksID ? "{\"process\":\(process)," + answer.dropFirst() : answer
            return Output(plain: "\(object)\n", labelled: "\(object)\n")
        }
        func inLine(_ text: String) -> Output { Output(plain: "\(text)\n", labelled: "\(process): \(text)\n") }
        func below(_ text: String) -> Output { Output(plain: text, labelled: "\(process):\n\(text)") }
        switch form {
        case .text: return inLine(answer)
        case .status:
            guard let status = StatusDocument(json: answer) else {
                throw .refused(process: process, reason: "its status can't be read; the host may be of another version")
            }
            return inLine(StatusText(status).text)
        case .rooms:
            let expiry = LinkCommand.expiry(in: try client.ask(.link, of: process))
            return below(try RoomCommands.text(of: answer, of: process) + expiry)
        case .link: return below(try LinkCommand.text(of: answer, of: process, withCode: options.has("qr")))
        case .pushes: return below(try PushCommand.text(of: answer, of: process))
        }
    }

    /// The command with its options as the user wrote it.
    private static func wanted(_ name: String, _ options: ParsedOptions) throws(UsageError) -> ControlCommand {
        switch name {
        case "mute", "unmute":
            let line = ([name] + options.operands).joined(separator: " ")
            guard let command = ControlCommand(line: line) else {
                throw UsageError("\(line): only 'mic' can follow \(name)")
            }
            return command
        case "remove": return .remove(options.operands.first ?? "")
        case "lock", "unlock":
            let line = ([name] + options.operands).joined(separator: " ")
            guard let command = ControlCommand(line: line) else {
                throw UsageError("\(line): only the name of a room can follow \(name)")
            }
            return command
        case "admit", "refuse":
            let who = options.operands.first ?? ""
            return .entry(name == "admit" ? .admit : .refuse, who == "all" ? nil : who)
        case "present":
            guard options.operands.count == 2, let decision = TurnDecision(rawValue: options.operands[0]) else {
                throw UsageError("present: write 'allow WHO', 'decline WHO' or 'end WHO'")
            }
            let limit = try options.value("for", as: .lifetime)
            guard limit == nil || decision == .allow else {
                throw UsageError("--for: only 'present allow WHO' uses it")
            }
            return .present(decision, options.operands[1], seconds: limit.map { Int($0.components.seconds) })
        case "pointing", "chat":
            guard let command = ControlCommand(line: ([name] + options.operands).joined(separator: " ")) else {
                throw UsageError("\(name): write 'on' or 'off'")
            }
            return command
        case PushCommand.command.name: return .push(try PushCommand.order(options))
        case "rate":
            let frames = try limit("fps", options) { (options) throws(UsageError) in
                try options.value("fps", as: .frameRate)
            }
            let bits = try limit("bitrate", options) { (options) throws(UsageError) in
                try options.value("bitrate", as: .bitRate)?.bitsPerSecond
            }
            // The options have checked the ranges.
            guard let change = ControlCommand.RateChange(framesPerSecond: frames, bitsPerSecond: bits) else {
                throw UsageError("rate: give a limit with --fps or --bitrate")
            }
            return .rate(change)
        default:
            guard let command = ControlCommand(line: name) else { throw UsageError("unknown command '\(name)'") }
            return command
        }
    }

    private static func limit(
        _ option: String, _ options: ParsedOptions, _ number: (ParsedOptions) throws(UsageError) -> Int?
    ) throws(UsageError) -> ControlCommand.RateChange.Limit? {
        if options.value(option) == "max" { return .unlimited }
        return try number(options).map { .atMost($0) }
    }
}

extension ControlError {
    /// The exit code for a command that did not get through.
    var exitCode: ExitCode {
        switch self {
        case .notRunning, .noAnswer, .refused: .unavailable
        case .link(let error): ExitCode(error.kind)
        }
    }
}
