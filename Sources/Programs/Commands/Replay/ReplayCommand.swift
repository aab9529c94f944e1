import ByteCoding
import CommandLine
import Glibc
import LinkTransport
import MediaTypes
import RecordingFiles
import Replaying

/// `screenrelay replay`: sends a recording to a host, just as the recorded capture sent it.
enum ReplayCommand {
    static let command = Command(
        name: "replay",
        summary: "Sends a recording to a host like a live capture, byte for byte.",
        options: [
            Option(
                long: "link", short: "l", value: .required("LINK"),
                help:
                    "where the host is, as for 'screenrelay capture'; without it, where this user's host listens by "
                    + "default"
            ),
            .captureKey,
            Option(
                long: "speed", short: "s", value: .required("N|max"),
                help:
                    "the speed relative to the recording, for example 2 or 0.25; or max: as fast as the host accepts "
                    + "it",
                default: "1"),
            Option(long: "loop", help: "start over at the end, until stopped"),
            Option(
                long: "from", value: .required("TIME"),
                help: "start at this time of the recording, for example 90s or 1.5m, at the key frame before it"),
            Option(
                long: "pause-at", value: .required("N"),
                help:
                    "pause before frame N (the first is 1) until Enter (if FILE is not standard input) or SIGUSR1"),
            Option(
                long: "fps", short: "f", value: .required("NUMBER"),
                help:
                    "the frame rate, 1 to 120 fps, if the file has no times (H.264 streams, dumps of legacy senders)",
                default: "30"),
        ],
        operands: Operands(
            name: "FILE", count: 1...1,
            help:
                "a recording of --record, a raw dump of a capture link, or an H.264 stream in Annex B form; - is "
                + "standard input"
        ),
        examples: [
            Example("screenrelay replay fault.srr", "Shows the recording to the viewers of this user's host."),
            Example(
                "screenrelay replay --speed max --link unix:s.sock stream.h264",
                "Sends a stream to the host on s.sock, as fast as the host accepts it."),
            Example(
                "screenrelay replay --from 2m --pause-at 5400 fault.srr",
                "Pauses right before frame 5400."),
        ])

    static func run(_ parsed: ParsedOptions) throws(UsageError) -> Int32 {
        let address = try parsed.link() ?? .standard()
        let token = try parsed.captureKey(for: address)
        var options = try options(parsed)
        let from = try parsed.value("from", as: .duration)
        let path = parsed.operands.first ?? "-"
        returnLargePieces()
        guard let signals = ReplaySignals() else { return Program.fail("no descriptor left for signals", .system) }
        let file: ReplayFile
        do throws(RecordingFileError) {
            file = try ReplayFile(path: path, signals: signals)
        } catch {
            if signals.hasEnded { return ExitCode.success.rawValue }
            return Program.fail("\(error)", ExitCode(error.kind))
        }
        if signals.hasEnded { return ExitCode.success.rawValue }
        if file.isStandardInput { signals.giveInputUp() }
        if let option = from != nil ? "--from" : options.loops ? "--loop" : nil, !file.isSeekable {
            throw UsageError("\(option): '\(path)' is a pipe: it can only be read once, from its beginning")
        }
        if let from {
            let found = file.start(at: from, period: options.period)
            if signals.hasEnded { return ExitCode.success.rawValue }
            if file.failure == nil, from > found.end {
                let end = DecimalText.seconds(found.end)
                throw UsageError("--from \(parsed.value("from") ?? ""): '\(path)' ends after \(end) s")
            }
            options.start = found.start
            _ = file.rewind()
        }
        if let failure = file.failure { return Program.fail("\(failure)", ExitCode(failure.kind)) }
        do throws(SocketError) {
            guard let connection = try connect(to: address, token, signals) else {
                return ExitCode.success.rawValue
            }
            return play(
                file, path, ReplayRun(file, to: connection, token: token, options: options, signals: signals), address)
        } catch {
            return Program.fail("--link \(address): \(error)", ExitCode(error.kind))
        }
    }

    /// Returns nil if the program was told to end before the host was reached.
    private static func connect(
        to address: LinkAddress, _ token: LinkToken?, _ signals: ReplaySignals
    ) throws(SocketError) -> SocketConnection? {
        let dial = try LinkDial(to: address, token: token)
        while true {
            if let connection = try dial.advance() { return connection }
            if !signals.wait(for: dial.descriptor, Int32(dial.events), until: dial.deadline) { return nil }
        }
    }

    private static func play(_ file: ReplayFile, _ path: String, _ run: ReplayRun, _ address: LinkAddress) -> Int32 {
        let end = run.run()
        let problem = StandardStreams.print(run.summary + "\n") ? 0 : errno
        let code = code(of: end, file, path, run, address)
        // A reader that closed its end wanted no more output.
        guard problem != 0, problem != EPIPE else { return code }
        let failed = Program.fail("standard output: \(String(cString: strerror(problem)))", .inputOutput)
        return code == ExitCode.success.rawValue ? failed : code
    }

    /// Reports how the replay ended, and returns the exit code.
    private static func code(
        of end: ReplayRun.End, _ file: ReplayFile, _ path: String, _ run: ReplayRun, _ address: LinkAddress
    ) -> Int32 {
        switch end {
        case .linkLost(let ending):
            // The exit code of a capture with a wrong token.
            let code = ending.isUnauthorised ? ExitCode.permission : .unavailable
            return Program.fail("--link \(address): \(ending.text)", code)
        case .stopped: return ExitCode.success.rawValue
        case .done:
            if let missed = run.missedPause {
                StandardStreams.printError(missed, program: Program.name)
            }
        }
        if let failure = file.failure { return Program.fail("\(failure)", ExitCode(failure.kind)) }
        if let damage = file.damage {
            return Program.fail("'\(path)': \(damage); everything before that was sent", .badData)
        }
        if let missing = file.missingEnd {
            StandardStreams.printError("'\(path)': \(missing)", program: Program.name)
        }
        return ExitCode.success.rawValue
    }

    private static func options(_ parsed: ParsedOptions) throws(UsageError) -> ReplayRun.Options {
        var options = ReplayRun.Options()
        options.speed = try parsed.required("speed", as: .replaySpeed)
        options.period = Interval.seconds(1) / Int64(try parsed.required("fps", as: .frameRate))
        options.loops = parsed.has("loop")
        options.pauseAt = try parsed.value("pause-at", as: .integer(1...Int.max, what: "picture number")).map {
            UInt64($0)
        }
        return options
    }
}

extension ValueFormat where Value == ReplaySpeed {
    /// `2`, `0.25`, with at most three decimal places, or `max`.
    fileprivate static var replaySpeed: ValueFormat<ReplaySpeed> {
        ValueFormat { (text) throws(ValueError) in
            if text == "max" { return .unlimited }
            guard let thousandths = thousandths(text), (1...1_000_000).contains(thousandths) else {
                throw ValueError("not a speed; write it like 2 or 0.25, from 0.001 to 1000, or max")
            }
            return .thousandths(thousandths)
        }
    }
}

/// A decimal number with at most three decimal places, times 1000.
private func thousandths(_ text: String) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), text.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) }),
        parts[0].count <= 9, let whole = Int64(parts[0])
    else { return nil }
    guard parts.count == 2 else { return whole * 1000 }
    guard (1...3).contains(parts[1].count),
        let rest = Int64(parts[1] + String(repeating: "0", count: 3 - parts[1].count))
    else { return nil }
    return whole * 1000 + rest
}
