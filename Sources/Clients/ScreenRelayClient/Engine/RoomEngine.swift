import Clocks
import MediaTypes
import RoomConnections
import Signalling
import Synchronization
import WebRTCPushing

/// What happens in a room, by the names of its tracks: an event that waits must not keep the engine alive.
enum RoomNews: Sendable {
    case joined
    case trackAppeared(String)
    case trackEnded(String)
    case membersChanged(count: Int, [RoomMember])
    case reconnecting(String)
    case ended(RoomEnd)

    var isMembersChanged: Bool { if case .membersChanged = self { true } else { false } }
    var isReconnecting: Bool { if case .reconnecting = self { true } else { false } }
}

/// A client's part in its room: the connection to the room, a session for each track that is read, and one for each
/// publication, each tried again by itself.
///
/// What isn't behind `shared` belongs to its thread, on which the methods run whose comment states no other.
///
/// The `Sendable` conformance is unchecked, because other threads hand it to that thread; each entry point checks in
/// debug builds that it is called there.
final class RoomEngine: @unchecked Sendable {
    /// How long the host may take to learn of the end.
    private static let farewell = Interval.seconds(3)

    /// What any thread may use.
    struct Shared {
        enum Phase { case new, running, ending, over }

        var phase = Phase.new
        /// To be called once it is over.
        var waiting: [@Sendable () -> Void] = []
        /// The tracks that the room has, or had when it was lost.
        var tracks: [String] = []
        var readers: [UInt64: FrameQueue] = [:]
        /// The number of the session from which a track's frames are taken.
        var sessionNumbers: [String: Int] = [:]
        var publications: [UInt64: PublishedTrack] = [:]
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    struct TrackSession {
        var attempts = Attempts()
        var connection: WHEPConnection?
    }

    struct PublishingSession {
        var attempts = Attempts()
        var connection: WHIPConnection?
    }

    let place: RoomPlace
    let name: String?
    /// The application's TURN servers; nil for those that the host names.
    let servers: NamedServers?
    let news = EventQueue<RoomNews>()
    let thread = ConnectionThread()
    let shared = Mutex(Shared())

    var room: RoomConnection?
    var roomAttempts = Attempts()
    var sessions: [String: TrackSession] = [:]
    var publishing: [UInt64: PublishingSession] = [:]
    private var lastNumber = 0
    private var isFinished = false

    init(_ place: RoomPlace, name: String?, servers: NamedServers?) {
        self.place = place
        self.name = name
        self.servers = servers
    }

    /// The tracks of the room. Any thread.
    var trackNames: [String] { shared.withLock { $0.tracks } }

    /// Whether sessions may begin.
    var isInside: Bool {
        switch place {
        case .room: roomAttempts.isConnected
        case .endpoint: true
        }
    }

    /// A number that no other attempt has.
    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Its life

    /// Begins to join the room. Any thread.
    func start() throws(RoomClientError) {
        let isNew = shared.withLock { shared in
            guard shared.phase == .new else { return false }
            shared.phase = .running
            return true
        }
        guard isNew else { throw .joinedBefore }
        guard thread.start("room client") else {
            shared.withLock { $0.phase = .over }
            throw .system("no thread is left for the room's client")
        }
        thread.post { self.begin() }
    }

    private func begin() {
        thread.check()
        switch place {
        case .room: connectRoom()
        case .endpoint: updateSessions()
        }
        thread.tick(every: .milliseconds(100)) { [weak self] in self?.poll() }
    }

    private func poll() {
        thread.check()
        guard !isFinished else { return }
        let now = MonotonicTime.now()
        pollRoom(at: now)
        pollSessions(at: now)
        pollPublications(at: now)
    }

    /// Leaves the room, and then calls `done`, on any thread. Any thread; doesn't wait.
    func leave(then done: @escaping @Sendable () -> Void = {}) {
        let before = shared.withLock { shared in
            let before = shared.phase
            switch before {
            case .new: shared.phase = .over
            case .running, .ending:
                shared.phase = .ending
                shared.waiting.append(done)
            case .over: break
            }
            return before
        }
        switch before {
        case .new:
            endAll(.left)
            done()
        case .running: thread.post { self.finish(.left) }
        case .ending: break
        case .over: done()
        }
    }

    /// Ends everything, and the thread. Waits until the host knows of it.
    func finish(_ end: RoomEnd) {
        thread.check()
        guard !isFinished else { return }
        isFinished = true
        shared.withLock { $0.phase = .ending }
        room?.close()
        room = nil
        let viewing = sessions.values.compactMap(\.connection)
        let publishing = publishing.values.compactMap(\.connection)
        sessions = [:]
        self.publishing = [:]
        endAll(end)
        // All are told at once, and then waited for.
        for connection in viewing { connection.abandon() }
        for connection in publishing { connection.abandon() }
        let deadline = MonotonicTime.now() + Self.farewell
        for connection in viewing { connection.close(until: deadline) }
        for connection in publishing { connection.close(until: deadline) }
        let waiting = shared.withLock { shared in
            defer { shared.waiting = [] }
            shared.phase = .over
            return shared.waiting
        }
        for done in waiting { done() }
        thread.stop()
    }

    /// Ends the readers and the publications. Any thread.
    private func endAll(_ end: RoomEnd) {
        let (readers, publications) = shared.withLock { shared in
            defer { (shared.readers, shared.publications) = ([:], [:]) }
            return (Array(shared.readers.values), Array(shared.publications.values))
        }
        for reader in readers { reader.finish() }
        for publication in publications { publication.end(end) }
        news.finish(.ended(end))
    }
}

// MARK: - The room

extension RoomEngine {
    private func connectRoom() {
        guard case .room(let link, _) = place else { return }
        let number = nextNumber()
        roomAttempts.begin(number, at: .now())
        room = RoomConnection(to: link, name: name, on: thread) { [weak self] event in self?.hand(event, number) }
    }

    /// Passes an event on, since the connection may not be stored yet.
    private func hand(_ event: RoomConnection.Event, _ number: Int) {
        thread.post { self.take(event, number) }
    }

    private func take(_ event: RoomConnection.Event, _ number: Int) {
        thread.check()
        guard !isFinished, room != nil, roomAttempts.number == number else { return }
        switch event {
        case .entered(let tracks):
            roomAttempts.connected(at: .now())
            news.post(.joined)
            tracksChanged(to: tracks)
            updatePublications()
        case .tracks(let tracks): tracksChanged(to: tracks)
        case .members(let count, let members):
            let people = members.map { RoomMember(id: $0.socketId, name: $0.name) }
            news.post(.membersChanged(count: count, people)) { $0.isMembersChanged }
        case .ended(let end): roomLost(end)
        }
    }

    private func roomLost(_ end: ConnectionEnd) {
        room?.close()
        room = nil
        guard end.mayPass else { return finish(RoomEnd(end)) }
        roomAttempts.ended(at: .now())
        news.post(.reconnecting(end.description)) { $0.isReconnecting }
    }

    private func pollRoom(at now: MonotonicTime) {
        if roomAttempts.isLate(at: now), case .room = place { roomLost(Attempts.late) }
        if roomAttempts.isDue(at: now) { connectRoom() }
    }
}
