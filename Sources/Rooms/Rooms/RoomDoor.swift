/// The door of a room: whether newcomers enter, and who waits to be let in.
///
/// A pure core, which knows neither tokens nor connections: the caller asks it only about newcomers that the room's
/// owner and its former members aren't among.
public struct RoomDoor: Sendable {
    /// The largest number of clients that wait at one door.
    public static let waitingLimit = 50
    /// The largest number of them that have the same `origin`, so that one address can't fill the list.
    public static let waitingLimitPerOrigin = 25

    /// A client that waits to be let in.
    public struct Knock: Sendable, Equatable {
        /// The client's identifier, which it keeps as a member.
        public let member: MemberID
        /// The name that the client has chosen, as members' names are shown; nil without one.
        public let name: String?
        /// A text that clients of one address share; nil if such clients aren't counted.
        public let origin: String?

        /// A client that waits. `name` is as the client sent it.
        public init(_ member: MemberID, name: String?, origin: String?) {
            self.member = member
            self.name = name.flatMap(MemberName.clean)
            self.origin = origin
        }
    }

    /// What becomes of a newcomer.
    public enum Answer: Sendable, Equatable {
        case enters
        /// It waits until it is let in, refused, or gone.
        case waits
        case isRefused(RoomRefusal)
    }

    /// Whether newcomers wait until they are let in.
    public let hasWaitingRoom: Bool
    /// Whether no newcomer enters, or begins to wait. Clients that wait already may still be let in.
    public var isLocked = false
    /// The clients that wait, in order of arrival.
    public private(set) var waiting: [Knock] = []

    public init(hasWaitingRoom: Bool = false) {
        self.hasWaitingRoom = hasWaitingRoom
    }

    /// Why newcomers don't enter at once; nil if they do.
    public var closure: DoorClosure? { isLocked ? .locked : hasWaitingRoom ? .waitingRoom : nil }

    /// Decides about a newcomer. If it waits already, it waits at the end of the list, under its new name.
    public mutating func knock(_ knock: Knock) -> Answer {
        _ = remove(knock.member)
        switch closure {
        case nil: return .enters
        case .locked?: return .isRefused(.locked)
        case .waitingRoom?:
            let hasRoom = waiting.count < Self.waitingLimit
            let fromThere = knock.origin.map { origin in waiting.count { $0.origin == origin } } ?? 0
            guard hasRoom, fromThere < Self.waitingLimitPerOrigin else { return .isRefused(.full) }
            waiting.append(knock)
            return .waits
        }
    }

    /// Removes a client from those that wait. Returns false if it isn't among them.
    public mutating func remove(_ member: MemberID) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.member == member }) else { return false }
        waiting.remove(at: index)
        return true
    }
}

/// Why newcomers don't enter a room at once, although their token is right.
public enum DoorClosure: Sendable, Equatable {
    /// The room is locked.
    case locked
    /// Newcomers wait until they are let in.
    case waitingRoom
}
