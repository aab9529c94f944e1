/// A command for a running host, over its control socket (`Protocol/control.md`) or `/api` (`Protocol/openapi.yaml`).
///
/// It is written as a JSON object: its name under `command`, and its fields. ``table`` has a row for each name.
public enum ControlCommand: Hashable, Sendable {
    /// Describe the host's state (the kit's `StatusDocument`).
    case status
    /// List the links (the kit's `LinksDocument`).
    case link
    /// List all rooms with the people in them (``RoomsDocument``), or describe one of them.
    case rooms(room: String? = nil)
    /// Show viewers nothing of the screen until `resume`.
    case pause
    /// Show the screen again.
    case resume
    /// Mute the sound for viewers until `unmute`.
    case mute
    /// Unmute the sound.
    case unmute
    /// Leave the microphone out of the sound, or include it again.
    case muteMicrophone
    case unmuteMicrophone
    /// Encode static parts of the screen with higher quality than usual.
    case sharpen
    /// Limit the frame rate and the bit rate.
    case rate(RateChange)
    /// Allow viewers to point at the pictures, or forbid it.
    case pointing(Bool)
    /// Allow viewers to write in the chat, or forbid it and forget all messages.
    case chat(Bool)
    /// Shut down in an orderly way.
    case stop
    /// Remove the member with this identifier; only from `room` if it isn't nil.
    case remove(String, room: String? = nil)
    /// Decide about the turn to present of the member with this identifier; only in `room` if it isn't nil. `seconds`
    /// is how long an allowed turn may last, 1 to 31 536 000; nil means until another decision.
    case present(TurnDecision, String, room: String? = nil, seconds: Int? = nil)
    /// Lock the room of this name, so that newcomers are refused, or unlock it; all rooms if the name is nil.
    case lock(Bool, room: String?)
    /// Decide about the client with this identifier, which waits to be let in, or about all of them if it is nil; only
    /// in `room` if that isn't nil.
    case entry(EntryDecision, String?, room: String? = nil)
    /// Do something with the pushes.
    case push(PushOrder)

    /// An operation on pushes.
    public enum PushOrder: Hashable, Sendable {
        /// List them (the kit's `PushesDocument`).
        case list
        /// Push to this URL, which may have a key, with the preset of `--preset`.
        case add(url: String, preset: String?)
        /// Stop or restart the push with this number.
        case stop(Int)
        case restart(Int)
        /// Give the push with this number the preset of `--preset`; with nil, it passes the frames on as they are.
        case reload(Int, preset: String?)
    }
}

// MARK: - The table

extension ControlCommand {
    /// A row for each command, in the order of `Allow` where several have the same path.
    package static let table: [CommandRow] = [
        CommandRow("status", get: "/status", .status),
        CommandRow("link", get: "/link", .link),
        CommandRow("rooms", "GET", ["/rooms", "/rooms/{room}"], may: [.room], .document) {
            .rooms(room: $0.text(.room))
        },
        CommandRow("pause", post: "/pause", .pause),
        CommandRow("resume", post: "/resume", .resume),
        CommandRow("mute", post: "/mute", .mute),
        CommandRow("unmute", post: "/unmute", .unmute),
        CommandRow("mute-mic", post: "/mute-mic", .muteMicrophone),
        CommandRow("unmute-mic", post: "/unmute-mic", .unmuteMicrophone),
        CommandRow("sharpen", post: "/sharpen", .sharpen),
        CommandRow("rate", "POST", ["/rate"], may: [.fps, .bitrate]) { fields in
            RateChange(framesPerSecond: fields.limit(.fps), bitsPerSecond: fields.limit(.bitrate)).map { .rate($0) }
        },
        CommandRow("pointing-on", post: "/pointing-on", .pointing(true)),
        CommandRow("pointing-off", post: "/pointing-off", .pointing(false)),
        CommandRow("chat-on", post: "/chat-on", .chat(true)),
        CommandRow("chat-off", post: "/chat-off", .chat(false)),
        CommandRow("stop", post: "/stop", .stop),
        CommandRow("remove", "DELETE", ["/rooms/{room}/members/{id}"], needs: [.id], may: [.room], .silence) { fields in
            fields.text(.id).map { .remove($0, room: fields.text(.room)) }
        },
        CommandRow(
            "present", "POST", ["/rooms/{room}/members/{id}/turn/{decision}{?seconds}"], needs: [.id, .decision],
            may: [.room, .seconds], .silence
        ) { fields in
            guard let id = fields.text(.id), let decision = fields.choice(.decision, TurnDecision.self) else {
                return nil
            }
            let seconds = fields.number(.seconds)
            guard seconds == nil || decision == .allow else { return nil }
            return .present(decision, id, room: fields.text(.room), seconds: seconds)
        },
        CommandRow("lock", "POST", ["/rooms/{room}/lock"], may: [.room], .silence) {
            .lock(true, room: $0.text(.room))
        },
        CommandRow("unlock", "POST", ["/rooms/{room}/unlock"], may: [.room], .silence) {
            .lock(false, room: $0.text(.room))
        },
        CommandRow(
            "admit", "POST", ["/rooms/{room}/waiting/admit", "/rooms/{room}/waiting/{id}/admit"], may: [.id, .room],
            .silence
        ) { .entry(.admit, $0.text(.id), room: $0.text(.room)) },
        CommandRow(
            "refuse", "POST", ["/rooms/{room}/waiting/refuse", "/rooms/{room}/waiting/{id}/refuse"], may: [.id, .room],
            .silence
        ) { .entry(.refuse, $0.text(.id), room: $0.text(.room)) },
        CommandRow("push-list", get: "/pushes", .push(.list)),
        CommandRow("push-add", "POST", ["/pushes"], needs: [.url], may: [.preset]) { fields in
            fields.text(.url).map { .push(.add(url: $0, preset: fields.text(.preset))) }
        },
        CommandRow("push-stop", "DELETE", ["/pushes/{id}"], needs: [.push]) {
            $0.number(.push).map { .push(.stop($0)) }
        },
        CommandRow("push-restart", "POST", ["/pushes/{id}/restart"], needs: [.push]) {
            $0.number(.push).map { .push(.restart($0)) }
        },
        CommandRow("push-reload", "POST", ["/pushes/{id}/reload"], needs: [.push], may: [.preset]) { fields in
            fields.number(.push).map { .push(.reload($0, preset: fields.text(.preset))) }
        },
    ]

