import CommandLine
import Glibc
import Ingest
import LinkTransport
import MediaTypes
import ScreenRelayKit
import Signalling
import Threading
import TrackHub

/// `screenrelay pause`, `resume`, `mute`, `unmute`, `rate`, `sharpen`, `stop`, `status`, `rooms`, `link`, `remove` and
/// `push`: the commands for a running share or host, and the server in it that answers them.
enum Control {
    /// Sends the command to the running host, or to the one that `--pid` names.
    static func run(_ name: String, _ options: ParsedOptions) throws(UsageError) -> Int32 {
        let command = try wanted(name, options)
        let isQuestion = [.status, .statusJSON, .rooms, .link, .push(.list)].contains(command)
        if options.has("qr"), options.has("json") {
            throw UsageError("--qr and --json can't go together; leave one out")
        }
        let wanted = try options.value("pid", as: .integer(1...Int(Int32.max), what: "process number"))
        let client = ControlClient()
        var processes = client.processes
        if let wanted {
            let process = Int32(clamping: wanted)
            guard processes.contains(process) else {
                let running = processes.isEmpty ? "none runs" : "those of this user are \(list(processes))"
                return Program.fail("--pid \(process): no share or host has that number; \(running)", .unavailable)
            }
            processes = [process]
        }
        if processes.isEmpty { return Program.fail("no share or host of this user runs", .unavailable) }
        if processes.count > 1, !isQuestion {
            throw UsageError(
                "\(processes.count) shares or hosts run (\(list(processes))); choose one with --pid; "
                    + "'screenrelay status' shows which is which")
        }
        var code = ExitCode.success.rawValue
        for process in processes where code == ExitCode.success.rawValue {
            do throws(ControlError) {
                if case .remove(let who) = command { return try RoomCommands.remove(who, from: process, client) }
                let answer = try client.ask(command, of: process)
                if [.rooms, .link, .push(.list)].contains(command), !options.has("json") {
                    let label = processes.count > 1 ? "\(process):\n" : ""
                    let text =
                        switch command {
                        case .rooms:
                            try RoomCommands.text(of: answer, of: process)
                                + LinkCommand.expiry(in: try client.ask(.link, of: process))
                        case .push: try PushCommand.text(of: answer, of: process)
                        default: try LinkCommand.text(of: answer, of: process, withCode: options.has("qr"))
                        }
                    code = Program.answer(label + text)
                    continue
                }
                let lines = command == .status ? lines(of: answer) : json(answer, of: process, for: command)
                let isLabelled = processes.count > 1 && !options.has("json")
                code = Program.answer(isLabelled ? "\(process): \(lines)\n" : "\(lines)\n")
            } catch {
                return Program.fail(error.description, error.exitCode)
            }
        }
        return code
    }

    /// Facts that the program knows and its host doesn't.
    struct Facts {
        /// What the host does, such as "sharing :0".
        let what: String
        /// What sends the pictures.
        var source = "capture"
        /// The limits that the capture was started with. Empty if another program started it.
        var most = SourceLimits()
        /// The rooms of other servers.
        var joins: Joins?
    }

    /// Starts to answer these commands on the control socket and `/api`, and to send `news` to the latter. If there is
    /// no socket, logs a warning and returns nil; sharing continues without it.
    static func serve(
        _ host: ScreenRelayHost, _ end: EndSignals, _ news: SharingNews, _ pushes: Pushes, _ facts: Facts,
        log: EventLog
    ) -> ControlServer? {
        let answer: @Sendable (ControlCommand) -> ControlAnswer = {
            Self.answer($0, host, end, news, pushes, facts)
        }
        host.answerCommands(with: answer)
        news.tellAlso(by: host)
        do throws(LinkTransportError) {
            return try ControlServer(log: log, answer: answer)
        } catch {
            log.warning("commands such as 'screenrelay pause' won't reach this process: \(error)")
            return nil
        }
    }

