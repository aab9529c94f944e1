import CGLib
import Rooms
import Viewer

/// Everything that the server serves: the routes of `Protocol/http.md` and the rooms of `Protocol/rooms.md`.
///
/// It belongs to its thread. `SiteThread` passes it work from other threads.
final class Site {
    /// The thread that owns the site.
    unowned let thread: SiteThread
    let context: OpaquePointer
    let limits: SignallingLimits
    let log: SiteLog
    let onEvent: @Sendable (RoomNews) -> Void
    let onExpiry: @Sendable (String) -> Void
    /// The media layer's clock (`SignallingConfiguration.clock`).
    let clock: @Sendable () -> Int64
    let front: HTTPFront

    let rooms: HostRooms
    var directory: RoomDirectory { rooms.directory }
    let members: RoomMembers
    let admission: Admission
    let snapshots: Snapshots
    let pointers: Pointers
    /// The audience of each room, for readers on other threads.
    let audience: Audience
    /// The clock for the expiry of rooms, in seconds, and the rooms that have expired.
    let lifetimeClock: @Sendable () -> Int
    var expiredRooms: Set<String> = []

    /// The players' sessions, keyed by the last segment of their URL.
    var playerSessions: [String: PlayerSession] = [:]
    /// Accepts publishers; nil if nobody may publish.
    let publishing: (any TrackPublishing)?
    /// The publishers' sessions, keyed by the last segment of their URL.
    var publisherSessions: [String: PublisherSession] = [:]
    /// The owners of the media sessions, to be told when the media layer ends one, by the session's key.
    var sessionOwners: [UInt64: SessionOwner] = [:]
    var lastSessionKey: UInt64 = 0
    /// Everybody who is in a room, by the identifier for programs.
    var visitors: [String: PresentVisitor] = [:]
    /// The list of visitors that viewers are told, by room. Rooms without viewers have none.
    var rosters: [String: Roster] = [:]
    /// The one-to-one rooms of socket.io.
    private(set) lazy var socketIO = SocketIOServer(site: self, alsoOtherJoined: alsoOtherJoined)
    /// Answers the commands of `/api`; below, the readers of its events.
    let commands: CommandAnswers
    var eventReaders: [ObjectIdentifier: WebSocketConnection] = [:]
    /// When the site was created (g_get_monotonic_time).
    let startTime = g_get_monotonic_time()

    private let alsoOtherJoined: Bool
    private var ticking: EventSource?

    init(
        _ configuration: SignallingConfiguration, listeners: [ListeningSocket], audience: Audience, thread: SiteThread,
        context: OpaquePointer
    ) {
        self.thread = thread
        self.context = context
        self.audience = audience
        limits = configuration.limits
        log = SiteLog(configuration.log)
        publishing = configuration.publishing
        onEvent = configuration.onEvent
        onExpiry = configuration.onExpiry
        commands = configuration.commands
        clock = configuration.clock
        alsoOtherJoined = configuration.alsoOtherJoined
        lifetimeClock = configuration.lifetimeClock
        let rooms = HostRooms(configuration)
        self.rooms = rooms
        members = RoomMembers(rooms: rooms)
        admission = Admission(configuration) { rooms.directory.grant(to: $0) }
        snapshots = Snapshots(limits: limits, admission: admission, rooms: rooms) { work in
            thread.post { work($0.snapshots) }
        }
        pointers = Pointers(rooms: rooms, members: members, log: log, on: context) { work in
            thread.post { work($0.pointers) }
        }
        front = HTTPFront(
            listeners, limits: limits, proxies: TrustedProxies(ranges: configuration.trustedProxies),
            certificate: configuration.tls, on: context)
        for room in configuration.rooms {
            if let (track, media) = room.track { addTrack(track, media: media, to: room.name) }
        }

        front.admit = { [unowned self] exchange in admission.check(exchange) ?? socketIO.admit(exchange) }
        front.handle = { [unowned self] exchange in route(exchange) }
        front.start()
        ticking = EventSource.timer(every: limits.tick, on: context) { [unowned self] in
            tick()
            return true
        }
    }

