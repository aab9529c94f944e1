import Clocks
import MediaTypes
import Rooms

/// Carries out the commands about rooms and their members, for `/api` and for the control socket.
///
/// It belongs to the site's thread.
struct RoomCommands {
    let presence: RoomPresence
    let presenters: Presenters
    let doors: Doors

    /// Carries out a command. Nil if it isn't about rooms.
    func answer(_ command: ControlCommand) -> ControlAnswer? {
        switch command {
        case .rooms(let name): return presence.report().answer(about: name)
        case .remove(let id, let room):
            return presence.removeParticipant(id, from: room)
                ? .done("removed") : .refused("no one there is called '\(id)'", .missing)
        case .present(let decision, let id, let room, let seconds):
            let end = seconds.map { MonotonicTime.now() + Interval.seconds(Int64($0)) }
            let wanted = decision == .end ? "may present" : "has asked to present"
            return presenters.decide(decision, of: MemberID(id), in: room, until: end)
                ? .done("done") : .refused("no one called '\(id)' \(wanted)")
        case .lock(let isLocked, let room):
            return doors.lock(isLocked, room: room)
                ? .done(isLocked ? "locked" : "unlocked") : .refused("no room is called '\(room ?? "")'", .missing)
        case .entry(let decision, let id, let room):
            let count = doors.decide(decision, about: id.map { MemberID($0) }, in: room)
            guard count > 0 else {
                return id.map { .refused("no one called '\($0)' waits to be let in") }
                    ?? .refused("no one waits to be let in", .nothing)
            }
            let people = count == 1 ? "1 person was" : "\(count) people were"
            return .done("\(people) \(decision == .admit ? "let in" : "refused")")
        default: return nil
        }
    }
}

extension RoomsDocument {
    /// The answer to ``ControlCommand/rooms(room:)``.
    package func answer(about name: String?) -> ControlAnswer {
        guard let name else { return .document(json) }
        return rooms.first { $0.name == name }.map { .document($0.jsonLine) }
            ?? .refused("no room is called '\(name)'", .missing)
    }
}
