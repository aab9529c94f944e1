import Threading

extension Command {
    /// The table of `screenrelay-sound`.
    public static let soundProgram = Command(
        name: "",
        summary:
            "Records what programs play, a microphone or both, encodes it to Opus and sends it to a screenrelay host, "
            + "while a page or a player is connected, even if its sound is off. While no program plays, it costs "
            + "nothing; an unmuted microphone is always recorded while there are viewers.",
        options: [Option.hostLink, .captureKey] + SoundOptions.options + [
            Option(
                long: "check", help: "for 'screenrelay doctor': report whether there are default devices to share",
                isHidden: true),
            Option(
                long: "play", help: "for 'screenrelay view': play the samples that standard input has",
                isHidden: true),
            EventLog.option(default: .info),
        ] + Confinement.options,
        examples: [
            Example("screenrelay-sound", "Shares what programs play with the host of this user."),
            Example(
                "screenrelay-sound --source both --microphone-gain 6",
                "Shares what programs play and the microphone, amplified by 6 dB."),
            Example("screenrelay-sound --list", "Lists the sinks and microphones that can be shared."),
        ])
}
