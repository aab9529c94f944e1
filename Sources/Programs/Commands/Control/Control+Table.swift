import CommandLine
import Signalling

extension Control {
    static let commands = [
        command(
            "pause",
            "Pauses sharing: the video only says that it is paused, and the sound is off, until 'screenrelay resume'.",
            examples: [Example("screenrelay pause", "Hides the screen until 'screenrelay resume'.")]),
        command("resume", "Resumes sharing after a pause."),
        command(
            "mute", "Mutes the sound; video continues. 'screenrelay unmute' turns it on again.",
            operands: microphone,
            examples: [
                Example("screenrelay mute mic", "Mutes only the microphone of share --sound both.")
            ]),
        command("unmute", "Turns the sound on again after a mute.", operands: microphone),
        command(
            "rate", "Sets the maximum frame rate and bit rate of a running share or host.",
            [
                Option(
                    long: "fps", short: "f", value: .required("NUMBER"),
                    help: "maximum frame rate, 1 to 120 fps; max removes this limit; capture's own limit at its start "
                        + "still applies"),
                Option(
                    long: "bitrate", short: "b", value: .required("RATE"),
                    help:
                        "maximum bit rate, 10k to 1G bits per second, for example 4M, 600k or 2500000; max removes "
                        + "this limit; capture's own limit at its start still applies"
                ),
            ],
            examples: [
                Example("screenrelay rate --fps 10 --bitrate 600k", "Leaves room on the network for other programs."),
                Example("screenrelay rate --fps max --bitrate max", "Removes these limits."),
            ]),
        command(
            "sharpen",
            "Re-sends the parts of the screen that are static now, once, at more than the usual quality, as fast as "
                + "the bit rate allows."),
        command("stop", "Stops a running share or host; viewers see that sharing has ended."),
        command(
            "status", "Shows the state of a running share or host, and the number of viewers.",
            [Option(long: "json", help: "for programs: one JSON object per line, with the capture's statistics")],
            examples: [Example("screenrelay status", "Shows what is shared, and the number of viewers.")]),
        command(
            "rooms", "Lists the people in the rooms of a running share or host, and the tracks that they watch.",
            [
                Option(
                    long: "json",
                    help:
                        "for programs: one JSON object per line, as described in Protocol/openapi.yaml, with the "
                        + "host's process id at the front"
                )
            ]),
        command(
            "link", "Prints the invite links of a running share or host again.",
            [
                Option(long: "qr", help: "also print the first invite link as a QR code"),
                Option(
                    long: "json",
                    help: "for programs: one JSON object per line, as described in Protocol/openapi.yaml"),
            ],
            examples: [
                Example("screenrelay link", "Prints the invite link of the running share again."),
                Example("screenrelay link --qr", "Shows it as a QR code for a phone's camera."),
            ]),
        command(
            "remove", "Removes a viewer from the rooms of a running share or host. The invite link still works.",
            operands: Operands(
                name: "WHO", count: 1...1,
                help: "a name or an identifier listed by 'screenrelay rooms', or the beginning of one"),
            examples: [Example("screenrelay remove Ann", "Removes Ann from the room.")],
            formerNames: ["kick"]),
        command(
            "present",
            "Allows or declines a viewer's request to present from the page, or ends a turn to present and what is "
                + "presented.",
            [
                Option(
                    long: "for", value: .required("TIME"),
                    help: "with allow: end the turn after this time, for example 90s, 10m or 2h (default: no limit)")
            ],
            operands: Operands(
                name: "ACTION", count: 1...2,
                help: "'allow WHO', 'decline WHO' or 'end WHO', with a name or an identifier listed by 'screenrelay "
                    + "rooms', or the beginning of one",
                choices: TurnDecision.allCases.map(\.rawValue)),
            examples: [
                Example("screenrelay present allow Ann", "Lets Ann, who has asked, share a screen or a camera."),
                Example("screenrelay present allow Ann --for 10m", "Ends her turn after ten minutes."),
                Example("screenrelay present end Ann", "Ends what Ann presents, and her turn."),
            ]),
        command(
            "pointing", "Allows viewers to point at the picture with a dot that all others see, or forbids it.",
            operands: state,
            examples: [Example("screenrelay pointing off", "Removes all dots and lines, and the viewers' buttons.")]),
        command(
            "chat", "Allows viewers to write in the chat, or forbids it and deletes its messages.", operands: state,
            examples: [Example("screenrelay chat off", "Deletes all messages, and removes the chat from the pages.")]),
        command(
            "lock", "Locks the room of a running share or host: no one else gets in, and those who are there stay.",
            operands: room,
            examples: [Example("screenrelay lock", "Lets no one else in until 'screenrelay unlock'.")]),
        command("unlock", "Unlocks the room after a lock.", operands: room),
        command(
            "admit", "Lets in people who wait, in a share or host with --waiting-room.", operands: waiting,
            examples: [
                Example("screenrelay admit Ann", "Lets Ann in."),
                Example("screenrelay admit all", "Lets everyone in who waits."),
            ]),
        command(
            "refuse", "Refuses people who wait to be let in. They can ask again.", operands: waiting,
            examples: [Example("screenrelay refuse Ann", "Refuses Ann.")]),
        PushCommand.command,
    ]

    private static let state = Operands(name: "STATE", count: 1...1, help: "'on' or 'off'", choices: ["on", "off"])

    private static let room = Operands(
        name: "ROOM", count: 0...1, help: "the room's name; without it, all rooms of the share or host")

    private static let waiting = Operands(
        name: "WHO", count: 1...1,
        help: "the whole name, or the identifier, that 'screenrelay rooms' lists; or 'all'")

    private static let microphone = Operands(
        name: "mic", count: 0...1, help: "only the microphone, not the desktop's sound")

    static func command(
        _ name: String, _ summary: String, _ options: [Option] = [], operands: Operands = .none,
        examples: [Example] = [], formerNames: [String] = []
    ) -> Command {
        let every = ["status", "rooms", "link"].contains(name) ? "; without it, all" : "; needed if several run"
        let process = Option(
            long: "pid", short: "p", value: .required("PID"),
            help: "the process id of the share or host\(every)")
        return Command(
            name: name, summary: summary, options: options + [process], operands: operands, examples: examples,
            formerNames: formerNames)
    }
}
