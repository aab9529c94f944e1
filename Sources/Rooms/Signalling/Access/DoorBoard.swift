public import MediaTypes
import Rooms
import Synchronization

/// The door of a room, as it is now.
public struct DoorState: Sendable, Equatable {
    /// Whether newcomers are refused.
    public var isLocked = false
    /// Whether newcomers wait until they are let in.
    public var hasWaitingRoom = false
    /// The clients that wait, in order of arrival.
    public var waiting: [WaitingClient] = []

    /// Why a client with only the room token doesn't enter now, for people; nil if it does.
    public var reason: String? {
        if isLocked { return "the room is locked" }
        return hasWaitingRoom ? "viewers of this room wait on its page to be let in" : nil
    }
}

/// A client that waits to be let into a room.
public struct WaitingClient: Sendable, Equatable {
    /// The identifier for a decision about it, and under which it joins. It isn't secret: it grants no access.
    public let id: String
    /// The name that the client has chosen, which may be any text.
    public let name: String?
    /// The client's address.
    public let address: String
    /// When it began to wait.
    public let since: MonotonicTime
}

/// The doors of all rooms, written by the site's thread and read by any thread.
final class DoorBoard: Sendable {
    private let doors: Mutex<[String: DoorState]>

    init(_ rooms: [RoomConfiguration]) {
        let states = rooms.map { ($0.name, DoorState(hasWaitingRoom: $0.hasWaitingRoom)) }
        doors = Mutex(Dictionary(states, uniquingKeysWith: { first, _ in first }))
    }

    func set(_ state: DoorState, of room: String) {
        doors.withLock { $0[room] = state }
    }

    func state(of room: String) -> DoorState {
        doors.withLock { $0[room] ?? DoorState() }
    }
}
