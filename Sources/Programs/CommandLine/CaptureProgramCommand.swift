extension Command {
    /// The table of `screenrelay-capture`. `screenrelay capture` uses it too, and passes on the options of a settings
    /// file.
    public static let captureProgram = Command(
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
                help: "send NAL units alone, with headers as the original ReplayKit sender's, whatever the host says")
        ] + RecordOptions.options + [
            CaptureVerbosity.option(default: .info),
            Option(
                long: "supervised",
                help:
                    "end with the process that started this one, and gain no privileges, as 'screenrelay share' has it"
            ),
            Option(
                long: "user", value: .required("NAME"),
                help: "become this user first, in no group but its own; for root"),
        ],
        examples: [
            Example("screenrelay-capture --display :0", "Shares display :0 with the host of this user."),
            Example(
                "screenrelay-capture --link unix:s.sock --fps 15 --bitrate 600k",
                "Shares it with the host that listens on s.sock, over a narrow line."),
            Example(
                "screenrelay-capture --record screen.srr", "Records display $DISPLAY, with or without a host."),
            Example("screenrelay-capture --list", "Shows which monitors and windows can be shared alone."),
        ],
        alternatives: CaptureOptions.alternatives)
}
