import CGLib
import Clocks
import LockOrder
public import MediaTypes
import Rooms
import Synchronization

/// The rooms of a host over HTTP and WebSocket: the page, SkyRTC's signalling, WHEP, WHIP, socket.io and snapshots, as
/// specified in `Protocol/http.md` and `Protocol/rooms.md`.
///
/// Everything runs on one thread of its own, named `signalling`. The methods here may be called from any other thread.
public final class SignallingServer: Sendable {
    private struct Running {
        let thread: SiteThread
        let addresses: [ListenAddress]
    }

    private enum State {
        /// Not started; keeps the work for the site until it is there.
        case new([SiteThread.Work])
        case running(Running)
        case stopped
    }

    private let configuration: SignallingConfiguration
    private let audience = Audience()
    private let doors: DoorBoard
    private let pointers = PointerBoard()
    let pointing = ViewerPermission(isAllowed: true)
    let chat = ViewerPermission(isAllowed: true)
    private let state = RankedMutex(State.new([]), .signallingServer)

    /// Creates a server; `start` makes it listen.
    public init(_ configuration: SignallingConfiguration) {
        self.configuration = configuration
        doors = DoorBoard(configuration.rooms)
    }

    /// The addresses that the server listens on, with the ports that the system chose; empty unless the server is
    /// running.
    public var addresses: [ListenAddress] {
        running?.addresses ?? []
    }

    /// Listens on every address of the configuration and starts serving. May be called once. If it throws, nothing
    /// remains open.
    public func start() throws(SignallingError) {
        let result = state.withLock { state -> Result<SiteThread, SignallingError> in
            guard case .new(let work) = state else { return .failure(.alreadyStarted) }
            state = .stopped
            do throws(SignallingError) {
                var listeners: [ListeningSocket] = []
                for address in configuration.listen { listeners.append(try ListeningSocket(address)) }
                let sockets = listeners
                let thread = SiteThread(name: "signalling") {
                    [configuration, audience, pointing, chat, doors] thread, context in
                    Site(
                        configuration, listeners: sockets, audience: audience, pointing: pointing, chat: chat,
                        doorBoard: doors, thread: thread, context: context)
                }
                for item in work { thread.post(item) }
                state = .running(Running(thread: thread, addresses: sockets.map(\.address)))
                return .success(thread)
            } catch {
                return .failure(error)
            }
        }
        try result.get().start()
    }

    /// Closes WebSockets with 1001 and all other connections, ends the media sessions, and waits for the thread, for
    /// about 500 ms at most. Must not be called from a `RoomMedia` method. Further calls do nothing.
    public func stop() {
        let running = state.withLock { state -> Running? in
            defer { state = .stopped }
            guard case .running(let running) = state else { return nil }
            return running
        }
        guard let running else { return }
        running.thread.post { $0.stop() }
        running.thread.join()
    }

    /// Adds a track to a room of the configuration. Its name has 1 to 64 letters, digits, `-`, `_` and `.`. If the room
    /// already has 16 tracks or one of that name, the failure is logged. Like the methods below, does nothing once the
    /// server has stopped. Calls before the start take effect at the start.
    public func addTrack(_ name: String, media: any RoomMedia, room: String) {
        guard let track = TrackName(name) else { return configuration.log("room \(room): no track can be called that") }
        post { $0.addTrack(track, media: media, to: room) }
    }

    /// Ends a track and all sessions for it.
    public func removeTrack(_ name: String, room: String) {
        guard let track = TrackName(name) else { return }
        post { $0.removeTrack(track, from: room) }
    }

    /// Announces the state of a track's source to current and later viewers of `room`. A state that hasn't changed for
    /// viewers isn't sent again. Without `track`, the room's first track is meant.
    public func announce(_ state: SourceState, room: String, track: String? = nil) {
        let name = track.flatMap { TrackName($0) }
        guard name?.text == track else { return }
        post { $0.skyRTC.announce(state, in: room, track: name) }
    }

    /// Announces the tag of a track to current and later viewers of `room`.
    public func announce(_ tag: TrackTag, room: String, track: String) {
        guard let name = TrackName(track) else { return }
        post { $0.skyRTC.announce(tag, in: room, track: name) }
    }

    /// Announces to current and later viewers of `room` whether a track can be heard. An unchanged state isn't sent
    /// again. Without `track`, the room's first track is meant.
    public func announceSound(_ sound: AudioState, room: String, track: String? = nil) {
        let name = track.flatMap { TrackName($0) }
        guard name?.text == track else { return }
        post { $0.skyRTC.announceSound(sound, in: room, track: name) }
    }

    /// Stores a report about the pointer of a track; without `track`, of the room's first track. Returns quickly. Only
    /// the latest report of each kind is kept, so the memory is bounded.
    public func updatePointer(_ report: PointerReport, room: String, track: String? = nil) {
        changePointer(of: track, in: room) { $0.note(report) }
    }

    /// Sets the number of a track's readers that can't draw the pointer, besides viewers and players: recordings and
    /// outputs. Without `track`, the room's first track is meant.
    public func setPlainReaders(_ count: Int, room: String, track: String? = nil) {
        changePointer(of: track, in: room) { $0.readers = count }
    }

    private func changePointer(of track: String?, in room: String, _ change: (inout PointerNews) -> Void) {
        let key = PointerBoard.Key(room: room, track: track.flatMap { TrackName($0) })
        guard key.track?.text == track else { return }
        guard pointers.change(key, change) else { return }
        post { [pointers] in $0.pointers.takeNews(of: key, from: pointers) }
    }

    /// Passes the current state of the rooms to `completion`, on the signalling thread. There are none if the server
    /// isn't running.
    public func describe(_ completion: @escaping @Sendable (RoomsDocument) -> Void) {
        guard let running else { return completion(RoomsDocument(rooms: [])) }
        running.thread.post { completion($0.presence.report()) }
    }

