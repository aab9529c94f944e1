import MediaTypes
import SocketIORooms

/// Our side of what is said with a server that has let us connect. A pure value: texts and events in, wishes out.
protocol Conversation: Sendable {
    /// The connection is open.
    mutating func begin(at now: MonotonicTime) -> [Wish]
    /// The server has sent this, which nobody has checked.
    mutating func take(_ text: String, at now: MonotonicTime) -> [Wish]
    /// Does what is due; called several times a second.
    mutating func poll(at now: MonotonicTime) -> [Wish]
    /// What to tell the server before the connection is closed.
    var farewell: [String] { get }

    /// The messages that carry our descriptions to a member.
    func offer(_ sdp: String, to member: String) -> String
    func answer(_ sdp: String, to member: String) -> String

    var calls: Calls { get set }
}

extension JoinTarget {
    /// What is said in its room.
    func conversation(_ version: EngineVersion) -> any Conversation {
        switch spoken {
        case .skyRTC: SkyRTCConversation(room: room)
        case .socketIO: PairConversation(room: room, version)
        }
    }
}
