import CommandLine
import Glibc
import Ingest
import MediaTypes
import OutputSettings
import RecordingFiles
import Threading
import Viewing

/// `screenrelay view`: receives a room, a stream or a recording without a browser.
enum ViewCommand {
    /// How each second is reported.
    private enum Statistics: String, CaseIterable, Sendable {
        case text, json
    }

    static let command = Command(
        name: "view",
        summary: "Receives a room, a WHEP or RTSP stream or a recording without a browser, and reports what arrives.",
        options: [
            Option(long: "no-window", help: "decode and report without showing anything; required so far"),
            Option(
                long: "stats", value: .required("FORMAT"),
                help: "how each second is reported on standard output: text for people, or json, one object per line",
                default: Statistics.text.rawValue, choices: Statistics.allCases.map(\.rawValue)),
            Option(
                long: "seconds", short: "s", value: .required("NUMBER"),
                help: "end after this many seconds; the exit status is 69 if no picture has come (default: until "
                    + "stopped)"),
            Option(
                long: "track", short: "t", value: .required("NAME"),
                help: "the track to receive (default: the room's first)"),
            Option(
                long: "record", value: .required("FILE"),
                help:
                    "record what arrives in this file, which must not exist yet, for 'screenrelay replay', 'inspect' "
                    + "and 'export'"),
            EventLog.option(default: .warning),
        ],
        operands: Operands(
            name: "LINK", count: 1...1,
            help:
                RoomLinkOperand.help + "; or the address of a WHEP endpoint, https://TOKEN@HOST/PATH, an rtsp:// URL, "
                + "or the name of a recording"),
        examples: [
            Example(
                "screenrelay link | screenrelay view - --no-window",
                "Reports delay, frame rate, bit rate and losses once a second."),
            Example(
                "screenrelay view --no-window --stats json --seconds 10 @link.txt",
                "Ten seconds for a program; the token is in a file."),
        ])

    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        guard options.has("no-window") else {
            throw UsageError("--no-window is required: pictures can't be shown in a window yet")
        }
        let statistics: Statistics = try options.required("stats", as: .choice)
        let level: EventLog.Level = try options.required("log", as: .choice)
        let seconds = try options.value("seconds", as: .integer(1...86_400, what: "number of seconds"))
        let track = try options.value("track", as: .text)
        let path = try options.value("record", as: .text)
        let place = try place(try RoomLinkOperand.read(options.operands[0]), track)
        let log = EventLog.standardError(program: Program.name, level: level)

        signal(SIGPIPE, SIG_IGN)
        // Before any thread starts, so that all of them leave these signals to the descriptor.
        let signals = signalDescriptor(for: [SIGINT, SIGTERM])
        guard signals >= 0 else { return Program.fail("no descriptor is left", .system) }
        defer { close(signals) }
        var settings = ViewRun.Settings()
        settings.duration = seconds.map { Interval.seconds(Int64($0)) }
        settings.isJSON = statistics == .json
        if let path {
            do throws(RecordingFileError) {
                settings.recorder = try LinkRecorder(path: path, log: log)
            } catch {
                return Program.fail("--record: \(error)", ExitCode(error.kind))
            }
        }
        let end = ViewRun(place, settings, signals: signals, log: log) { StandardStreams.print($0 + "\n") }.run()
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
