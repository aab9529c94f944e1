import Threading

extension Command {
    /// The table of `screenrelay-capture`. `screenrelay capture` uses it too, and passes on the options of a settings
    /// file.
    public static let captureProgram = Command(
        name: "",
        summary:
            "Captures a screen while it changes, encodes it to H.264 and sends it to a screenrelay host.",
        options: [Option.hostLink, .captureKey] + CaptureOptions.options + [
            Option(
                long: "legacy",
                help: "send only NAL units, with the headers of the original ReplayKit sender, regardless of what the "
                    + "host requests"
            ).under(.captureLink),
            Option(
                long: "check",
                help: "for 'screenrelay doctor': report the size of the source and the extensions that the display "
                    + "lacks",
                isHidden: true),
            Option(
                long: "pick-only",
                help: "for 'screenrelay share': let the user choose as with --pick, print the choice and exit",
                isHidden: true),
            Option(
                long: "choice", value: .required("NAME"),
                help: "keep the choice in a Wayland desktop's dialog under this name; 'screenrelay share' sets this",
                isHidden: true),
            Option(
                long: "again",
                help: "print nothing if the source is still missing; 'screenrelay share' sets this",
                isHidden: true),
        ] + RecordOptions.options + [
            CaptureVerbosity.option(default: .info)
        ] + Confinement.options,
        examples: [
            Example("screenrelay-capture --display :0", "Shares display :0 with the host of this user."),
            Example(
                "screenrelay-capture --link unix:s.sock --fps 15 --bitrate 600k",
                "Shares it with the host that listens on s.sock, over a slow connection."),
            Example(
                "screenrelay-capture --record screen.srr", "Records display $DISPLAY, with or without a host."),
            Example("screenrelay-capture --list", "Lists the monitors and windows that can be shared."),
        ],
        alternatives: CaptureOptions.alternatives)
}
