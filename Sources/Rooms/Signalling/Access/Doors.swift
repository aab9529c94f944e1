import Clocks
import MediaTypes
import Rooms
import Threading

/// The doors of the host's rooms: who enters a room that is locked or has a waiting room, and who waits to be let in.
///
/// The presenters' token always admits, and so does the secret of a visit for some time after it ended: a member whose
/// connection broke off, or that joins again under another name, isn't a newcomer.
///
/// Belongs to the site's thread.
final class Doors {
    /// A client that waits over its WebSocket, with its request to join.
    private struct Pending {
        let request: RoomEvent
        let address: String
        let since: MonotonicTime
    }

    /// A visit that has ended.
    private struct FormerVisit: Hashable {
        let secret: String
        let room: String
    }

    /// Lets a client in that has waited, by its request to join.
    var onEntry: (RoomEvent, RoomMember) -> Void = { _, _ in }
    /// Refuses a client that has waited.
    var onRefusal: (MemberID, RoomRefusal) -> Void = { _, _ in }
    /// Ends the visit of a member whose client has begun another one with its secret.
    var onReplacement: (RoomMember) -> Void = { _ in }

    private let rooms: HostRooms
    private let board: DoorBoard
    private let returnTime: Interval
    private let formerVisitLimit: Int
    private let onEvent: @Sendable (RoomNews) -> Void
    private let log: LogRateLimiter
    private var doors: [String: RoomDoor]
    /// The clients that wait at all doors.
    private var pending: [MemberID: Pending] = [:]
    /// Until when the secrets of former visits admit.
    private var formerVisits: [FormerVisit: MonotonicTime] = [:]
    /// The rooms whose owners have been told less than is on the board.
    private var changedRooms: Set<String> = []

