import CommandLine
import Glibc
import Ingest
import MediaTypes
import OutputSettings
import RecordingFiles
import Threading
import Viewing

/// `screenrelay view`: shows a room, a stream or a recording without a browser.
enum ViewCommand {
    /// The format of the figures.
    private enum Statistics: String, CaseIterable, Sendable {
        case text, json
    }

    static let command = Command(
        name: "view",
        summary: "Shows a room, a WHEP or RTSP stream or a recording in a window, without a browser.",
        options: [
            Option(
                long: "display", short: "d", value: .required("NAME"),
                help:
                    "show the window on this X display (default: on the Wayland compositor of WAYLAND_DISPLAY if it "
                    + "answers, else on DISPLAY)"),
            Option(long: "no-window", help: "decode and report without showing or playing anything"),
            Option(long: "mute", help: "play no sound"),
            Option(
                long: "stats", value: .required("FORMAT"),
                help:
                    "report figures on standard output every second: as text, or as json, one object per line "
                    + "(default: text with --no-window, else nothing)",
                choices: Statistics.allCases.map(\.rawValue)),
            Option(
                long: "seconds", short: "s", value: .required("NUMBER"),
                help: "end after this many seconds; the exit status is 69 if no frame has arrived (default: until "
                    + "stopped)"),
            Option(
                long: "track", short: "t", value: .required("NAME"),
                help: "the track to receive (default: the room's first)"),
            ICEOptions.viewing,
            Option(
                long: "record", value: .required("FILE"),
                help:
                    "record the video and the sound in this file, which must not exist yet, for 'screenrelay replay', "
                    + "'inspect' and 'export'"),
            EventLog.option(default: .warning),
        ],
        operands: Operands(
            name: "LINK", count: 1...1,
            help:
                RoomLinkOperand.help + "; or the address of a WHEP endpoint, https://TOKEN@HOST/PATH, an rtsp:// URL, "
                + "or the name of a recording"),
        examples: [
            Example("screenrelay view 'http://127.0.0.1:8080/#screen,TOKEN'", "Shows the room in a window."),
            Example(
                "screenrelay link | screenrelay view - --no-window",
                "Reports delay, frame rate, bit rate and losses once a second."),
            Example(
                "screenrelay view --no-window --stats json --seconds 10 @link.txt",
                "Reports ten seconds as JSON; the token is in a file."),
        ])

    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        let showsWindow = !options.has("no-window")
        let display = try options.value("display", as: .text)
        if !showsWindow, let display {
            throw UsageError("--display \(display): there is no window with --no-window; leave one out")
        }
        let statistics = try options.value("stats", as: ValueFormat<Statistics>.choice)
        let reports = statistics != nil || !showsWindow
        let level: EventLog.Level = try options.required("log", as: .choice)
        let seconds = try options.value("seconds", as: .integer(1...86_400, what: "number of seconds"))
        let track = try options.value("track", as: .text)
        let path = try options.value("record", as: .text)
        let place = try place(try RoomLinkOperand.read(options.operands[0]), track)
        let iceServers = try ICEOptions.relays(options)
        guard iceServers.isEmpty || place.usesTURN else {
            throw UsageError("--ice-server: RTSP URLs and recordings use no TURN server; leave it out")
        }
        let log = EventLog.standardError(program: Program.name, level: level)

        signal(SIGPIPE, SIG_IGN)
        // Before any thread starts, so that all of them leave these signals to the descriptor.
        let signals = signalDescriptor(for: [SIGINT, SIGTERM])
        guard signals >= 0 else { return Program.fail("no descriptor is left", .system) }
        defer { close(signals) }
        var settings = ViewRun.Settings()
        settings.duration = seconds.map { Interval.seconds(Int64($0)) }
        settings.isJSON = statistics == .json
        settings.iceServers = iceServers
        (settings.showsWindow, settings.display) = (showsWindow, display)
        if showsWindow, !options.has("mute") {
            settings.soundProgram = ProgramBeside.sound.path
            if settings.soundProgram == nil { log.warning("no sound is played: \(ProgramBeside.sound.missing)") }
        }
        if let path {
            do throws(RecordingFileError) {
                settings.recorder = try LinkRecorder(path: path, log: log)
            } catch {
                return Program.fail("--record: \(error)", ExitCode(error.kind))
            }
        }
        let run = ViewRun(place, settings, signals: signals, log: log) { line in
            !reports || StandardStreams.print(line + "\n")
        }
        let end = run.run()
        settings.recorder?.close()
        if let reason = end.reason { return Program.fail(reason, end.exitCode) }
        return end.exitCode.rawValue
    }

    private static func place(_ text: String, _ track: String?) throws(UsageError) -> ViewPlace {
        do throws(OutputSettingsError) {
            return try ViewPlace(text, track: track)
        } catch {
            throw UsageError("LINK: \(error)")
        }
    }
}
