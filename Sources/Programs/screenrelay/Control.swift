import CommandLine
import Glibc
import Ingest
import LinkTransport
import ScreenRelayKit
import Threading

/// `screenrelay pause`, `resume`, `stop` and `status`: what a sharer says to the share or host that runs, and how it listens.
enum Control {
    static let commands = [
        command(.pause, "Shows viewers nothing of the screen, until 'screenrelay resume'."),
        command(.resume, "Goes on after a pause."),
        command(.stop, "Ends a running share or host; viewers are told that sharing has ended."),
        command(.status, "Tells what a running share or host does, and how many watch."),
    ]

    /// Asks the host that runs, or the one that `--pid` names.
    static func run(_ name: String, _ options: ParsedOptions) throws(UsageError) -> Int32 {
        guard let command = ControlCommand(rawValue: name) else { throw UsageError("unknown command '\(name)'") }
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
        if processes.count > 1, command != .status {
            throw UsageError(
                "\(processes.count) shares or hosts run (\(list(processes))); say which with --pid, "
                    + "'screenrelay status' tells them apart")
        }
        for process in processes {
            do throws(ControlError) {
                let answer = try client.ask(command, of: process)
                StandardStreams.print(processes.count > 1 ? "\(process): \(answer)\n" : "\(answer)\n")
            } catch {
                return Program.fail(error.description, error.exitCode)
            }
        }
        return ExitCode.success.rawValue
    }

    /// Listens for such commands; nil, with a warning, where that can't be had: sharing goes on without.
    static func serve(_ host: ScreenRelayHost, _ end: EndSignals, what: String, log: EventLog) -> ControlServer? {
        do throws(LinkTransportError) {
            return try ControlServer(log: log) { command in
                switch command {
                case .pause:
                    host.pause()
                    return "paused"
                case .resume:
                    host.resume()
                    return "resumed"
                case .stop:
                    end.end(with: ExitCode.success.rawValue)
                    return "stopping"
                case .status:
                    let viewers = host.viewers == 1 ? "1 viewer" : "\(host.viewers) viewers"
                    let way = host.sourceTiming.map { timing in
                        "; capture \(timing.roundTrip.inMilliseconds) there and back, clock \(timing.clockOffset.signed)"
                    }
                    let recording = host.recordingWords.map { "; \($0)" } ?? ""
                    return "\(host.sourceState.words); \(what) to the room \(host.room); \(viewers)"
                        + (way ?? "") + recording
                }
            }
        } catch {
            log.warning("'screenrelay pause' and its like won't reach this process: \(error)")
            return nil
        }
    }

    private static func command(_ command: ControlCommand, _ summary: String) -> Command {
        let every = command == .status ? "; without it, all" : "; needed where several run"
        return Command(
            name: command.rawValue, summary: summary,
            options: [
                Option(
                    long: "pid", short: "p", value: .required("PID"),
                    help: "the process of the share or host that is meant\(every)")
            ])
    }

    private static func list(_ processes: [Int32]) -> String { processes.map(String.init).joined(separator: ", ") }
}

extension Ingest.SourceState {
    /// In a word or two.
    fileprivate var words: String {
        switch self {
        case .waiting: "waiting for capture"
        case .live: "live"
        case .paused(.sharer): "paused"
        case .paused(.screenLocked): "paused while the screen is locked"
        case .paused(.windowHidden): "paused while the window is not on the screen"
        case .gone: "capture is gone"
        }
    }
}

extension ControlError {
    /// The exit code for a command that did not get through.
    fileprivate var exitCode: ExitCode {
        switch self {
        case .notRunning, .noAnswer, .refused: .unavailable
        case .link(let error): ExitCode(error.kind)
        }
    }
}
