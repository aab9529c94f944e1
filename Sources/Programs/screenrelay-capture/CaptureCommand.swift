import CaptureAgent
import CommandLine
import LinkTransport
import MediaTypes

/// The command line of `screenrelay-capture`.
enum CaptureCommand {
    static let program = "screenrelay-capture"

    static let command = Command(
        name: "",
        summary:
            "Takes pictures of an X display while something changes on it, encodes them to H.264 and gives them to a "
            + "screenrelay host.",
        options: [
            Option(
                long: "link", short: "l", value: .required("LINK"),
                help: "where the host is: unix:PATH, tcp:HOST:PORT, or fd:NUMBER for a socket that was handed down; "
                    + "without it, the socket where this user's host listens by itself"),
            .linkToken,
        ] + CaptureOptions.options + [
            Option(
                long: "legacy",
                help: "send NAL units alone, with headers as the original ReplayKit sender's, whatever the host says"),
            .record,
            CaptureVerbosity.option(default: .info),
        ] + Confinement.options,
        examples: [
            Example("screenrelay-capture --display :0", "Shares display :0 with the host of this user."),
            Example(
                "screenrelay-capture --link unix:s.sock --fps 15 --bitrate 600k",
                "Shares it with the host that listens on s.sock, over a narrow line."),
            Example(
                "screenrelay-capture --record screen.srr", "Records display $DISPLAY, with or without a host."),
            Example("screenrelay-capture --list", "Shows which monitors and windows can be shared alone."),
        ])

    static func configuration(_ options: ParsedOptions) throws(UsageError) -> CaptureConfiguration {
        let link = try options.link() ?? .standard()
        let token = try options.linkToken(for: link)
        if token != nil, options.has("legacy") {
            throw UsageError("--legacy and --link-token can't go together: a legacy sender has no way to show a token")
        }
        if case .tcp(_, port: 0) = link { throw UsageError("--link \(link): port 0 is for hosts alone") }
        let capture = try CaptureOptions(options)
        var configuration = CaptureConfiguration(
            link: link, display: capture.display, framesPerSecond: capture.framesPerSecond, bitRate: capture.bitRate,
            isLegacy: options.has("legacy"))
        configuration.linkToken = token
        configuration.recording = try options.value("record", as: .text)
        configuration.target = capture.target
        configuration.hidden = capture.hidden
        configuration.scale = capture.scale
        configuration.chroma = capture.chroma
        configuration.pausesWhenLocked = capture.pausesWhenLocked
        configuration.quantizer = capture.quantizer
        configuration.refines = capture.refines
        configuration.logsRate = try options.required("log", as: ValueFormat<CaptureVerbosity>.choice) == .rate
        return configuration
    }
}
