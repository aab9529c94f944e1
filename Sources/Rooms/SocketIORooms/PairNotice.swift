/// A notice about the room to one of its two members.
public enum PairNotice: Sendable, Equatable, CaseIterable {
    /// `joined`: the member has joined.
    case joined
    /// `otherjoin`: the other has joined.
    case otherJoined
    /// `full`: two members are already there.
    case full
    /// `bye`: the other has left.
    case bye
    /// `leaved`: the member has left.
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
