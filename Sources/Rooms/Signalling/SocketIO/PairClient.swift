import MediaTypes
import Rooms
import SocketIORooms

/// A socket.io client, for the lifetime of its session.
final class PairClient {
    let member: MemberID
    let session: EngineSession
    var address: String { session.address }
    /// The deadline for joining; nil once the client has joined.
    var joinBy: MonotonicTime?
    /// Whether the client is in the namespace, which version 4 must ask for.
    var isConnected = false
    /// The room that the client is in.
    var room: String?
    /// The room of two clients that the client is in, instead.
    var call: String?
    /// The room's name as the client gave it, including the token. It is sent back as is, because the client may
    /// compare it.
    var roomAsNamed = ""
    /// The client's media session, while it has one, and the track it is for.
    var media: (session: ClientSession, address: TrackAddress)?

    init(member: MemberID, session: EngineSession, joinBy: MonotonicTime) {
        self.member = member
        self.session = session
        self.joinBy = joinBy
    }
}
