import CaptureAgent
import CommandLine
import LinkTransport
import MediaTypes

/// The command line of `screenrelay-capture`.
enum CaptureCommand {
    static let program = "screenrelay-capture"
    static let version = "0.1.0"

    static let command = Command(
        name: "",
        summary:
            "Takes pictures of an X display while something changes on it, encodes them to H.264 and gives them to a "
            + "screenrelay host.",
        options: [
            Option(
                long: "link", short: "l", value: .required("LINK"),
                help: "where the host is: unix:PATH, or fd:NUMBER for a socket that was handed down; "
                    + "without it, the socket where this user's host listens by itself"),
            Option(
                long: "display", short: "d", value: .required("DISPLAY"),
                help: "the X display, as in :0; without it, what the variable DISPLAY names"),
            Option(
                long: "fps", short: "f", value: .required("NUMBER"), help: "pictures a second at most, 1 to 120",
                default: "30"),
            Option(
                long: "bitrate", short: "b", value: .required("RATE"),
                help: "bits a second at most, as in 4M, 600k or 2500000; the host may ask for another", default: "4M"),
            Option(
                long: "legacy",
                help: "send NAL units alone, with headers as the original ReplayKit sender's, whatever the host says"),
            Option(
                long: "log", value: .required("LEVEL"),
                help: "how much to tell on standard error: error, warning, info or debug", default: "info"),
        ],
        examples: [
            Example("screenrelay-capture --display :0", "Shares display :0 with the host of this user."),
            Example(
                "screenrelay-capture --link unix:s.sock --fps 15 --bitrate 600k",
                "Shares it with the host that listens on s.sock, over a narrow line."),
        ])

    static func configuration(_ options: ParsedOptions) throws(UsageError) -> CaptureConfiguration {
        CaptureConfiguration(
            link: try options.value("link", as: .link) ?? .standard(),
            display: try options.value("display", as: .text),
            framesPerSecond: try options.required("fps", as: .frameRate),
            bitRate: try options.required("bitrate", as: .bitRate),
            isLegacy: options.has("legacy"))
    }
}

extension ValueFormat where Value == LinkAddress {
    /// `unix:PATH` or `fd:N`.
    static var link: ValueFormat<LinkAddress> {
        ValueFormat { (text) throws(ValueProblem) in
            do throws(LinkTransportError) {
                return try LinkAddress(parsing: text)
            } catch {
                throw ValueProblem(error.description)
            }
        }
    }
}
