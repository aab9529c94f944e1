/// Somebody has come into a room, or left it.
public struct RoomNews: Sendable, Equatable {
    public enum Change: String, Sendable {
        case came
        case left
    }

    public var change: Change
    public var room: String
    public var who: Visitor

    public init(_ change: Change, room: String, who: Visitor) {
        self.change = change
        self.room = room
        self.who = who
    }
}

/// Who takes part in a room.
public struct Visitor: Sendable, Equatable {
    public enum Kind: String, Sendable {
        /// Our page.
        case viewer
        /// A plain SkyRTC client.
        case client
        /// A player, by WHEP.
        case player
        /// One of two who call each other, by socket.io.
        case caller
        /// Who sends a track, by WHIP.
        case publisher
    }

    /// Names it to ``SignallingServer/kick(_:completion:)``. No secret: it lets nobody in.
    public var id: String
    /// What it calls itself.
    public var name: String?
    /// The address that it came from.
    public var address: String
    public var kind: Kind

    public init(id: String, name: String?, address: String, kind: Kind) {
        self.id = id
        self.name = name
        self.address = address
        self.kind = kind
    }
}

/// A room as it is now.
public struct RoomReport: Sendable {
    public var name: String
    public var tracks: [Track]
    public var visitors: [Presence]

    /// A track of a room.
    public struct Track: Sendable {
        public var name: String
        public var state: SourceState
        /// What there is to say of the state, for people; may be empty.
        public var message: String
        /// For how long it has been so.
        public var age: Duration
    }

    /// Somebody in a room.
    public struct Presence: Sendable {
        public var who: Visitor
        /// For how long it has been there.
        public var age: Duration
        /// The tracks that it watches.
        public var tracks: [String]
        /// Whether it is seen by those who meet.
        public var isMeeting: Bool
    }
}
