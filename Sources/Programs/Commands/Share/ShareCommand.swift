import CaptureLink
import CommandLine
import DesktopIntegration
import Diagnosis
import Glibc
import Ingest
import LinkTransport
import MediaTypes
import ScreenRelayKit
import Signalling
import Threading
import TrackHub

/// `screenrelay share`: a host and a capture that it keeps running.
enum ShareCommand {
    static let command = Command(
        name: "share",
        summary: "Shares a screen in a room and prints the invite link that opens it in a browser.",
        options: CaptureOptions.options + TagOption.options + [SoundOption.option.under(.sound)] + HostOptions.all
            + PushOption.options + [JoinOption.option.under(.pushing)] + DesktopOption.options
            + ShareConfinement.options + [CaptureVerbosity.option(default: .warning)],
        examples: [
            Example("screenrelay share", "Shares the screen with browsers on this machine."),
            Example(
                "screenrelay share --lan --room demo", "Shares it with anyone on the network who has the invite link."),
            Example("screenrelay share --sound desktop", "Also shares the desktop's sound."),
            Example(
                "screenrelay share --push rtmp://live.example/app/key",
                "Also pushes it to a streaming service, without re-encoding."),
            Example(
                "screenrelay share --hide 'Password Manager'",
                "Shares the screen and hides the windows of one program."),
        ], alternatives: CaptureOptions.alternatives + HostOptions.alternatives)

    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        MessageMemory.keep()
        let verbosity: CaptureVerbosity = try options.required("log", as: .choice)
        var capture = try CaptureOptions(options)
        if options.wantsList {
            let words = ["--list", "--source", capture.system.rawValue]
            return ProgramBeside.capture.become(words + (capture.display.map { ["--display", $0] } ?? [])).rawValue
        }
        let confinement = try ShareConfinement(options, capture)
        let sound = try SoundOption(options, confinedAs: confinement, log: verbosity.level)
        let style = try SharingNews.Style(options)
        let pushing = try PushOption(options)
        let joining = try JoinOption(options)
        let desktop = try DesktopOption(options, capture)
        // After all other options, because this may create a token and store it.
        let configuration = try HostOptions.configuration(options)
        let tags = try TagOption(options, room: configuration.room)
        let serving = try MediaServerOptions(options, configuration)
        let log = HostOptions.log(options, level: verbosity.level)
        if let warning = capture.waylandWarning { log.warning(warning) }
        guard let program = ProgramBeside.capture.path else {
            return Program.fail(ProgramBeside.capture.missing, .unavailable)
        }
        var picked: String?
        if capture.picks {
            var code: Int32 = 0
            guard let choice = PickedTarget(program, capture, code: &code) else { return code }
            (capture.target, capture.picks, picked) = (choice.target, false, choice.description)
        }
        let limits = capture.limits
        let shared = picked ?? capture.sharedName ?? display
        // A capture that is restarted continues with the user's choice, and not with that of another share.
        let first = capture.asks ? ["--ask"] : []
        capture.asks = false
        if capture.system == .wayland { capture.choice = choice(of: configuration) }
        let arguments = capture.arguments + ["--log", verbosity.rawValue] + confinement.arguments
        for finding in OpenFiles.raiseLimit() { log.warning(finding.line) }
        guard let end = EndSignals() else {
            return Program.fail("no descriptor left for signals", .system)
        }
        let news = SharingNews(style)
        let desktopNews = DesktopNews { end.desktopNeedsUpdate() }
        do throws(HostError) {
            let host = try ScreenRelayHost(
                configuration, log: log,
                onSourceChange: { [room = configuration.room] state in
                    news.tell(state, room: room)
                    desktopNews.stateChanged()
                    switch state {
                    case .live, .paused: end.becameReady()
                    case .waiting, .gone: break
                    }
                },
                onVisit: {
                    news.tell($0)
                    desktopNews.tell($0)
                }, onChat: { news.tell($0) }, onExpiry: { news.tellExpiry(of: $0) })
            defer { host.stop() }
            if let problem = tags.apply(to: host) { return Program.fail(problem, .usage) }
            end.pauseToggles { host.togglePause() }
            AccessOptions.warn(of: configuration.certificate, log)
            let reload = HostReload(host: host, options: options, log: log)
            end.reloads { reload.run() }
            let servers: MediaServers
            do throws(UsageError) {
                servers = try serving.start(host, configuration, track: "/TRACK", log: log)
            } catch {
                return Program.fail(error.description, error.exitCode)
            }
            defer { servers.stop() }
            let extraLines = servers.lines + HostOptions.networkLines(of: host, options)
            let plan = Plan(
                shared: shared, audience: HostOptions.audience(options), captureLimits: limits, sound: sound,
                pushing: pushing, joining: joining, desktop: desktop)
            let code = try share(plan, with: host, until: end, news, desktopNews, extraLines: extraLines, log) {
                (link) throws(HostError) in
                try CaptureSupervisor(
                    .capture(program, arguments, first: first), confinement: confinement.confinement, link: link,
                    log: log
                ) { end.end(with: $0) }
            }
            return HostOptions.end(host, with: code, news)
        } catch {
            return Program.fail(RunningHosts.text(for: error), error.exitCode)
        }
    }

    /// The content of a share, and its destinations besides the room.
    private struct Plan {
        /// A description of the shared content.
        let shared: String
        /// Who can reach the host, for the line about the start; empty if other machines can.
        let audience: String
        /// The limits that the capture is started with.
        let captureLimits: SourceLimits
        let sound: SoundOption
        let pushing: PushOption
        let joining: JoinOption
        let desktop: DesktopOption
    }

    /// Shares until the end, and then closes everything but the host.
    private static func share(
        _ plan: Plan, with host: ScreenRelayHost, until end: EndSignals, _ news: SharingNews,
        _ desktopNews: DesktopNews, extraLines: [String], _ log: EventLog,
        supervise: (LinkServer) throws(HostError) -> CaptureSupervisor
    ) throws(HostError) -> Int32 {
        let pushes = Pushes(plan.pushing, of: host, news, log: log)
        defer { pushes.stop() }
        let joins = Joins(plan.joining, of: host, news, log: log)
        defer { joins.stop() }
        let facts = Control.Facts(
            activity: "sharing \(plan.shared)", captureLimits: plan.captureLimits, joins: joins)
        let control = Control.serve(host, end, news, pushes, facts, log: log)
        defer { control?.stop() }
        let link = try host.firstTrack.openLink(at: nil)
        defer { link.stop() }
        let supervisor = try supervise(link)
        defer { supervisor.stop() }
        let soundSupervisor = plan.sound.start(for: link, log: log)
        defer { soundSupervisor?.stop() }
        // If the display can't be captured, end before printing a link that shows nothing.
        if let code = end.waitUntilReady(within: captureStart) { return code }
        news.started(
            host, "Sharing \(plan.shared) to the room \(host.room)\(plan.audience). Ctrl-C ends it.",
            extraLines: extraLines)
        let desktop = plan.desktop.signs(of: host, end, desktopNews, log)
        defer { desktop.close() }
        return end.wait(with: desktop)
    }

    /// The name for the user's choice in a Wayland desktop's dialog. Like the room's token, the choice belongs to the
    /// room at its addresses, at which there is no other share at the same time, unless they have port 0.
    private static func choice(of configuration: HostConfiguration) -> String {
        "\(configuration.room)@" + configuration.listen.map { "\($0)" }.joined(separator: "+")
    }

    /// How long to wait for the capture before printing the link anyway.
    private static let captureStart = Interval.seconds(5)

    /// The value of DISPLAY.
    private static var display: String { getenv("DISPLAY").map { String(cString: $0) } ?? "the display" }
}

extension CaptureOptions {
    /// The highest frame rate and bit rate of the capture.
    fileprivate var limits: SourceLimits {
        SourceLimits(frameRate: FrameRate(framesPerSecond: framesPerSecond), bitRate: bitRate)
    }

    /// A description of the shared content, or nil for the screen that DISPLAY names.
    fileprivate var sharedName: String? {
        if newMonitorSize != nil { return "a new monitor of the desktop" }
        if system == .wayland { return target == .screen ? "the desktop" : "a \(target.kindName) of the desktop" }
        let place = display.map { " of \($0)" } ?? ""
        return switch target {
        case .screen: display
        case .monitor(let name): "monitor \(name)\(place)"
        case .window(let window): "window \(window)\(place)"
        case .region(let area):
            "what is on the screen of \(area.width)x\(area.height)+\(area.x)+\(area.y)\(place)"
        }
    }
}
