import ByteCoding
import CLinux
import CommandLine
import Exporting
import Glibc
import MediaFiles
import MediaTypes
import Recording
import RecordingFiles
import Threading

/// `screenrelay export`: converts a recording, a raw dump or an H.264 stream into a file that other programs can read.
enum ExportCommand {
    static let command = Command(
        name: "export",
        summary:
            "Converts a recording, a raw dump of the capture link or an H.264 stream to a .mp4, .mkv or .h264 file, "
            + "without re-encoding.",
        options: [
            Option(
                long: "output", short: "o", value: .required("FILE"),
                help:
                    "the output file: FILE.mp4 or FILE.mkv, with the sound if there is any, or FILE.h264 (also .264) "
                    + "for the bare stream; the recording of an H.264 stream is reproduced byte for byte. When the "
                    + "frame size or colour format changes, .mp4 and .mkv continue in FILE-2, FILE-3, ..., since "
                    + "players can't follow such a change"),
            Option(
                long: "from", value: .required("TIME"),
                help: "start at this time of the recording, for example 90s or 1.5m, or at the last key frame before "
                    + "it"),
            Option(long: "to", value: .required("TIME"), help: "end at this time of the recording"),
            Option(
                long: "fps", short: "f", value: .required("NUMBER"),
                help:
                    "the frame rate, 1 to 120 fps, if the file has no times (H.264 streams, dumps of legacy senders)",
                default: "30"),
            Option(long: "force", help: "overwrite existing files"),
        ],
        operands: Operands(
            name: "FILE", count: 1...1,
            help:
                "a recording, a raw dump of '&' messages, or an H.264 stream in Annex B form. If the file is damaged "
                + "or truncated, everything intact is written, and the exit status is 65"),
        examples: [
            Example(
                "screenrelay export screen.srr -o screen.mp4", "For players and browsers, with the recorded times."),
            Example(
                "screenrelay export screen.srr --from 1m --to 90s -o part.mkv",
                "Half a minute of it; Matroska keeps times to the millisecond."),
        ])

    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        let path = options.operands[0]
        let output = try options.required("output", as: .text)
        guard let format = ExportFormat(name: output) else {
            throw UsageError("--output \(output): the name must end in .mp4, .mkv, .h264 or .264")
        }
        var selection = ExportSelection(framesPerSecond: try options.required("fps", as: .frameRate))
        selection.from = try options.value("from", as: .duration)
        selection.fromWords = options.value("from") ?? ""
        selection.to = try options.value("to", as: .duration)
        if let from = selection.from, let to = selection.to, from > to {
            throw UsageError("--to \(options.value("to") ?? ""): that is before --from \(options.value("from") ?? "")")
        }
        let target = ExportTarget(path: output, mayOverwrite: options.has("force"))
        signal(SIGPIPE, SIG_IGN)
        returnLargePieces()
        ExportInterruption.begin()
        do throws(ExportError) {
            let source = try ExportSource(path: path, selection, output: output)
            try target.check(against: path)
            let written =
                switch format {
                case .stream: try StreamExport.run(source, to: target)
                case .container(let container): try MediaExport.run(source, container, to: target)
                }
            // Before the results are printed, since the remarks may say that the pace is wrong.
            source.tellRemarks()
            let code = Program.answer(written.map { "\($0)\n" }.joined())
            return source.isDamaged ? ExitCode.badData.rawValue : code
        } catch {
            let code = Program.fail("\(error)", error.exitCode)
            if case .interrupted = error { ExportInterruption.end() }
            return code
        }
    }
}

/// The kind of file that is written.
enum ExportFormat {
    /// The bare stream, in Annex B form.
    case stream
    case container(MediaContainer)

    /// The format for the file name's suffix, or nil if it is unknown.
    init?(name: String) {
        let name = name.lowercased()
        switch true {
        case name.hasSuffix(".mp4"): self = .container(.mp4)
        case name.hasSuffix(".mkv"): self = .container(.matroska)
        case name.hasSuffix(".h264"), name.hasSuffix(".264"): self = .stream
        default: return nil
        }
    }
}

/// Why nothing could be exported.
enum ExportError: Error, CustomStringConvertible {
    case input(RecordingFileError)
    case exists(String)
    case isInput(String)
    case nothing(path: String, reason: String)
    case fromBehindEnd(path: String, from: String, end: Interval)
    case diskFull(String)
    case cannotCreate(String, reason: String, isPermission: Bool)
    case writing(String, reason: String)
    case interrupted(String)

    var exitCode: ExitCode {
        switch self {
        case .input(let error): ExitCode(error.kind)
        case .exists: .cannotWrite
        case .isInput, .fromBehindEnd: .usage
        case .nothing: .badData
        case .diskFull, .writing: .inputOutput
        case .cannotCreate(_, _, let isPermission): isPermission ? .permission : .cannotWrite
        // In fact the program ends by the signal: see ExportInterruption.
        case .interrupted: .unavailable
        }
    }

    var description: String {
        switch self {
        case .input(let error): "\(error)"
        case .exists(let path): "'\(path)' already exists; choose another name, or overwrite it with --force"
        case .isInput(let path): "'\(path)' is the input file; choose another name"
        case .nothing(let path, let reason): "'\(path)': \(reason)"
        case .fromBehindEnd(let path, let from, let end):
            "--from \(from): '\(path)' ends after \(DecimalText.seconds(end)) s"
        case .diskFull(let path): "the disk is full: '\(path)' was not written"
        case .cannotCreate(let path, let reason, _): "'\(path)' can't be created: \(reason)"
        case .writing(let path, let reason): "'\(path)' can't be written: \(reason)"
        case .interrupted(let path): "interrupted: '\(path)' was not written"
        }
    }
}

/// Holds back SIGINT and SIGTERM until a half-written file was removed. For one thread.
enum ExportInterruption {
    static func begin() { blockSignals(signals) }

    /// Waits until `input` is readable. Returns false if a signal asks the program to end.
    static func mayRead(_ input: Int32) -> Bool {
        while !isAsked {
            var entries = [pollfd(input), pollfd(asked)]
            waitForEvents(&entries)
            if entries[0].isReady, !entries[1].isReady { return true }
        }
        return false
    }

    /// Never read, so that the signal stays pending.
    private static let asked = signalDescriptor(for: signals)

    /// Ends the program by the pending signal, just as it would have ended without us.
    static func end() {
        StandardStreams.flushErrors()
        var set = sigset_t(signals)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    static var isAsked: Bool {
        var pending = sigset_t()
        sigemptyset(&pending)
        return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1)
    }

    private static let signals = [SIGINT, SIGTERM]
}
