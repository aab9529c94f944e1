import RoomConnections

/// What happens in a room.
public enum RoomEvent: Sendable {
    /// The client is in the room: for the first time, or again after ``reconnecting(_:)``.
    case joined
    /// The room has this track from now on. Follows ``joined`` for each track that is there already.
    case trackAppeared(RoomTrack)
    /// The track is gone, and its readers have ended. A new track may have the same name.
    case trackEnded(RoomTrack)
    /// How many people are in the room, and at most 50 of them. Each reader of media counts as one, this client's
    /// included. Not at a WHEP endpoint.
    case membersChanged(count: Int, [RoomMember])
    /// The room is lost, or wasn't reached, for this reason. The client tries again after 0.5 to 8 s. Its readers wait.
    case reconnecting(String)
    /// The client has left the room, or can't be in it; the last event.
    case ended(RoomEnd)
}

/// A person in a room.
public struct RoomMember: Hashable, Sendable {
    /// Identifies the visit to the room.
    public let id: String
    /// The name that it gives itself, which nobody has verified; nil if it has none.
    public let name: String?
}

/// Why a client is no longer in its room, or a publication is over.
public enum RoomEnd: Hashable, Sendable, CustomStringConvertible {
    /// By this client.
    case left
    /// By the host, for this reason: the token or the password is wrong, the link has expired, the client was removed,
    /// or the room has a waiting room, and the link lacks the presenters' token.
    case refused(String)
    /// By the system, for this reason.
    case failed(String)

    public var description: String {
        switch self {
        case .left: "the room was left"
        case .refused(let reason), .failed(let reason): reason
        }
    }

    init(_ end: ConnectionEnd) {
        self = end.cause == .refused ? .refused(end.description) : .failed(end.description)
    }
}

/// A room's events. For one reader; when its task is cancelled, the client leaves the room.
///
/// At most 1024 events wait for the reader. Of members, only the newest event waits.
public struct RoomEvents: AsyncSequence, Sendable {
    let room: RoomClient

    public func makeAsyncIterator() -> Iterator { Iterator(room: room) }

    /// Reads the events one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private let room: RoomClient
        private var news: EventQueue<RoomNews>.Reader

        init(room: RoomClient) {
            self.room = room
            news = EventQueue<RoomNews>.Reader(room.engine.news)
        }

        /// The next event; nil after the last one, or once the task is cancelled.
        public mutating func next() async -> RoomEvent? {
            switch await news.next() {
            case .joined: return .joined
            case .trackAppeared(let name): return .trackAppeared(RoomTrack(name: name, room: room))
            case .trackEnded(let name): return .trackEnded(RoomTrack(name: name, room: room))
            case .membersChanged(let count, let members): return .membersChanged(count: count, members)
            case .reconnecting(let reason): return .reconnecting(reason)
            case .ended(let end): return .ended(end)
            case nil:
                room.engine.leave()
                return nil
            }
        }
    }
}
