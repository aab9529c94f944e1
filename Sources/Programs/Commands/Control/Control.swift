import CommandLine
import Ingest
import LinkTransport
import MediaTypes
import Pulling
import ScreenRelayKit
import Signalling
import Threading
import TrackHub

/// `screenrelay pause`, `resume`, `mute`, `unmute`, `rate`, `sharpen`, `stop`, `status`, `rooms`, `link`, `remove`,
/// `present`, `pointing`, `chat`, `lock`, `unlock`, `admit`, `refuse` and `push`: the commands for a running share or
/// host, and the server in it that answers them.
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
        case .status: return .done(facts.status(of: host, pushes.documents).json)
        case .link: return .done(host.linksDocument(tellsPresenters: news.tellsPresenters).json)
        case .rooms:
            return host.rooms().map { .done($0.json) } ?? .refused("the host is too busy to list its rooms; try again")
        case .remove(let id):
            return host.removeParticipant(id) ? .done("removed") : .refused("no one there is called '\(id)'")
        case .present(let decision, let id, let seconds):
            let wanted = decision == .end ? "may present" : "has asked to present"
            return host.decide(decision, turnOf: id, for: seconds.map { Duration.seconds($0) })
                ? .done("done") : .refused("no one called '\(id)' \(wanted)")
        case .pointing(let isAllowed):
            host.allowPointing(isAllowed)
            return .done(command.line)
        case .chat(let isAllowed):
            host.allowChat(isAllowed)
            return .done(command.line)
        case .lock(let isLocked, let room):
            return host.lock(isLocked, room: room)
                ? .done(isLocked ? "locked" : "unlocked") : .refused("no room is called '\(room ?? "")'", .missing)
        case .entry(let decision, let id):
            let count = host.decide(decision, entryOf: id)
            let who = id.map { "no one called '\($0)'" } ?? "no one"
            guard count > 0 else { return .refused("\(who) waits to be let in") }
            let people = count == 1 ? "1 person was" : "\(count) people were"
            return .done("\(people) \(decision == .admit ? "let in" : "refused")")
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
