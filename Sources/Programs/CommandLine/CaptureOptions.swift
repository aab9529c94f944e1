public import MediaTypes

/// The options of a capture, which `screenrelay-capture` takes and `screenrelay share` hands on to the one that it starts.
public struct CaptureOptions: Sendable, Equatable {
    /// The X display; nil: what the variable DISPLAY names.
    public var display: String?
    /// Pictures a second at most.
    public var framesPerSecond: Int
    /// Bits a second at most.
    public var bitRate: BitRate

    /// As they stand in a command's table.
    public static let options = [
        Option(
            long: "display", short: "d", value: .required("DISPLAY"),
            help: "the X display, as in :0; without it, what the variable DISPLAY names"),
        Option(
            long: "fps", short: "f", value: .required("NUMBER"), help: "pictures a second at most, 1 to 120",
            default: "30"),
        Option(
            long: "bitrate", short: "b", value: .required("RATE"),
            help: "bits a second at most, as in 4M, 600k or 2500000", default: "4M"),
    ]

    /// What the user wrote for them.
    public init(_ parsed: ParsedOptions) throws(UsageError) {
        display = try parsed.value("display", as: .text)
        framesPerSecond = try parsed.required("fps", as: .frameRate)
        bitRate = try parsed.required("bitrate", as: .bitRate)
    }

    /// The same in words of a command line.
    public var arguments: [String] {
        let rates = ["--fps", "\(framesPerSecond)", "--bitrate", "\(bitRate.bitsPerSecond)"]
        return rates + (display.map { ["--display", $0] } ?? [])
    }
}
