import CommandLine
import ScreenRelayKit
import Signalling

/// `screenrelay rooms`, `remove`, `present`, `admit` and `refuse`: shows the participants in a running host's rooms,
/// removes one, and decides about a turn to present, and about a client that waits to be let in.
enum RoomCommands {
    /// Formats a host's rooms for people, with the link of each room.
    static func text(of document: RoomsDocument) -> String { document.rooms.map(lines).joined() }

    /// Removes the member that `who` names.
    static func remove(_ who: String) -> ControlRow.Request {
        ControlRow.Request { (host) throws(UsageError) in
            let found = try host.read(RoomsDocument.self, .rooms()).members(called: who)
            let (room, member) = try only(found, who, lack: "no one in the rooms has that name")
            _ = try host.ask(.remove(member.id))
            return .line("\(member.text) was removed from the room \(room)")
        }
    }

    /// Decides about the turn of the member that `who` names.
    static func decide(_ decision: TurnDecision, about who: String, seconds: Int?) -> ControlRow.Request {
        ControlRow.Request { (host) throws(UsageError) in
            let turns = decision == .end ? ["granted", "owner"] : ["asked"]
            let called = try host.read(RoomsDocument.self, .rooms()).members(called: who)
            // The turn is looked at last, so that Anna, who has asked, isn't taken for Ann, who hasn't.
            let found = called.filter { turns.contains($0.member.turn ?? "") }
            let lack = "no one of that name " + (decision == .end ? "may present" : "has asked to present")
            let (_, member) = try only(found, who, lack: lack)
            _ = try host.ask(.present(decision, member.id, seconds: seconds))
            let result =
                switch decision {
                case .allow: "may present"
                case .decline: "may not present"
                case .end: "no longer presents"
                }
            return .line("\(member.text) \(result)")
        }
    }

    /// Decides about the client that `who` names, and that waits to be let in, or about all clients.
    static func decide(_ decision: EntryDecision, _ who: String) -> ControlRow.Request {
        if who == "all" { return ControlRow.request(.entry(decision, nil)) }
        return ControlRow.Request { (host) throws(UsageError) in
            let found = try host.read(RoomsDocument.self, .rooms()).waiting(called: who)
            guard let (_, waiting) = found.first else {
                throw UsageError(
                    "'\(who)': no one of that name waits to be let in; 'screenrelay rooms' lists those who do",
                    exitCode: .unavailable)
            }
            guard found.count == 1 else {
                let listed = found.map { "\($0.client.id) is \($0.client.text)" }
                throw several(who, listed, "write one identifier")
            }
            _ = try host.ask(.entry(decision, waiting.id))
            return .line("\(waiting.text) was \(decision == .admit ? "let in" : "refused")")
        }
    }

    private typealias Found = (room: String, member: RoomsDocument.Member)

    /// The only one that was found. Throws ``UsageError`` if `who` names none, which `lack` says, or several.
    private static func only(_ found: [Found], _ who: String, lack: String) throws(UsageError) -> Found {
        guard let first = found.first else {
            throw UsageError("'\(who)': \(lack); 'screenrelay rooms' lists the people", exitCode: .unavailable)
        }
        guard found.count == 1 else {
            let listed = found.map { "\($0.member.id) is \($0.member.text)" }
            throw several(who, listed, "write the beginning of one identifier")
        }
        return first
    }

    /// The most candidates that are listed.
    private static let listLimit = 8

    private static func several(_ who: String, _ listed: [String], _ advice: String) -> UsageError {
        let more = listed.count > listLimit ? ", and \(listed.count - listLimit) more" : ""
        return UsageError(
            "'\(who)' matches \(listed.count) people; \(advice): "
                + "\(listed.prefix(listLimit).joined(separator: ", "))\(more)")
    }

    private static func lines(of room: RoomsDocument.Room) -> String {
        let tracks = room.tracks.map { "\($0.name) \($0.state)" }
        let shown = tracks.isEmpty ? "nothing is shown" : tracks.joined(separator: ", ")
        let place = room.links?.first.map { "  \($0)\n" } ?? ""
        let door = (room.locked == true ? "; locked" : "") + "\n" + place
        let waiting = waitingTable(of: room.waiting ?? [])
        guard !room.members.isEmpty else { return "\(room.name): \(shown); no viewers" + door + waiting }
        var table = TextTable()
        table.add(["ID", "WHAT", "NAME", "FROM", "SINCE", "TRACKS", "PICTURES"])
        for member in room.members {
            let tracks =
                (member.tracks.isEmpty ? "-" : member.tracks.joined(separator: ","))
                + (member.meeting ? " (meeting)" : "")
            table.add([
                member.id, member.kind + (member.turn.map { " (\($0))" } ?? ""), member.shownName, member.address,
                age(member.seconds), tracks, pictures(member.paths ?? []),
            ])
        }
        return "\(room.name): \(shown); \(room.members.count) there" + door + table.text + waiting
    }

    /// The clients that wait to be let in; empty if there are none.
    private static func waitingTable(of waiting: [RoomsDocument.Waiting]) -> String {
        guard !waiting.isEmpty else { return "" }
        var table = TextTable()
        table.add(["WAITING", "NAME", "FROM", "SINCE"])
        for client in waiting {
            table.add([
                client.id, client.name ?? "-", client.address, age(client.seconds),
            ])
        }
        return table.text
    }

    /// Whether all of the pictures are sent along these paths, and what the slowest of the others carries.
    private static func pictures(_ paths: [RoomsDocument.Path]) -> String {
        guard !paths.isEmpty else { return "-" }
        let narrow = paths.filter { $0.rung == "narrow" }
        guard !narrow.isEmpty else { return "all" }
        let rate = narrow.compactMap(\.estimateBitsPerSecond).min()
        return "fewer" + (rate.map { ": the path carries \(rateText(Double($0)))/s" } ?? "")
    }

    /// `0:07`, `12:07`, `1:02:07`
    private static func age(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e9 else { return "?" }
        let whole = Int(seconds)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(whole % 60))" : "\(minutes):\(two(whole % 60))"
    }
}

extension RoomsDocument.Member {
    /// The name or, for a viewer of the page without one, what the page calls it.
    fileprivate var shownName: String { name ?? (kind == "viewer" ? "Guest \(id.prefix(4))" : "-") }

    /// A description such as "viewer Ann (192.168.1.7)", with control characters made visible.
    var text: String { participantText(kind: kind, name: name, address: address) }
}

extension RoomsDocument.Waiting {
    /// A description such as "Ann (192.168.1.7)", with control characters made visible.
    var text: String { "\(shownName(name ?? "Guest \(id.prefix(4))")) (\(address))" }
}

/// A description of a participant in a room.
func participantText(kind: String, name: String?, address: String) -> String {
    "\(kind) \(name.map { "\(shownName($0)) " } ?? "")(\(address))"
}

/// A user-chosen name, made safe for a terminal.
func shownName(_ name: String) -> String {
    String(
        String.UnicodeScalarView(
            name.unicodeScalars.map { scalar in
                scalar.properties.generalCategory.isControl ? "\u{FFFD}" : scalar
            }))
}

extension Unicode.GeneralCategory {
    /// Whether such characters move the cursor, change the direction of writing or are invisible.
    fileprivate var isControl: Bool {
        switch self {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