    /// Removes a participant that `describe` or `onEvent` reported. Calls `completion` on the signalling thread with
    /// whether there was one. A participant with the link can join again.
    public func removeParticipant(_ id: String, completion: @escaping @Sendable (Bool) -> Void = { _ in }) {
        guard let running else { return completion(false) }
        running.thread.post { completion($0.presence.removeParticipant(id)) }
    }

    /// Decides about the turn to present of a member that `describe` reported. A turn that is allowed ends after
    /// `limit`, if that is given. Calls `completion` on the signalling thread with false, and does nothing else, if the
    /// member isn't there, hasn't asked, or has no turn to end.
    public func decide(
        _ decision: TurnDecision, turnOf id: String, for limit: Interval? = nil,
        completion: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        guard let running else { return completion(false) }
        let end = limit.map { MonotonicTime.now() + $0 }
        running.thread.post { completion($0.presenters.decide(decision, of: MemberID(id), until: end)) }
    }

    /// Locks a room, so that newcomers are refused, or unlocks it; all rooms if `room` is nil. Calls `completion` on
    /// the signalling thread with false, and does nothing else, if there is no such room.
    public func lock(_ isLocked: Bool, room: String?, completion: @escaping @Sendable (Bool) -> Void = { _ in }) {
        guard let running else { return completion(false) }
        running.thread.post { completion($0.doors.lock(isLocked, room: room)) }
    }

    /// Carries out a command about rooms and their members, and calls `completion` on the signalling thread with the
    /// answer, which is nil for any other command.
    public func carryOut(_ command: ControlCommand, completion: @escaping @Sendable (ControlAnswer?) -> Void) {
        guard let running else { return completion(.refused("the host isn't running")) }
        running.thread.post { completion($0.commands.answer(command)) }
    }

    /// Decides about a client that waits to be let in, or about all of them if `id` is nil. Calls `completion` on the
    /// signalling thread with the number of clients that this was about.
    public func decide(
        _ decision: EntryDecision, entryOf id: String?, completion: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        guard let running else { return completion(0) }
        running.thread.post { completion($0.doors.decide(decision, about: id.map { MemberID($0) })) }
    }

    /// Whether newcomers enter `room` now, and who waits.
    public func door(of room: String) -> DoorState { doors.state(of: room) }

    /// Records that a program publishes a track over a protocol that this server doesn't serve. Calls `remove` on the
    /// signalling thread when the program has to leave. ``publisherLeft(_:)`` must follow.
    package func publisherCame(
        _ id: String, from address: String, to room: String, track: String, remove: @escaping @Sendable () -> Void
    ) {
        let who = Participant(id: id, name: nil, address: address, kind: .publisher)
        let name = TrackName(track)
        post { $0.presence.came(who, to: room, track: name, remove: remove) }
    }

    /// Records that such a program has left.
    package func publisherLeft(_ id: String) {
        post { $0.presence.left(id) }
    }

    /// Calls `answer` on the signalling thread once that has done everything that was posted before. Never calls it if
    /// the server isn't running.
    public func ping(_ answer: @escaping @Sendable () -> Void) {
        running?.thread.post { _ in answer() }
    }

    /// Passes the number of members' messages that had no effect so far to `completion`, on the signalling thread.
    /// Never calls it if the server isn't running.
    func countIgnored(_ completion: @escaping @Sendable (Int) -> Void) {
        running?.thread.post { completion($0.skyRTC.rooms.directory.ignoredEvents) }
    }

    /// Sends an event to all readers of the events of `/api`. `event` is one JSON object.
    public func tell(event: String) {
        post { $0.administration.tell(event) }
    }

    /// Has the site's thread do `work`, once it runs.
    func post(_ work: @escaping SiteThread.Work) {
        let thread = state.withLock { state -> SiteThread? in
            switch state {
            case .new(let earlier):
                state = .new(earlier + [work])
                return nil
            case .running(let running): return running.thread
            case .stopped: return nil
            }
        }
        thread?.post(work)
    }

    private var running: Running? {
        state.withLock { state in
            guard case .running(let running) = state else { return nil }
            return running
        }
    }

    /// Uses another certificate for new connections, and accepts its names; existing connections continue. Does nothing
    /// on a server that started without one.
    public func use(_ certificate: TLSCertificate) {
        guard configuration.tls != nil else { return }
        post { $0.use(certificate) }
    }

    /// Uses other access rules for rooms that the server has, from the next request on. Participants stay.
    public func use(_ rooms: [RoomConfiguration]) {
        post { $0.use(rooms) }
    }

    /// Requires another token for `/api` from the next request on. Does nothing on a server without `/api`.
    public func use(administrationToken token: String) {
        post { $0.use(administrationToken: token) }
    }

    /// The number of participants in `room` now, without the host.
    public func audience(of room: String) -> RoomAudience {
        audience.get(room)
    }
}

/// The number of participants in a room.
public struct RoomAudience: Sendable, Equatable {
    /// Over a WebSocket: our page and SkyRTC clients, whether they receive pictures or not.
    public var members = 0
    /// With a WHEP session, or in the room's one-to-one call over socket.io.
    public var players = 0
}

/// The audience of each room, written by the site's thread and read by any thread.
final class Audience: Sendable {
    private let rooms = Mutex<[String: RoomAudience]>([:])

    func set(_ room: String, members: Int, players: Int) {
        rooms.withLock { $0[room] = RoomAudience(members: members, players: players) }
    }

    func get(_ room: String) -> RoomAudience {
        rooms.withLock { $0[room] ?? RoomAudience() }
    }
}
