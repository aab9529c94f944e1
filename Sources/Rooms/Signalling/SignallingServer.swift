import CGLib
import Rooms
import Synchronization

/// The rooms of a host over HTTP and WebSocket: the page, SkyRTC's signalling, WHEP and snapshots, as `Protocol/http.md` and
/// `Protocol/rooms.md` say.
///
/// One thread of its own, named `signalling`, owns all of it. The methods here may be called from any other thread.
public final class SignallingServer: Sendable {
    private struct Running {
        let thread: SiteThread
        let addresses: [ListenAddress]
    }

    private enum State {
        case new
        case running(Running)
        case stopped
    }

    private let configuration: SignallingConfiguration
    private let audience = Audience()
    private let pointers = PointerBoard()
    private let state = Mutex(State.new)

    public init(_ configuration: SignallingConfiguration) {
        self.configuration = configuration
    }

    /// Where the server listens, with the ports that the system chose; empty unless it's running.
    public var addresses: [ListenAddress] {
        state.withLock { state in
            guard case .running(let running) = state else { return [] }
            return running.addresses
        }
    }

    /// Listens on every address of the configuration and begins to serve; once. On an error nothing is left behind.
    public func start() throws(SignallingError) {
        let result = state.withLock { state -> Result<SiteThread, SignallingError> in
            guard case .new = state else { return .failure(.alreadyStarted) }
            do throws(SignallingError) {
                var listeners: [ListeningSocket] = []
                for address in configuration.listen { listeners.append(try ListeningSocket(address)) }
                let sockets = listeners
                let thread = SiteThread(name: "signalling") { [configuration, audience] thread, context in
                    Site(configuration, listeners: sockets, audience: audience, thread: thread, context: context)
                }
                state = .running(Running(thread: thread, addresses: sockets.map(\.address)))
                return .success(thread)
            } catch {
                return .failure(error)
            }
        }
        try result.get().start()
    }

    /// Closes WebSockets with 1001 and everything else, ends the media sessions, and waits for the thread: at most about half
    /// a second. Not to be called from a `RoomMedia` method. A second time does nothing.
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

    /// Adds a track to a room of the configuration: 1 to 64 letters, digits, `-`, `_` and `.`. What can't be added, because the
    /// room has 16 or one of that name, is logged. On a server that isn't running it does nothing, like all of the following.
    public func addTrack(_ name: String, media: any RoomMedia, room: String) {
        guard let track = TrackName(name) else { return configuration.log("room \(room): no track can be called that") }
        running?.thread.post { $0.addTrack(track, media: media, to: room) }
    }

    /// Ends a track and everybody's sessions of it.
    public func removeTrack(_ name: String, room: String) {
        guard let track = TrackName(name) else { return }
        running?.thread.post { $0.removeTrack(track, from: room) }
    }

    /// Tells the viewers of `room`, and those who join it later, what the source of a track is doing, with a sentence for people
    /// where there is more to say. The same again is not told again. Without `track` the room's first is meant.
    public func announce(_ state: SourceState, message: String = "", room: String, track: String? = nil) {
        guard let name = Named(track) else { return }
        running?.thread.post { $0.announce(state, message, in: room, track: name.track) }
    }

    /// Takes what there is to tell of the pointer of a track, the room's first without `track`. Quick, and bounded: of each kind
    /// the latest counts.
    public func updatePointer(_ update: PointerUpdate, room: String, track: String? = nil) {
        guard let name = Named(track), let running else { return }
        let key = PointerBoard.Key(room: room, track: name.track)
        guard pointers.note(update, key) else { return }
        running.thread.post { [pointers] in $0.takePointerNews(of: key, from: pointers) }
    }

    /// Hands the rooms as they are now to `completion`, on the signalling thread; none where the server doesn't run.
    public func describe(_ completion: @escaping @Sendable ([RoomReport]) -> Void) {
        guard let running else { return completion([]) }
        running.thread.post { completion($0.report()) }
    }

    /// Has somebody leave whom `describe` or `onEvent` told of; says to `completion` whether there was such a one, on the
    /// signalling thread. Who has the link can come back.
    public func kick(_ id: String, completion: @escaping @Sendable (Bool) -> Void = { _ in }) {
        guard let running else { return completion(false) }
        running.thread.post { completion($0.kick(id)) }
    }

    /// Tells everybody who reads the events of `/api`: one JSON object.
    public func tell(event: String) {
        running?.thread.post { $0.tell(event: event) }
    }

    private var running: Running? {
        state.withLock { state in
            guard case .running(let running) = state else { return nil }
            return running
        }
    }

    /// The track that a caller means; nil where it can't be one.
    private struct Named {
        let track: TrackName?

        init?(_ text: String?) {
            track = text.flatMap { TrackName($0) }
            if text != nil, track == nil { return nil }
        }
    }

    /// Shows another certificate to connections that come from now on, and goes by its names; who is connected stays so. Does
    /// nothing on a server that began without one.
    public func use(_ certificate: TLSCertificate) {
        let running = self.state.withLock { state -> Running? in
            guard case .running(let running) = state else { return nil }
            return running
        }
        guard configuration.tls != nil else { return }
        running?.thread.post { $0.use(certificate) }
    }

    /// How many are in `room` now, without the host.
    public func audience(of room: String) -> RoomAudience {
        audience.get(room)
    }
}

/// How many are in a room.
public struct RoomAudience: Sendable, Equatable {
    /// Over a WebSocket: our page and SkyRTC clients, whether they have a picture or not.
    public var members = 0
    /// With a WHEP session, or in the room's call of two by socket.io.
    public var players = 0
}

/// The numbers of each room, written by the site's thread and read by any.
final class Audience: Sendable {
    private let rooms = Mutex<[String: RoomAudience]>([:])

    func set(_ room: String, members: Int, players: Int) {
        rooms.withLock { $0[room] = RoomAudience(members: members, players: players) }
    }

    func get(_ room: String) -> RoomAudience {
        rooms.withLock { $0[room] ?? RoomAudience() }
    }
}
