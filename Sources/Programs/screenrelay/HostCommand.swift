import CommandLine
import Ingest
import LinkTransport
import ScreenRelayKit
import Threading

/// `screenrelay host`: a host whose capture is started by somebody else.
enum HostCommand {
    static let command = Command(
        name: "host",
        summary: "Takes a capture in over a link, serves its room, and prints the link that opens it in a browser.",
        options: [
            Option(
                long: "link", short: "l", value: .required("LINK"),
                help: "where captures connect: unix:PATH, tcp:HOST:PORT, or fd:NUMBER for a connected socket that was "
                    + "handed down; without it, a socket of this user's own, where 'screenrelay capture' looks by itself"
            ),
            .linkToken,
        ] + HostOptions.options + [Log.option(default: .warning)],
        examples: [
            Example("screenrelay host --link unix:s.sock", "Waits for 'screenrelay capture --link unix:s.sock'."),
            Example(
                "screenrelay host --link tcp:0.0.0.0:7300 --link-token secret",
                "Waits for a capture on another machine that has the same file."),
            Example("screenrelay host --record fault.srr", "Also records what comes, for 'screenrelay replay'."),
        ], alternatives: HostOptions.alternatives)

    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        let address = try options.link()
        let token = try options.linkToken(for: address)
        MessageMemory.keep()
        let style = try SharingNews.Style(options)
        let recording = try options.value("record", as: .text)
        var configuration = try HostOptions.configuration(options)
        let log = HostOptions.log(options, level: try options.required("log", as: ValueFormat<Log.Level>.choice))
        guard let end = EndSignals(), let news = SharingNews(style) else {
            return Program.fail("no descriptor left for signals", .system)
        }
        configuration.onRoomNews = { news.tell($0) }
        do throws(HostError) {
            if address == nil { try prepareOwnFolder() }
            let host = try ScreenRelayHost(configuration, log: log) { [room = configuration.room] state in
                news.tell(state, room: room)
            }
            defer { host.stop() }
            end.pauseToggles { host.togglePause() }
            let link = try host.openLink(at: address ?? .standard(), token: token, recording: recording)
            // Of a port that any was asked for, the one that it is.
            let place = link.address ?? address ?? .standard()
            return HostOptions.end(host, with: serve(host, link, at: place, until: end, news, log), news)
        } catch {
            return Program.fail(error.description, error.exitCode)
        }
    }

    /// Goes on until the end, and lets go of all but the host.
    private static func serve(
        _ host: ScreenRelayHost, _ link: LinkServer, at place: LinkAddress, until end: EndSignals, _ news: SharingNews,
        _ log: EventLog
    ) -> Int32 {
        defer { link.stop() }
        let control = Control.serve(host, end, what: "hosting \(place)", log: log)
        defer { control?.stop() }
        news.started(host, "Waiting for capture on \(place), for the room \(host.room). Ctrl-C ends it.")
        return end.wait()
    }

    private static func prepareOwnFolder() throws(HostError) {
        do throws(LinkTransportError) {
            try SocketFolder().prepare()
        } catch {
            throw .link(error)
        }
    }
}
