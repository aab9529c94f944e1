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
    var sessions: [TrackName: MemberSession] = [:]

    init(id: MemberID, socket: WebSocketConnection, address: String, joinBy: Int) {
        self.id = id
        self.socket = socket
        self.address = address
        self.joinBy = joinBy
    }
}

/// The clients with an open WebSocket, in a room or not.
final class RoomMembers {
    private let rooms: HostRooms
    private var members: [MemberID: RoomMember] = [:]

    init(rooms: HostRooms) {
        self.rooms = rooms
    }

    subscript(id: MemberID) -> RoomMember? {
        get { members[id] }
        set { members[id] = newValue }
    }

    var all: [RoomMember] { Array(members.values) }

    /// The members who watch `room` with our page.
    func viewers(in room: String) -> [RoomMember] {
        rooms.directory.viewers(in: room).compactMap { members[$0] }
    }

    /// Sends a message to all who watch `room` with our page.
    func tellViewers(of room: String, _ text: String) {
        let frame = WebSocketFrame.text(text)
        for viewer in viewers(in: room) { viewer.socket.send(frame: frame) }
    }
}
