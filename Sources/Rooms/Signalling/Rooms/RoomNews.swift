/// The event that a participant has joined or left a room, or waits to be let in.
public struct RoomNews: Sendable, Equatable {
    /// The kind of event.
    public enum Change: String, Sendable {
        case came
        case left
        /// A client waits to be let in. It joins under the same identifier, or goes without another event.
        case knocked
    }

    /// What has happened.
    public var change: Change
    /// The room's name.
    public var room: String
    /// Who has joined or left, or waits.
    public var who: Participant
}

/// The event that a viewer has written a message in its room's chat.
public struct ChatNews: Sendable, Equatable {
    /// The room's name.
    public var room: String
    /// The viewer's identifier, as in ``Participant/id``.
    public var id: String
    /// The name that the viewer has chosen.
    public var name: String
    /// The message: at most 500 characters in one or several lines, without other control characters.
    public var text: String
}

/// A participant of a room, over any protocol.
public struct Participant: Sendable, Equatable {
    /// The protocol or program that the participant uses.
    public enum Kind: String, Sendable {
        /// Our page.
        case viewer
        /// A plain SkyRTC client.
        case client
        /// A player, over WHEP.
        case player
        /// One of the two in a call over socket.io.
        case caller
        /// A program that publishes a track.
        case publisher
    }

    /// The identifier for ``SignallingServer/removeParticipant(_:completion:)``. It isn't secret: it grants no access.
    public var id: String
    /// The name that the participant has chosen.
    public var name: String?
    /// The client's address.
    public var address: String
    /// How the participant is connected.
    public var kind: Kind
}