    private static func answer(
        _ command: ControlCommand, _ host: ScreenRelayHost, _ end: EndSignals, _ news: SharingNews, _ pushes: Pushes,
        _ facts: Facts
    ) -> ControlAnswer {
        switch command {
        case .pause:
            host.pause()
            return .done("paused")
        case .resume:
            host.resume()
            return .done("resumed")
        case .mute, .unmute:
            let isMuted = command == .mute
            let isNews = host.isMuted != isMuted
            host.mute(isMuted)
            if isNews { news.tell(isMuted: isMuted) }
            // A source of sound that comes later is muted as well.
            let isHeard = host.tracks.contains { $0.soundState != .none }
            return .done((isMuted ? "muted" : "unmuted") + (isHeard ? "" : "; no sound is being captured"))
        case .muteMicrophone, .unmuteMicrophone:
            let isMuted = command == .muteMicrophone
            host.muteMicrophone(isMuted)
            let isHeard = host.tracks.contains { $0.soundState != .none }
            return .done(
                "microphone " + (isMuted ? "muted" : "unmuted") + (isHeard ? "" : "; no sound is being captured"))
        case .stop:
            end.end(with: ExitCode.success.rawValue)
            return .done("stopping")
        case .sharpen:
            return host.sharpen() ? .done("sharpening") : .refused("no capture is connected")
        case .rate(let change):
            let limits = change.applied(to: host.limits, most: facts.most)
            let ignored = host.ignored(of: change.applied(to: SourceLimits()))
            guard ignored.isEmpty else {
                return .refused(
                    "the \(ignored.words) can't be limited here: a --source or a WHIP publisher keeps its own")
            }
            host.limit(limits)
            if limits == SourceLimits() { return .done("as capture was started") }
            return .done("at most \(limits.words)\(ceiling(of: change, facts.most))")
        case .status: return .done(StatusReport(of: host, process: getpid(), facts).line)
        case .statusJSON: return .done(StatusReport(of: host, process: getpid(), facts).json)
        case .link: return .done(host.linksDocument(tellsPresenters: news.tellsPresenters).json)
        case .rooms:
            return host.rooms().map { .done($0.json) } ?? .refused("the host is too busy to list its rooms; try again")
        case .remove(let id):
            return host.removeVisitor(id) ? .done("removed") : .refused("no one there is called '\(id)'")
        case .push(let order): return pushes.answer(order)
        }
    }

    /// The end of the answer if the limits in force may differ from those that `change` asked for.
    private static func ceiling(of change: ControlCommand.RateChange, _ most: SourceLimits) -> String {
        let asked = change.applied(to: SourceLimits())
        if most == SourceLimits() {
            return asked == SourceLimits() ? "" : "; a capture that was started with lower limits keeps them"
        }
        let isAbove = change.applied(to: SourceLimits(), most: most) != asked
        return isAbove ? "; the capture was started with at most \(most.words)" : ""
    }

    /// The command with its options as the user wrote it.
    private static func wanted(_ name: String, _ options: ParsedOptions) throws(UsageError) -> ControlCommand {
        switch name {
        case "status": return options.has("json") ? .statusJSON : .status
        case "mute", "unmute":
            let line = ([name] + options.operands).joined(separator: " ")
            guard let command = ControlCommand(line: line) else {
                throw UsageError("\(line): only 'mic' can follow \(name)")
            }
            return command
        case "remove": return .remove(options.operands.first ?? "")
        case PushCommand.command.name: return .push(try PushCommand.order(options))
        case "rate":
            let frames = try limit("fps", options) { (options) throws(UsageError) in
                try options.value("fps", as: .frameRate)
            }
            let bits = try limit("bitrate", options) { (options) throws(UsageError) in
                try options.value("bitrate", as: .bitRate)?.bitsPerSecond
            }
            guard frames != nil || bits != nil else {
                throw UsageError("rate: give a limit with --fps or --bitrate")
            }
            return .rate(ControlCommand.RateChange(framesPerSecond: frames, bitsPerSecond: bits))
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

    /// Adds the host's process id to its JSON for rooms and links, as in its status.
    private static func json(_ answer: String, of process: Int32, for command: ControlCommand) -> String {
        guard [.rooms, .link, .push(.list)].contains(command), answer.hasPrefix("{\"") else { return answer }
        return "{\"process\":\(process)," + answer.dropFirst()
    }

    /// Puts a host's links, its `/api` and its capture on lines of their own.
    private static func lines(of answer: String) -> String {
        var text = answer
        for mark in StatusReport.marks {
            guard let start = text.firstRange(of: mark)?.lowerBound else { continue }
            text = text[..<start] + "\n  " + text[start...].dropFirst(2)
        }
        return text
    }

    private static func list(_ processes: [Int32]) -> String { processes.map(String.init).joined(separator: ", ") }
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