    /// Starts to shut down: accepts no new connections, closes the sessions, and sends WebSockets a close frame. The
    /// thread ends when all are closed, or after 500 ms.
    func stop() {
        snapshots.stop()
        for session in playerSessions.values { session.side.close(session.media) }
        playerSessions = [:]
        for session in publisherSessions.values { session.side.close(session.media) }
        publisherSessions = [:]
        for member in members.all { member.socket.close(.goingAway) }
        for reader in Array(eventReaders.values) { reader.close(.goingAway) }
        socketIO.stop()
        front.stop()
        ticking = nil
        pointers.stop()
        rosters = [:]
        var rounds = 0
        ticking = EventSource.timer(every: 10, on: context) { [unowned self] in
            rounds += 1
            guard rounds > 50 || (members.all.isEmpty && eventReaders.isEmpty && socketIO.isEmpty) else { return true }
            for member in members.all { member.socket.abort() }
            for reader in Array(eventReaders.values) { reader.abort() }
            socketIO.abort()
            thread.quit()
            return false
        }
    }

    /// Uses `certificate` for new connections, and accepts its names.
    func use(_ certificate: TLSCertificate) {
        front.use(certificate)
        admission.use(certificate)
    }

    private func tick() {
        front.tick()
        expireRooms()
        tickMembers()
        tickEvents()
        socketIO.tick()
        snapshots.tick()
        log.tick()
    }
}

// MARK: - Expiry

extension Site {
    /// Removes everybody from expired rooms.
    private func expireRooms() {
        for action in rooms.advance(to: lifetimeClock()) { carryOut(action) }
        for room in directory.roomNames where directory.hasExpired(room) && expiredRooms.insert(room).inserted {
            log("room \(room): its links have expired")
            onExpiry(room)
            // Members have been told already. These are players, publishers and the like.
            for visitor in Array(visitors.values) where visitor.room == room { visitor.kick() }
            countAudience(of: room)
        }
    }
}

// MARK: - Routes

extension Site {
    private func route(_ exchange: HTTPExchange) {
        guard let path = exchange.path else { return exchange.answer(.plain(404, "not found")) }
        if exchange.wantsWebSocket, path.isEmpty || path == ["ws"] { return upgrade(exchange) }
        switch path.first {
        case "healthz" where path.count == 1: exchange.answer(HTTPResponse(204))
        case "whep" where path.count == 2: playerEndpoint(exchange, room: path[1])
        case "whep" where path.count == 3:
            endpointSession(exchange, room: path[1], session: path[2], among: \.playerSessions, for: .viewing)
        case "socket.io" where path.count == 1: socketIO.handle(exchange)
        case "whip" where path.count == 2: publisherEndpoint(exchange, room: path[1], track: nil)
        case "whip" where path.count == 3: publisherEndpoint(exchange, room: path[1], track: path[2])
        case "whip" where path.count == 4:
            endpointSession(exchange, room: path[1], session: path[3], among: \.publisherSessions, for: .presenting)
        case "api": administration(exchange, path.dropFirst())
        case "snapshot.png" where path.count == 1: snapshots.handle(exchange, .png)
        case "snapshot.jpg" where path.count == 1: snapshots.handle(exchange, .jpeg)
        default: page(exchange, "/" + path.joined(separator: "/"))
        }
    }

    private func page(_ exchange: HTTPExchange, _ path: String) {
        guard let file = ViewerFiles.file(path: path) else { return exchange.answer(.plain(404, "not found")) }
        guard exchange.method == "GET" || exchange.method == "HEAD" else {
            return exchange.answer(.plain(405, "not possible", [("Allow", "GET, HEAD")]))
        }
        // Not every browser counts ws: as 'self'. The Host header has been checked; the policy has no syntax for IPv6
        // addresses.
        let host = Authority(exchange.header("Host") ?? "").flatMap { $0.host.hasPrefix("[") ? nil : $0 }
        let sockets =
            host.map { host in
                let authority = host.host + (host.port.map { ":\($0)" } ?? "")
                return " ws://\(authority) wss://\(authority)"
            } ?? ""
        let headers =
            HTTPResponse.commonHeaders + [
                ("Cache-Control", "no-cache"),
                ("Content-Security-Policy", ViewerFiles.contentSecurityPolicy + "; connect-src 'self'" + sockets),
                ("Permissions-Policy", ViewerFiles.permissionsPolicy), ("Cross-Origin-Opener-Policy", "same-origin"),
                ("ETag", file.entityTag),
            ]
        if exchange.header("If-None-Match") == file.entityTag {
            return exchange.answer(HTTPResponse(304, headers: headers))
        }
        exchange.answer(HTTPResponse(200, headers: headers, contentType: file.contentType, body: file.bytes))
    }
}
