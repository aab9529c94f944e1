import CLinux
import CaptureLink
import CommandLine
import Glibc
import Inspection
import LinkTransport
import MediaTypes
import Recording
import RecordingFiles

/// `screenrelay inspect`: shows the contents and faults of a recording, a raw dump, an H.264 stream or a link.
enum InspectCommand {
    static let command = Command(
        name: "inspect",
        summary:
            "Shows the messages, frames and faults of a recording, a raw dump of the capture link or an H.264 stream.",
        options: [
            Option(
                long: "link", short: "l", value: .required("LINK"),
                help:
                    "listen on this address as a host would, for example unix:s.sock, and show the messages of a "
                    + "capture or replay, until stopped; no FILE is read then"),
            .captureKey,
            Option(
                long: "pictures", short: "p", help: "show a line for each frame instead of each message"),
            Option(long: "summary", short: "s", help: "show only the summary and the faults"),
            Option(
                long: "json", short: "j",
                help: "for programs: one JSON object per line, for each message, frame and fault; the summary comes "
                    + "last (Protocol/inspection.md)"),
        ],
        operands: Operands(
            name: "FILE", count: 0...1,
            help: "a recording (host --record, capture --record), a raw dump of '&' messages, or an H.264 stream in "
                + "Annex B form; - is standard input. Damage is reported with its position, everything intact after it "
                + "is shown, and the exit status is 65"),
        examples: [
            Example("screenrelay inspect screen.srr", "Shows every message, then the summary."),
            Example("screenrelay inspect --summary stream.264", "Shows only profile, size, rates and faults."),
            Example(
                "screenrelay inspect -j screen.srr | jq 'select(.type==\"picture\").size'",
                "The size of each frame."),
            Example(
                "screenrelay inspect --link "
                    + "unix:s.sock", "Shows the messages of 'screenrelay capture --link unix:s.sock'."),
        ])

    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        let link = try options.link()
        let token = try options.captureKey(for: link)
        let output = InspectionOutput(
            isJSON: options.has("json"), contents: options.has("pictures") ? .pictures : .messages,
            isSummaryOnly: options.has("summary"))
        // A reader that stops early is no error.
        signal(SIGPIPE, SIG_IGN)
        returnLargePieces()
        if let link {
            if let file = options.operands.first {
                throw UsageError("a file ('\(file)') and --link can't go together")
            }
            return inspect(link, token, output)
        }
        guard let path = options.operands.first else {
            throw UsageError("FILE or --link is missing; see '\(Program.name) inspect --help'")
        }
        return inspect(path, output)
    }

    private static func inspect(_ path: String, _ output: InspectionOutput) -> Int32 {
        var inspection = FileInspection()
        do throws(RecordingFileError) {
            let file = try RecordedFile(path: path)
            reading: while true {
                while let item = try file.next() {
                    inspection.add(item)
                    output.show(inspection.takeRows())
                    if output.failure != nil { break reading }
                }
                guard let fault = file.fault else { break }
                inspection.add(fault)
                file.resumeAfterDamage()
            }
            inspection.end(at: file.offset, hasEnd: file.form == .recording ? file.hasEnd : nil)
            output.show(inspection.takeRows())
            output.finish(inspection.summary, form: file.text)
        } catch {
            output.flush()
            return Program.fail("\(error)", ExitCode(error.kind))
        }
        return output.exitCode(isDamaged: inspection.isDamaged)
    }

    private static func inspect(_ link: LinkAddress, _ token: LinkToken?, _ output: InspectionOutput) -> Int32 {
        do throws(SocketError) {
            let inspection = try LinkInspection(link, token, output)
            inspection.run()
            output.finish(inspection.summary, form: "the capture link \(link)")
            return output.exitCode(isDamaged: inspection.isDamaged)
        } catch {
            output.flush()
            return Program.fail("--link \(link): \(error)", ExitCode(error.kind))
        }
    }
}

/// Returns the memory of large messages to the system when it is freed. By default glibc keeps freed blocks of that
/// size from the second one on: one NAL unit of 8 MiB would then cost 20 MiB.
func returnLargePieces() {
    mallopt(M_MMAP_THRESHOLD, 256 << 10)
}

extension RecordedFile {
    /// A description of the file for people.
    fileprivate var text: String {
        switch form {
        case .recording:
            guard let header else { return "a recording" }
            return "a recording of \(WallClock(unixTime: Int(header.wallClock / 1_000_000_000)).universalDateAndTime)"
        case .dump:
            switch linkForm {
            case .extended: return "a raw dump of the capture link"
            case .legacy40: return "a raw dump of a legacy sender, headers of 40 bytes"
            case .legacy16: return "a raw dump of a legacy sender, headers of 16 bytes"
            case nil: return "a raw dump"
            }
        case .annexB: return "H.264 in Annex B form"
        }
    }
}
