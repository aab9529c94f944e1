/// The state of one of the two members of a one-to-one room, as it follows from the notices that the member was sent.
///
///     left ──joined──▶ joined ──otherjoin──▶ connected ──bye──▶ unbound ──otherjoin──▶ connected
///                      joined ──bye──▶ unbound
///     any state ──leaved──▶ left            left ──full──▶ left
///
/// The clients call these states init or leaved, joined, joined_conn and joined_unbind. The member that joins second
/// isn't sent `otherjoin`: it stays joined while it talks with the first, who offers.
public enum PairState: Sendable, Equatable, CaseIterable {
    /// Not in a room: not yet, or not any longer.
    case left
    case joined
    /// The other has joined after it, so this member offers.
    case connected
    /// The other has left.
    case unbound

    /// Whether the member is in the room.
    public var isInside: Bool { self != .left }

    /// Moves to the state that follows from a notice. Returns false, without a change, if the notice doesn't fit the
    /// state.
    public mutating func take(_ notice: PairNotice) -> Bool {
        switch (self, notice) {
        case (.left, .joined): self = .joined
        case (.joined, .otherJoined), (.unbound, .otherJoined): self = .connected
        case (.joined, .bye), (.connected, .bye): self = .unbound
        // A member that asks to leave is told that it has left, even if it never was in the room.
        case (_, .left): self = .left
        case (.left, .full): break
        default: return false
        }
        return true
    }
}
