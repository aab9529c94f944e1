import Clocks
import MediaSessions
import MediaTypes
import Rooms

/// A client with an open WebSocket, or a viewer whose WebSocket has just broken off.
final class RoomMember {
    let id: MemberID
    private(set) var socket: WebSocketConnection
    private(set) var address: String
    /// The secret with which the client may go on by another WebSocket.
    let resumption = newIdentifier()
    /// When the member is taken to have left, because its WebSocket broke off and no other came; nil while its
    /// WebSocket is open.
    var leaveBy: MonotonicTime?
    /// The deadline for joining; nil once the client has joined.
    var joinBy: MonotonicTime?
    /// The room that the member is in.
    var room: String?
    /// The room that the sharer has sent it away from. Its client doesn't know if its WebSocket had broken off.
    var wasRemovedFrom: String?
    /// Whether it may present, or has asked for that; nil for other members, and once its turn has been ended.
    var turn: Turn? {
        didSet {
            guard turn != oldValue else { return }
            turnSince = .now()
            turnEnd = nil
        }
    }
    /// When `turn` last changed.
    private(set) var turnSince = MonotonicTime.now()
    /// When a granted turn ends; nil if only a decision ends it.
    var turnEnd: MonotonicTime?
    /// From when it may ask for the turn: its last request may have been declined a moment ago.
    var mayAskFrom = MonotonicTime.zero
    /// How many messages about pointing it may still send, and how many surplus ones.
    var points = Pointing.perSecond
    var surplusPoints = Pointing.surplusPerSecond
    /// How many chat messages it may still write, and how often it may still ask for earlier ones.
    var chatMessages = Chat.messagesPerMember
    var chatRequests = Chat.requestsPerMember
    /// The number of the last message of its room's chat that it was sent, or that it needn't be sent.
    var chatHeard = 0
    /// Whether its last `__join` contained a password.
    var gavePassword = false
    /// Its media sessions, at most one for each track.
    var sessions: [TrackName: ClientSession] = [:]
    /// The pictures that it gets on its WebSocket, in one of those sessions.
    var frames: FrameStream?

    init(id: MemberID, socket: WebSocketConnection, address: String, joinBy: MonotonicTime) {
        self.id = id
        self.socket = socket
        self.address = address
        self.joinBy = joinBy
    }

    /// Whether it may publish tracks from our page.
    var mayPresent: Bool { turn == .granted || turn == .owner }

    /// Its `__join` has the presenters' token, on a host that accepts publishers, or hasn't.
    func join(asOwner isOwner: Bool) {
        if isOwner { turn = .owner } else if turn == .owner { turn = nil }
    }

    /// Continues over the WebSocket of `other`, whose callbacks the caller sets. Ends the former WebSocket without a
    /// call.
    func resume(by other: RoomMember) {
        socket.onMessage = { _ in }
        socket.onEnd = {}
        socket.abort()
        (socket, address, leaveBy) = (other.socket, other.address, nil)
        join(asOwner: other.turn == .owner)
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
