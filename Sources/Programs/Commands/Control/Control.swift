import CommandLine
import Ingest
import LinkTransport
import MediaTypes
import Pulling
import ScreenRelayKit
import Signalling
import Threading
import TrackHub

/// The commands for a running share or host: the client's side asks, and the server in the host answers.
enum Control {
    /// Facts that the program knows and its host doesn't.
    struct Facts {
        /// The host's activity, such as "sharing :0", unless a source is read for the first track.
        let activity: String
        /// The sources that it reads, if it may have some.
        var sources: Sources?
        /// The limits that the capture was started with. Empty if another program started it.
        var captureLimits = SourceLimits()
        /// The rooms of other servers.
        var joins: Joins?

        /// The status of `host` with these facts and pushes.
        func status(of host: ScreenRelayHost, _ pushes: [PushesDocument.Push]) -> StatusDocument {
            var status = host.statusDocument()
            let source = sources?.first
            status.what = StatusDocument.beginning(of: source.map { "showing \($0)" } ?? activity)
            status.source = source == nil ? "capture" : "source"
            status.joins = joins?.documents
            status.pushes = pushes.isEmpty ? nil : pushes
            return status
        }
    }

    /// Sends the command to the running host, or to the host that `--pid` names, and prints the answer. A question
    /// without `--pid` is sent to all hosts. Returns the exit code.
    static func run(
        _ name: String, _ options: ParsedOptions, _ client: ControlClient = ControlClient(),
        print: (String) -> Int32 = Program.answer
    ) throws(UsageError) -> Int32 {
        guard let row = ControlTable.rows.first(where: { $0.command.name == name }) else {
            throw UsageError("unknown command '\(name)'")
        }
        let request = try row.read(options)
        let processes = try chosen(of: client.processes, asksAll: request.asksAll, options)
        for process in processes {
            let output = try request.ask(AskedHost(process: process, client: client))
            let code = print(output.text(of: process, isOneOfSeveral: processes.count > 1))
            guard code == ExitCode.success.rawValue else { return code }
        }
        return ExitCode.success.rawValue
    }

    /// The hosts to ask: the host that `--pid` names, the only host, or all hosts.
    private static func chosen(
        of running: [Int32], asksAll: Bool, _ options: ParsedOptions
    ) throws(UsageError) -> [Int32] {
        let list = running.map(String.init).joined(separator: ", ")
        if let number = try options.value("pid", as: .integer(1...Int(Int32.max), what: "process number")) {
            let process = Int32(clamping: number)
            if running.contains(process) { return [process] }
            let others = running.isEmpty ? "none runs" : "those of this user are \(list)"
            throw UsageError("--pid \(process): no share or host has that number; \(others)", exitCode: .unavailable)
        }
        if running.isEmpty { throw UsageError("no share or host of this user runs", exitCode: .unavailable) }
        if running.count > 1, !asksAll {
            throw UsageError(
                "\(running.count) shares or hosts run (\(list)); choose one with --pid; "
                    + "'screenrelay status' shows which is which")
        }
        return running
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
        do throws(SocketError) {
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
            // Without a source, its state doesn't change.
            end.desktopNeedsUpdate()
            return .done("paused")
        case .resume:
            host.resume()
            end.desktopNeedsUpdate()
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
            let limits = change.applied(to: host.limits, most: facts.captureLimits)
            let ignored = host.ignored(of: change.applied(to: SourceLimits()))
            guard ignored.isEmpty else {
                return .refused(
                    "the \(ignored.text) can't be limited here: a --source or a WHIP publisher keeps its own")
            }
            host.limit(limits)
            if limits == SourceLimits() { return .done("as capture was started") }
            return .done("at most \(limits.text)\(ceiling(of: change, facts.captureLimits))")
        case .status: return .document(facts.status(of: host, pushes.documents).json)
        case .link: return .document(host.linksDocument(tellsPresenters: news.tellsPresenters).json)
        case .rooms, .remove, .present, .lock, .entry: return host.carryOut(command)
        case .pointing(let isAllowed):
            host.allowPointing(isAllowed)
            return .done("pointing \(isAllowed ? "on" : "off")")
        case .chat(let isAllowed):
            host.allowChat(isAllowed)
            return .done("chat \(isAllowed ? "on" : "off")")
        case .push(let order): return pushes.answer(order)
        }
    }

    /// The end of the answer if the limits in force may differ from the limits in `change`.
    private static func ceiling(of change: ControlCommand.RateChange, _ captureLimits: SourceLimits) -> String {
        let asked = change.applied(to: SourceLimits())
        if captureLimits == SourceLimits() {
            return asked == SourceLimits() ? "" : "; a capture that was started with lower limits keeps them"
        }
        let isAbove = change.applied(to: SourceLimits(), most: captureLimits) != asked
        return isAbove ? "; the capture was started with at most \(captureLimits.text)" : ""
    }
}
