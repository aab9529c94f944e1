import MediaSessions
import Rooms

/// A client with an open WebSocket.
final class RoomMember {
    let id: MemberID
    let socket: WebSocketConnection
    let address: String
    /// The deadline for joining (g_get_monotonic_time); nil once the client has joined.
    var joinBy: Int?
    /// The room that the member is in.
    var room: String?
    /// Whether its last `__join` contained a password.
    var gavePassword = false
    /// Its media sessions, at most one for each track.
    var sessions: [TrackName: ClientSession] = [:]

    init(id: MemberID, socket: WebSocketConnection, address: String, joinBy: Int) {
        (self.id, self.socket, self.address, self.joinBy) = (id, socket, address, joinBy)
    }
}

/// A client's media session of one track.
struct ClientSession {
    let id: MediaSessionID
    /// The key that identifies this session when the media layer reports its end.
    let key: UInt64
    /// The media server that serves it.
    let side: any SessionServer
}
