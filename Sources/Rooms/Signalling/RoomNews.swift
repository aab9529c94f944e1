public import MediaTypes

/// The event that somebody has joined or left a room.
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

/// Somebody who is in a room, by whatever protocol.
public struct Visitor: Sendable, Equatable {
    public enum Kind: String, Sendable {
        /// Our page.
        case viewer
        /// A plain SkyRTC client.
        case client
        /// A player, over WHEP.
        case player
        /// One of the two in a call over socket.io.
        case caller
        /// A program that sends a track, over WHIP.
        case publisher
    }

    /// The identifier for ``SignallingServer/kick(_:completion:)``. It isn't secret: it grants no access.
    public var id: String
    /// The name that the visitor has chosen.
    public var name: String?
    /// The client's address.
    public var address: String
    public var kind: Kind

    public init(id: String, name: String?, address: String, kind: Kind) {
        self.id = id
        self.name = name
        self.address = address
        self.kind = kind
    }
}

/// The current state of a room.
public struct RoomReport: Sendable {
    public var name: String
    public var tracks: [Track]
    public var visitors: [Presence]

    /// A track of a room.
    public struct Track: Sendable {
        public var name: String
        public var state: SourceState
        /// How long the track has been in this state.
        public var age: Duration
    }

    /// A visitor in a room.
    public struct Presence: Sendable {
        public var who: Visitor
        /// How long the visitor has been in the room.
        public var age: Duration
        /// The tracks that the visitor watches.
        public var tracks: [String]
        /// Whether the visitor is in the meeting.
        public var isMeeting: Bool
    }
}
