import CommandLine
import Diagnosis
import Ingest
import LinkTransport
import Pulling
import ScreenRelayKit
import Threading

/// `screenrelay host`: a host whose captures are started separately.
enum HostCommand {
    static let command = Command(
        name: "host",
        summary: "Waits for 'screenrelay capture', serves its room, and prints the invite link that opens it in a "
            + "browser.",
        options: [
            Option(
                long: "link", short: "l", value: .required("LINK"),
                help:
                    "where captures connect: unix:PATH, tcp:HOST:PORT, tls:HOST:PORT (encrypted), or fd:NUMBER for an "
                    + "inherited socket, connected or listening; without it, this user's own socket, to which "
                    + "'screenrelay capture' connects by default"
            ).under(.captureLink),
            .captureKey,
            Option(
                long: "legacy-from", value: .required("CIDR"),
                help:
                    "accept legacy senders, which can't prove that they have the --capture-key, from these addresses, "
                    + "for example 192.0.2.0/24; may be repeated", repeats: true
            ).under(.captureLink),
        ]
            + [
                TrackOption.option, SourceOption.option, SourceOption.anyCertificate,
            ].under(.source) + TagOption.options
            + HostOptions.all + PushOption.options
            + [JoinOption.option.under(.pushing), EventLog.option(default: .warning)],
        examples: [
            Example("screenrelay host --link unix:s.sock", "Waits for 'screenrelay capture --link unix:s.sock'."),
            Example(
                "screenrelay host --link tls:0.0.0.0:7300 --capture-key secret",
                "Waits for a capture on another machine, which needs a copy of the file secret; the connection is "
                    + "encrypted."),
            Example(
                "screenrelay host --link unix:a.sock --track desk2=unix:b.sock",
                "Two captures, two screens, one room: each viewer chooses."),
            Example("screenrelay host --record fault.srr", "Also records the session, for 'screenrelay replay'."),
        ], alternatives: HostOptions.alternatives)

    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        let sockets = try ServiceSockets(options)
        let address: LinkAddress? = if let link = sockets.link { link } else { try options.link() }
        let room = try options.required("room", as: .roomName)
        let tracks = try TrackOption.all(options, room: room, link: address ?? .standard())
        let admission = try admission(options, [address] + tracks.map(\.link))
        MessageMemory.keep()
        let style = try SharingNews.Style(options)
        let pushing = try PushOption(options)
        let joining = try JoinOption(options)
        let sourcing = try SourceOption(options)
        var configuration = try HostOptions.configuration(options, sockets: sockets.http)
        for track in tracks {
            guard let name = track.room, name != room else { continue }
            guard !configuration.furtherRooms.contains(where: { $0.name == name }) else { continue }
            configuration.furtherRooms.append(HostOptions.furtherRoom(name, options, configuration))
        }
        let tags = try TagOption(options, room: room)
        let serving = try MediaServerOptions(options, configuration, rtsp: sockets.rtsp)
        let log = HostOptions.log(options, level: try options.required("log", as: ValueFormat<EventLog.Level>.choice))
        if let warning = sockets.warning(options) { log.warning(warning) }
        for finding in OpenFiles.raiseLimit() { log.warning(finding.line) }
        guard let end = EndSignals() else {
            return Program.fail("no descriptor left for signals", .system)
        }
        let news = SharingNews(style)
        // The track whose link is being opened, for error messages. Nil for the first track.
        var opening: TrackOption?
        do throws(HostError) {
            if address == nil { try prepareOwnFolder() }
            let host = try ScreenRelayHost(
                configuration, log: log, onSourceChange: { news.tell($0, room: room) }, onVisit: { news.tell($0) },
                onChat: { news.tell($0) }, onExpiry: { news.tellExpiry(of: $0) })
            defer { host.stop() }
            end.pauseToggles { host.togglePause() }
            AccessOptions.warn(of: configuration.certificate, log)
            let link = try host.firstTrack.openLink(at: address ?? .standard(), admission: admission)
            // If port 0 was given, this has the actual port.
            let place = link.address ?? address ?? .standard()
            var links = [link]
            defer { stopAll(links) }
            var lines: [String] = []
            for track in tracks {
                opening = track
                let hosted = try host.addTrack(track.name, to: track.room ?? room)
                let link = try hosted.openLink(at: track.link, admission: admission)
                links.append(link)
                lines.append(
                    "The track \(hosted.name) of the room \(hosted.room): waiting on \(link.address ?? track.link)")
            }
            let sources = Sources(of: host, log: log)
            defer { sources.stop() }
            try sources.start(sourcing, end)
            let reload = HostReload(host: host, options: options, sources: sources, log: log)
            end.reloads { reload.run() }
            if let problem = tags.apply(to: host) { return Program.fail(problem, .usage) }
            let servers: MediaServers
            do throws(UsageError) {
                servers = try serving.start(host, configuration, log: log)
            } catch {
                return Program.fail(error.description, error.exitCode)
            }
            defer { servers.stop() }
            lines += servers.lines + HostOptions.networkLines(of: host, options)
            let plan = Plan(
                sources: sources, place: place, audience: HostOptions.audience(options), pushing: pushing,
                joining: joining)
            let code = serve(plan, with: host, links, until: end, news, extraLines: lines, log)
            return HostOptions.end(host, with: code, news)
        } catch {
            if let opening, case .link(let problem) = error {
                return Program.fail("\(opening.label): \(problem)", error.exitCode)
            }
            return Program.fail(RunningHosts.text(for: error), error.exitCode)
        }
    }

    /// A host's content, and its destinations besides the room.
    private struct Plan {
        /// What the host reads; a capture sends the first track unless one of them is for it.
        let sources: Sources
        /// Where a capture connects to the first track.
        let place: LinkAddress
        /// Who can reach the host, for the line about the start; empty if other machines can.
        let audience: String
        let pushing: PushOption
        let joining: JoinOption

        /// The host's activity, for the line about the start.
        var beginning: String { sources.first.map { "Reading \($0)" } ?? "Waiting for capture on \(place)" }
    }

    /// Serves until the end, and then closes everything but the host.
    private static func serve(
        _ plan: Plan, with host: ScreenRelayHost, _ links: [LinkServer], until end: EndSignals, _ news: SharingNews,
        extraLines: [String], _ log: EventLog
    ) -> Int32 {
        defer { stopAll(links) }
        let pushes = Pushes(plan.pushing, of: host, news, log: log)
        defer { pushes.stop() }
        let joins = Joins(plan.joining, of: host, news, log: log)
        defer { joins.stop() }
        let facts = Control.Facts(activity: "hosting \(plan.place)", sources: plan.sources, joins: joins)
        let control = Control.serve(host, end, news, pushes, facts, log: log)
        defer { control?.stop() }
        let watchdog = end.manager.flatMap { Watchdog.start($0, of: host, log: log) }
        defer { watchdog?.stop() }
        let status = "\(plan.beginning), for the room \(host.room)"
        news.started(host, "\(status)\(plan.audience). Ctrl-C ends it.", extraLines: extraLines)
        end.manager?.tell(.ready(status: status))
        return end.wait()
    }

    private static func stopAll(_ links: [LinkServer]) {
        for link in links { link.stop() }
    }

    /// The admission rules, which are the same for all links over TCP.
    private static func admission(_ options: ParsedOptions, _ links: [LinkAddress?]) throws(UsageError) -> LinkAdmission
    {
        let overTCP = links.first { $0?.isOverTCP == true }
        let token = try options.captureKey(for: overTCP ?? nil)
        let legacySenders = try options.values("legacy-from", as: .addressRange)
        if token == nil, let range = options.values("legacy-from").first {
            throw UsageError(
                "--legacy-from \(range): without --capture-key, legacy senders are accepted only from this machine")
        }
        return LinkAdmission(token: token, legacySenders: legacySenders)
    }

    private static func prepareOwnFolder() throws(HostError) {
        do throws(SocketError) {
            try SocketFolder().prepare()
        } catch {
            throw .link(error)
        }
    }
}
