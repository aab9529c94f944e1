import CommandLine
import MediaTypes
import ScreenRelayKit
import Signalling

/// `screenrelay pause`, `resume`, `status` and all other commands for a running share or host: their help, and what
/// each asks the host.
enum ControlTable {
    /// The commands, in the order of `--help`.
    static let rows: [ControlRow] = [
        .order(
            "pause",
            "Pauses sharing: the video only says that it is paused, and the sound is off, until 'screenrelay resume'.",
            examples: [Example("screenrelay pause", "Hides the screen until 'screenrelay resume'.")]
        ) { _ in .pause },
        .order("resume", "Resumes sharing after a pause.") { _ in .resume },
        .order(
            "mute", "Mutes the sound; video continues. 'screenrelay unmute' turns it on again.",
            operands: microphone,
            examples: [
                Example("screenrelay mute mic", "Mutes only the microphone of share --sound both.")
            ], make: either("mute", .mute, .muteMicrophone)),
        .order(
            "unmute", "Turns the sound on again after a mute.", operands: microphone,
            make: either("unmute", .unmute, .unmuteMicrophone)),
        .order(
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
            ], make: rate),
        .order(
            "sharpen",
            "Re-sends the parts of the screen that are static now, once, at more than the usual quality, as fast as "
                + "the bit rate allows."
        ) { _ in .sharpen },
        .order("stop", "Stops a running share or host; viewers see that sharing has ended.") { _ in .stop },
        .question(
            "status", "Shows the state of a running share or host, and the number of viewers.",
            json: "for programs: one JSON object per line, with the capture's statistics",
            examples: [Example("screenrelay status", "Shows what is shared, and the number of viewers.")], .status
        ) { (json, host, _) throws(UsageError) in
            .line(StatusText(try host.parse(StatusDocument.self, json)).text)
        },
        .question(
            "rooms", "Lists the people in the rooms of a running share or host, and the tracks that they watch.",
            json: "for programs: one JSON object per line, as described in Protocol/openapi.yaml, with the host's "
                + "process id at the front", .rooms()
        ) { (json, host, _) throws(UsageError) in
            let expiry = try host.read(LinksDocument.self, .link).expiryText.map { "The \($0).\n" } ?? ""
            return .lines(RoomCommands.text(of: try host.parse(RoomsDocument.self, json)) + expiry)
        },
        .question(
            "link", "Prints the invite links of a running share or host again.",
            [Option(long: "qr", help: "also print the first invite link as a QR code")],
            json: "for programs: one JSON object per line, as described in Protocol/openapi.yaml",
            examples: [
                Example("screenrelay link", "Prints the invite link of the running share again."),
                Example("screenrelay link --qr", "Shows it as a QR code for a phone's camera."),
            ], .link
        ) { (json, host, options) throws(UsageError) in
            .lines(try host.parse(LinksDocument.self, json).text(withCode: options.has("qr")))
        },
        ControlRow(
            "remove", "Removes a viewer from the rooms of a running share or host. The invite link still works.",
            operands: Operands(
                name: "WHO", count: 1...1,
                help: "a name or an identifier listed by 'screenrelay rooms', or the beginning of one"),
            examples: [Example("screenrelay remove Ann", "Removes Ann from the room.")],
            formerNames: ["kick"]
        ) { RoomCommands.remove($0.operands.first ?? "") },
        ControlRow(
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
            ], read: present),
        .order(
            "pointing", "Allows viewers to point at the picture with a dot that all others see, or forbids it.",
            operands: state,
            examples: [Example("screenrelay pointing off", "Removes all dots and lines, and the viewers' buttons.")],
            make: switched("pointing") { .pointing($0) }),
        .order(
            "chat", "Allows viewers to write in the chat, or forbids it and deletes its messages.", operands: state,
            examples: [Example("screenrelay chat off", "Deletes all messages, and removes the chat from the pages.")],
            make: switched("chat") { .chat($0) }),
        .order(
            "lock", "Locks the room of a running share or host: no one else gets in, and those who are there stay.",
            operands: room,
            examples: [Example("screenrelay lock", "Lets no one else in until 'screenrelay unlock'.")]
        ) { .lock(true, room: $0.operands.first) },
        .order("unlock", "Unlocks the room after a lock.", operands: room) { .lock(false, room: $0.operands.first) },
        ControlRow(
            "admit", "Lets in people who wait, in a share or host with --waiting-room.", operands: waiting,
            examples: [
                Example("screenrelay admit Ann", "Lets Ann in."),
                Example("screenrelay admit all", "Lets everyone in who waits."),
            ]
        ) { RoomCommands.decide(.admit, $0.operands.first ?? "") },
        ControlRow(
            "refuse", "Refuses people who wait to be let in. They can ask again.", operands: waiting,
            examples: [Example("screenrelay refuse Ann", "Refuses Ann.")]
        ) { RoomCommands.decide(.refuse, $0.operands.first ?? "") },
        PushCommand.row,
    ]

    private static let state = Operands(name: "STATE", count: 1...1, help: "'on' or 'off'", choices: ["on", "off"])

    private static let room = Operands(
        name: "ROOM", count: 0...1, help: "the room's name; without it, all rooms of the share or host")

    private static let waiting = Operands(
        name: "WHO", count: 1...1,
        help: "the whole name, or the identifier, that 'screenrelay rooms' lists; or 'all'")

    private static let microphone = Operands(
        name: "mic", count: 0...1, help: "only the microphone, not the desktop's sound")

    private typealias Make = @Sendable (ParsedOptions) throws(UsageError) -> ControlCommand

    /// The command for all sound or, with the operand 'mic', for the microphone.
    private static func either(_ name: String, _ all: ControlCommand, _ onlyMicrophone: ControlCommand) -> Make {
        { (options) throws(UsageError) in
            switch options.operands.first {
            case nil: return all
            case "mic": return onlyMicrophone
            case let other?: throw UsageError("\(name) \(other): only 'mic' can follow \(name)")
            }
        }
    }

    /// The command for 'on' or 'off'.
    private static func switched(_ name: String, _ make: @escaping @Sendable (Bool) -> ControlCommand) -> Make {
        { (options) throws(UsageError) in
            guard let word = options.operands.first, ["on", "off"].contains(word) else {
                throw UsageError("\(name): write 'on' or 'off'")
            }
            return make(word == "on")
        }
    }

    @Sendable
    private static func rate(_ options: ParsedOptions) throws(UsageError) -> ControlCommand {
        let frames = try options.value("fps") == "max" ? nil : options.value("fps", as: .frameRate)
        let bits = try options.value("bitrate") == "max" ? nil : options.value("bitrate", as: .bitRate)?.bitsPerSecond
        func limit(_ option: String, _ number: Int?) -> ControlCommand.RateChange.Limit? {
            options.value(option) == "max" ? .unlimited : number.map { .atMost($0) }
        }
        // The options have checked the ranges.
        let change = ControlCommand.RateChange(
            framesPerSecond: limit("fps", frames), bitsPerSecond: limit("bitrate", bits))
        guard let change else { throw UsageError("rate: give a limit with --fps or --bitrate") }
        return .rate(change)
    }

    @Sendable
    private static func present(_ options: ParsedOptions) throws(UsageError) -> ControlRow.Request {
        guard options.operands.count == 2, let decision = TurnDecision(rawValue: options.operands[0]) else {
            throw UsageError("present: write 'allow WHO', 'decline WHO' or 'end WHO'")
        }
        let limit = try options.value("for", as: .lifetime)
        guard limit == nil || decision == .allow else {
            throw UsageError("--for: only 'present allow WHO' uses it")
        }
        let seconds = limit.map { Int($0.components.seconds) }
        return RoomCommands.decide(decision, about: options.operands[1], seconds: seconds)
    }
}
