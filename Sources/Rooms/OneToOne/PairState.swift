/// Where one of the two in a one-to-one room stands, by what it has been told.
///
///     left ──joined──▶ joined ──otherjoin──▶ connected ──bye──▶ unbound ──otherjoin──▶ connected
///                      joined ──bye──▶ unbound
///     each of them ──leaved──▶ left         left ──full──▶ left
///
/// In the clients' words: init and leaved, joined, joined_conn, joined_unbind. Who comes second isn't told `otherjoin` and stays
/// joined while it talks with the other, who offers.
public enum PairState: Sendable, Equatable, CaseIterable {
    /// In no room: not yet, or no more.
    case left
    case joined
    /// The other has come after it: it is its turn to offer.
    case connected
    /// The other has gone.
    case unbound

    /// Whether it is in the room.
    public var isInside: Bool { self != .left }

    /// Goes on by what it is told; false, and no step, where that can't be said to it now.
    public mutating func take(_ notice: PairNotice) -> Bool {
        switch (self, notice) {
        case (.left, .joined): self = .joined
        case (.joined, .otherJoined), (.unbound, .otherJoined): self = .connected
        case (.joined, .bye), (.connected, .bye): self = .unbound
        // Who asks to leave, or may not come in, hears that it is out, also where it never was in.
        case (_, .left): self = .left
        case (.left, .full): break
        default: return false
        }
        return true
    }
}

/// What one of the two is told of the room.
public enum PairNotice: Sendable, Equatable, CaseIterable {
    /// `joined`: it is in.
    case joined
    /// `otherjoin`: the other has come.
    case otherJoined
    /// `full`: there are two already.
    case full
    /// `bye`: the other has gone.
    case bye
    /// `leaved`: it is out.
    case left

    /// The event's name on the wire.
    public var event: String {
        switch self {
        case .joined: "joined"
        case .otherJoined: "otherjoin"
        case .full: "full"
        case .bye: "bye"
        case .left: "leaved"
        }
    }
}