    init(_ configuration: SignallingConfiguration, rooms: HostRooms, board: DoorBoard, log: LogRateLimiter) {
        self.rooms = rooms
        self.board = board
        self.log = log
        returnTime = configuration.limits.returnTime
        formerVisitLimit = configuration.limits.membersInRoom
        onEvent = configuration.onEvent
        doors = Dictionary(
            configuration.rooms.map { ($0.name, RoomDoor(hasWaitingRoom: $0.hasWaitingRoom)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Why a client with only the room token doesn't enter `room` now; nil if it does.
    func closure(of room: String) -> DoorClosure? { doors[room]?.closure }

    /// The room's door as the board shows it.
    func state(of room: String) -> DoorState { board.state(of: room) }

    /// Whether the door is open for `member`, which joins by `request`. If not, it waits or has been refused.
    ///
    /// - Parameter secrets: the secrets of visits that the client says it had.
    func isOpen(for member: RoomMember, by request: RoomEvent, secrets: [String]) -> Bool {
        guard case .join(_, let key, let role, let name) = request else { return true }
        let (grant, definition) = rooms.directory.grant(to: key)
        // A client that its key doesn't admit is refused anyway.
        guard grant == .viewing, let room = definition?.name, closure(of: room) != nil,
            rooms.directory.place(of: member.id)?.room != room, !secrets.contains(where: { isFormer($0, of: room) })
        else { return true }
        let knock = RoomDoor.Knock(member.id, name: name, origin: Self.origin(member.address))
        switch doors[room]?.knock(knock) ?? .enters {
        case .enters: return true
        case .isRefused(let refusal): onRefusal(member.id, refusal)
        case .waits:
            pending[member.id] = Pending(request: request, address: member.address, since: .now())
            changed(room)
            // It may send more than a stranger, but is no member, so that nothing of it is carried out.
            member.socket.admit()
            member.socket.send(SkyRTCReply.waiting.text)
            log(of: member.address).info("room \(room): a client from \(member.address) waits to be let in")
            let kind: Participant.Kind = role == .viewer ? .viewer : .client
            let who = Participant(id: member.id.text, name: knock.name, address: member.address, kind: kind)
            onEvent(RoomNews(change: .knocked, room: room, who: who))
        }
        return false
    }

    /// Carries out an owner's request. Returns false, and does nothing, if the member may not make it.
    func carryOut(_ request: DoorRequest, of member: RoomMember) -> Bool {
        guard let place = rooms.directory.place(of: member.id), place.role == .viewer, member.turn == .owner
        else { return false }
        switch request {
        case .lock(let isLocked): return lock(isLocked, place.room)
        case .decide(let decision, let id): return decide(decision, about: id, in: place.room) > 0
        }
    }

    /// Locks a room or unlocks it. Members stay, and clients that wait go on waiting. Returns false if there is no such
    /// room.
    @discardableResult
    func lock(_ isLocked: Bool, _ room: String) -> Bool {
        guard let door = doors[room] else { return false }
        guard door.isLocked != isLocked else { return true }
        doors[room]?.isLocked = isLocked
        log.own.info("room \(room): \(isLocked ? "locked" : "unlocked")")
        changed(room)
        tellOwners(of: room)
        return true
    }

    /// Locks the room of this name, or unlocks it; all rooms if the name is nil. Returns false if there is no such
    /// room.
    func lock(_ isLocked: Bool, room: String?) -> Bool {
        let names = doors.keys.filter { room == nil || $0 == room }.sorted()
        for name in names { lock(isLocked, name) }
        return !names.isEmpty
    }

    /// Decides about a client that waits, or about all that wait if `id` is nil; in `room`, if one is given. Returns
    /// about how many.
    func decide(_ decision: EntryDecision, about id: MemberID?, in room: String? = nil) -> Int {
        var count = 0
        for (name, door) in doors where room == nil || name == room {
            for knock in door.waiting where id == nil || knock.member == id {
                guard let request = pending[knock.member]?.request, let member = rooms[knock.member] else { continue }
                stopWaiting(knock.member)
                count += 1
                switch decision {
                case .admit: onEntry(request, member)
                case .refuse: onRefusal(knock.member, .turnedAway)
                }
            }
        }
        return count
    }

    /// The client has closed its WebSocket, or does something else than wait.
    func stopWaiting(_ id: MemberID) {
        guard pending.removeValue(forKey: id) != nil else { return }
        for room in Array(doors.keys) where doors[room]?.remove(id) == true { changed(room) }
    }

    /// The member has left `room`, from which it wasn't removed.
    func left(_ member: RoomMember, _ room: String) {
        guard formerVisits.count < formerVisitLimit else { return }
        formerVisits[FormerVisit(secret: member.resumption, room: room)] = .now() + returnTime
    }

    /// Refuses all that wait at the door of an expired room.
    func expire(_ room: String) {
        for knock in doors[room]?.waiting ?? [] {
            stopWaiting(knock.member)
            onRefusal(knock.member, .expired)
        }
    }

    /// Tells owners of changed lists, and forgets visits that ended long ago. Called once per second, so that clients
    /// that come and go cause few messages.
    func tick() {
        let now = MonotonicTime.now()
        formerVisits = formerVisits.filter { $0.value > now }
        for room in Array(changedRooms) { tellOwners(of: room) }
    }

    /// Sends a newcomer the state of its room's door, if it is an owner.
    func tell(of room: String, to member: RoomMember) {
        guard member.turn == .owner, let door = doors[room] else { return }
        member.socket.send(SkyRTCReply(door).text)
    }

    private func tellOwners(of room: String) {
        changedRooms.remove(room)
        for member in rooms.viewers(in: room) { tell(of: room, to: member) }
    }

    private func changed(_ room: String) {
        guard let door = doors[room] else { return }
        changedRooms.insert(room)
        let waiting = door.waiting.compactMap { knock in
            pending[knock.member].map {
                WaitingClient(id: knock.member.text, name: knock.name, address: $0.address, since: $0.since)
            }
        }
        board.set(
            DoorState(isLocked: door.isLocked, hasWaitingRoom: door.hasWaitingRoom, waiting: waiting), of: room)
    }

    /// Whether a client with `secret` is, or was until lately, a member of `room`.
    ///
    /// Such a secret admits once, and ends the visit if that isn't over yet. Otherwise a member could let any number of
    /// others in.
    private func isFormer(_ secret: String, of room: String) -> Bool {
        let visit = FormerVisit(secret: secret, room: room)
        if let end = formerVisits.removeValue(forKey: visit) { return end > .now() }
        let former = rooms.members.values.first {
            $0.resumption == secret && rooms.directory.place(of: $0.id)?.room == room
        }
        guard let former else { return false }
        onReplacement(former)
        formerVisits[visit] = nil
        return true
    }

    /// Loopback isn't counted, because all clients behind a reverse proxy on this machine have that address.
    private static func origin(_ address: String) -> String? {
        Loopback.contains(address) ? nil : ClientAddress.key(address)
    }
}