    /// The command's name and fields, from which its row makes it again.
    private var written: (name: String, fields: [CommandField: CommandFields.Value?]) {
        switch self {
        case .rooms(let room): ("rooms", [.room: .text(room)])
        case .rate(let change):
            ("rate", [.fps: .limit(change.framesPerSecond), .bitrate: .limit(change.bitsPerSecond)])
        case .remove(let id, let room): ("remove", [.id: .text(id), .room: .text(room)])
        case .present(let decision, let id, let room, let seconds):
            (
                "present",
                [.id: .text(id), .decision: .text(decision.rawValue), .room: .text(room), .seconds: .number(seconds)]
            )
        case .lock(let isLocked, let room): (isLocked ? "lock" : "unlock", [.room: .text(room)])
        case .entry(let decision, let id, let room): (decision.rawValue, [.id: .text(id), .room: .text(room)])
        case .push(.add(let url, let preset)): ("push-add", [.url: .text(url), .preset: .text(preset)])
        case .push(.stop(let number)): ("push-stop", [.push: .number(number)])
        case .push(.restart(let number)): ("push-restart", [.push: .number(number)])
        case .push(.reload(let number, let preset)):
            ("push-reload", [.push: .number(number), .preset: .text(preset)])
        default: (Self.table.first { $0.constant == self }?.name ?? "", [:])
        }
    }

    /// The command's row.
    package var row: CommandRow? {
        let name = written.name
        return Self.table.first { $0.name == name }
    }
}

// MARK: - JSON

extension ControlCommand: Codable {
    private static let nameField = "command"

    /// Reads a command. Throws ``CommandError`` if there is no such command, or if its fields are wrong.
    public init(from decoder: any Decoder) throws {
        var fields = try decoder.singleValueContainer().decode([String: JSONValue].self)
        guard case .string(let name)? = fields.removeValue(forKey: Self.nameField),
            let row = Self.table.first(where: { $0.name == name })
        else { throw CommandError.unknown }
        guard let command = row.command(with: fields) else { throw CommandError.fields(row.usage) }
        self = command
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(object)
    }

    private var object: [String: JSONValue] {
        let (name, fields) = written
        var object: [String: JSONValue] = [Self.nameField: .string(name)]
        for (field, value) in fields { object[field.name] = value?.json }
        return object
    }

    /// Parses a line of the control socket, without its line feed. Throws ``CommandError`` if it is no command.
    package init(json: String) throws(CommandError) {
        do {
            self = try ControlCommand(jsonLine: json)
        } catch {
            throw error as? CommandError ?? .unknown
        }
    }

    /// The command as it is written on the socket, without the line feed.
    package var json: String { jsonLine }

    /// The command for a log, which must not have a push's key.
    package var jsonWithoutSecrets: String {
        var object = object
        if object[CommandField.url.name] != nil { object[CommandField.url.name] = .string("...") }
        return object.jsonLine
    }
}

/// Why a text isn't a command.
package enum CommandError: Error, Hashable, CustomStringConvertible {
    /// It isn't a JSON object with the name of a command.
    case unknown
    /// Its fields are not those of the command, which are described.
    case fields(String)

    package var description: String {
        switch self {
        case .unknown:
            "write a JSON object whose 'command' is one of "
                + ControlCommand.table.map(\.name).joined(separator: ", ")
        case .fields(let usage): usage
        }
    }
}
