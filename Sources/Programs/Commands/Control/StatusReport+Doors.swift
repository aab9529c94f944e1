import ByteCoding
import ScreenRelayKit
import Signalling

extension StatusReport {
    /// The most rooms, and the most clients of all rooms, that are listed.
    private static let (roomLimit, clientLimit) = (16, 8)

    private var waiting: [(room: String, client: WaitingClient)] {
        doors.flatMap { door in door.state.waiting.map { (room: door.room, client: $0) } }
    }

    private var lockedRooms: [String] {
        doors.filter { $0.state.isLocked }.prefix(Self.roomLimit).map { $0.room }
    }

    /// The locked rooms, and those who wait to be let in.
    var doorParts: [String?] {
        let waiting = self.waiting
        let listed = waiting.prefix(Self.clientLimit).map { _, client in
            // A name may be any text, but must not begin another part.
            let name = shownName(client.name ?? "Guest \(client.id.prefix(4))").replacing(";", with: ",")
            return "\(name) (\(client.address))"
        }
        let more = waiting.count > listed.count ? ", and \(waiting.count - listed.count) more" : ""
        return [
            lockedRooms.isEmpty ? nil : "locked: \(lockedRooms.joined(separator: ", "))",
            waiting.isEmpty ? nil : "waiting: \(listed.joined(separator: ", "))\(more)",
        ]
    }

    /// Adds the same for programs.
    func addDoors(to object: inout JSONObject) {
        let waiting = self.waiting
        object.add("locked", lockedRooms)
        object.add("waiting", waiting.count)
        guard !waiting.isEmpty else { return }
        let clients = waiting.prefix(Self.clientLimit).map { room, client in
            JSONObject {
                $0.add("room", room)
                $0.add("id", client.id)
                $0.add("name", client.name)
                $0.add("address", client.address)
            }
        }
        object.add("waitingClients", clients)
    }
}
