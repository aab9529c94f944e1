import CommandLine
import Glibc
import Ingest
import LinkTransport
import MediaTypes
import ScreenRelayKit
import Signalling
import Threading
import TrackHub

/// `screenrelay pause`, `resume`, `mute`, `unmute`, `rate`, `sharpen`, `stop`, `status`, `rooms`, `link`, `kick` and
/// `push`: the commands for a running share or host, and the server in it that answers them.
enum Control {
    static let commands = [
        command(
            "pause", "Pauses sharing: viewers see a notice instead of the screen, until 'screenrelay resume'.",
            examples: [Example("screenrelay pause", "Hides the screen until 'screenrelay resume'.")]),
        command("resume", "Resumes sharing after a pause."),
        command(
            "mute", "Mutes the sound; video continues. 'screenrelay unmute' turns it on again.",
            operands: microphone,
            examples: [
                Example("screenrelay mute mic", "Mutes only the microphone of share --sound both.")
            ]),
        command("unmute", "Turns the sound on again after a mute.", operands: microphone),
        command(
            "rate", "Sets the maximum frame rate and bit rate of a running share or host.",
            [
                Option(
                    long: "fps", short: "f", value: .required("NUMBER"),
                    help: "maximum frame rate, 1 to 120 fps; max removes this limit; capture's own limit at its start "
                        + "still applies"),
                Option(
                    long: "bitrate", short: "b", value: .required("RATE"),
                    help:
                        "maximum bit rate, 10k to 1G bits per second, for example 4M, 600k or 2500000; max removes "
                        + "this limit; capture's own limit at its start still applies"
                ),
            ],
            examples: [
                Example("screenrelay rate --fps 10 --bitrate 600k", "Leaves room on the network for other programs."),
                Example("screenrelay rate --fps max --bitrate max", "Removes these limits."),
            ]),
        command(
            "sharpen",
            "Re-sends static parts of the screen at higher quality, as fast as the bit rate allows."),
        command("stop", "Stops a running share or host; viewers see that sharing has ended."),
        command(
            "status", "Shows the state of a running share or host, and the number of viewers.",
            [Option(long: "json", help: "for programs: one JSON object per line, with the capture's statistics")],
            examples: [Example("screenrelay status", "Shows what is shared, and the number of viewers.")]),
        command(
            "rooms", "Lists the people in the rooms of a running share or host, and the tracks that they watch.",
            [
                Option(
                    long: "json",
                    help:
                        "for programs: one JSON object per line, as described in Protocol/openapi.yaml, with the "
                        + "host's process id at the front"
                )
            ]),
        command(
            "link", "Prints the invite links of a running share or host again.",
            [
                Option(long: "qr", help: "also print the first invite link as a QR code"),
                Option(
                    long: "json",
                    help: "for programs: one JSON object per line, as described in Protocol/openapi.yaml"),
            ], examples: [
                Example("screenrelay link", "Prints the invite link of the running share again."),
                Example("screenrelay link --qr", "Shows it as a QR code for a phone's camera."),
            ]),
        command(
            "kick", "Removes a viewer from the rooms of a running share or host. The invite link still works.",
            operands: Operands(
                name: "WHO", count: 1...1,
                help: "a name or an identifier listed by 'screenrelay rooms', or the beginning of one"),
            examples: [Example("screenrelay kick Ann", "Removes Ann from the room.")]),
        PushCommand.command,
    ]

    private static let microphone = Operands(
        name: "mic", count: 0...1, help: "only the microphone, not the desktop's sound")

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
                if case .kick(let who) = command { return try RoomCommands.kick(who, from: process, client) }
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
        case .kick(let id):
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
        case "kick": return .kick(options.operands.first ?? "")
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

    static func command(
        _ name: String, _ summary: String, _ options: [Option] = [], operands: Operands = .none,
        examples: [Example] = []
    ) -> Command {
        let every = ["status", "rooms", "link"].contains(name) ? "; without it, all" : "; needed if several run"
        let process = Option(
            long: "pid", short: "p", value: .required("PID"),
            help: "the process id of the share or host\(every)")
        return Command(
            name: name, summary: summary, options: options + [process], operands: operands, examples: examples)
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
