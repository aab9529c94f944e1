/// The event that somebody has joined or left a room.
public struct RoomNews: Sendable, Equatable {
    /// What somebody did.
    public enum Change: String, Sendable {
        case came
        case left
    }

    /// Whether the visitor has joined or left.
    public var change: Change
    /// The room's name.
    public var room: String
    /// Who has joined or left.
    public var who: Visitor
}

/// Somebody who is in a room, by whatever protocol.
public struct Visitor: Sendable, Equatable {
    /// The protocol or program that the visitor uses.
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

    /// The identifier for ``SignallingServer/removeVisitor(_:completion:)``. It isn't secret: it grants no access.
    public var id: String
    /// The name that the visitor has chosen.
    public var name: String?
    /// The client's address.
    public var address: String
    /// How the visitor is connected.
    public var kind: Kind
}
