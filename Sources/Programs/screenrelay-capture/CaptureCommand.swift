import CaptureEngine
import CommandLine
import LinkTransport
import MediaTypes

/// The command line of `screenrelay-capture`.
enum CaptureCommand {
    static let program = "screenrelay-capture"

    static let command = Command.captureProgram

    static func configuration(_ options: ParsedOptions) throws(UsageError) -> CaptureConfiguration {
        let link = try options.link() ?? .standard()
        let token = try options.captureKey(for: link)
        if token != nil, options.has("legacy") {
            throw UsageError(
                "--legacy and --capture-key can't go together: a legacy sender can't prove that it has a key")
        }
        if link.network?.port == 0 { throw UsageError("--link \(link): only a host can use port 0") }
        let capture = try CaptureOptions(options)
        var configuration = CaptureConfiguration(
            link: link, framesPerSecond: capture.framesPerSecond, bitRate: capture.bitRate,
            isLegacy: options.has("legacy"))
        configuration.firstBitRate = capture.firstBitRate
        configuration.lowestFramesPerSecond = capture.lowestFramesPerSecond
        configuration.linkToken = token
        let recording = try RecordOptions(options)
        configuration.recording = recording.path
        configuration.recordingLimit = recording.limit
        configuration.scale = capture.scale
        configuration.keyFrames = capture.keyFrames
        configuration.chroma = capture.chroma
        configuration.qp = capture.qp
        configuration.refines = capture.refines
        configuration.logsRate = try options.required("log", as: ValueFormat<CaptureVerbosity>.choice) == .rate
        return configuration
    }
}
