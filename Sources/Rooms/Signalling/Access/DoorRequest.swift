import Rooms

/// A decision about a client that waits to be let into a room.
public enum EntryDecision: String, Sendable, CaseIterable {
    /// Lets it in.
    case admit
    /// Refuses it. It may ask again.
    case refuse
}

/// An owner's message about the door of its room: `__door`.
enum DoorRequest {
    /// It locks the room, or unlocks it.
    case lock(Bool)
    /// It decides about a client that waits, or about all of them if that is nil.
    case decide(EntryDecision, MemberID?)

    /// Creates the request that `action` names, about the client `target`, or `all`. Nil for another word.
    init?(action: String, target: String?) {
        switch action {
        case "lock": self = .lock(true)
        case "unlock": self = .lock(false)
        default:
            guard let decision = EntryDecision(rawValue: action), let target else { return nil }
            // Identifiers are UUIDs.
            self = .decide(decision, target == "all" ? nil : MemberID(target))
        }
    }
}
