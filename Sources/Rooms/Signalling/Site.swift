import CGLib
import Foundation
import MediaSessions
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
    /// Logs a line that wasn't caused by a client. For those that are, see ``log(_:of:)``.
    let log: @Sendable (String) -> Void
    /// The rate limit of log lines that clients cause, for each address including loopback, and the number of lines
    /// left out since the last report.
    var lines = RequestRate(perSecond: 5, burst: 50, sparesLoopback: false)
    var withheldLines = 0
    let onEvent: @Sendable (RoomNews) -> Void
    let onExpiry: @Sendable (String) -> Void
    /// The media layer's clock (`SignallingConfiguration.clock`).
    let clock: @Sendable () -> Int64
    let front: HTTPFront

    var directory: RoomDirectory
    /// The tracks of all rooms.
    var tracks: [TrackAddress: SharedTrack] = [:]
    /// The audience of each room, for readers on other threads.
    let audience: Audience
    /// Wrong tokens, and wrong passwords given with a right token.
    var attempts = FailedAttempts()
    var passwords = FailedAttempts()
    /// Requests without a token, and requests with a right token.
    var requests: RequestRate
    var requestsWithToken: RequestRate
    /// The clock for counting failed attempts, in seconds.
    let attemptClock: @Sendable () -> Int
    /// The clock for the expiry of rooms, in seconds, and the rooms that have expired.
    let lifetimeClock: @Sendable () -> Int
    var expiredRooms: Set<String> = []

    /// The open WebSockets, by their member's identifier.
    var members: [MemberID: RoomMember] = [:]
    /// The players' sessions, keyed by the last segment of their URL.
    var playerSessions: [String: PlayerSession] = [:]
    /// Accepts publishers; nil if nobody may publish.
    let publishing: (any TrackPublishing)?
    /// The publishers' sessions, keyed by the last segment of their URL.
    var publisherSessions: [String: PublisherSession] = [:]
    /// The owners of the media sessions, to be told when the media layer ends one, by the session's key.
    var sessionOwners: [UInt64: SessionOwner] = [:]
    var lastSessionKey: UInt64 = 0
    /// The snapshots that are being made or wait to be, in order of request.
    var snapshotJobs: [SnapshotJob] = []
    var lastTicket: UInt64 = 0
    /// The snapshot data that clients haven't read yet.
    let unreadSnapshots = UnreadSnapshots()
    /// Everybody who is in a room, by the identifier for programs.
    var visitors: [String: PresentVisitor] = [:]
    /// The list of visitors that viewers are told, by room. Rooms without viewers have none.
    var rosters: [String: Roster] = [:]
    /// The one-to-one rooms of socket.io.
    private(set) lazy var socketIO = SocketIOServer(site: self, alsoOtherJoined: alsoOtherJoined)
    /// Answers the commands of `/api`; below, the readers of its events.
    let commands: CommandAnswers
    var eventReaders: [ObjectIdentifier: WebSocketConnection] = [:]
    /// Runs while there are updates of pointers to send.
    var pointerTimer: EventSource?
    /// When the site was created (g_get_monotonic_time).
    let startTime = g_get_monotonic_time()

    /// Who may use `/api`; nil for nobody.
    let adminAccess: AdministrationAccess?

    private let alsoOtherJoined: Bool
    private let configuration: SignallingConfiguration
    private var hostNames: HostNames
    let allowedOrigins: Set<String>
    private var ticking: EventSource?

    init(
        _ configuration: SignallingConfiguration, listeners: [ListeningSocket], audience: Audience, thread: SiteThread,
        context: OpaquePointer
    ) {
        self.configuration = configuration
        self.thread = thread
        self.context = context
        self.audience = audience
        limits = configuration.limits
        log = configuration.log
        publishing = configuration.publishing
        onEvent = configuration.onEvent
        onExpiry = configuration.onExpiry
        commands = configuration.commands
        clock = configuration.clock
        alsoOtherJoined = configuration.alsoOtherJoined
        adminAccess = configuration.administration.map { AdministrationAccess($0) }
        allowedOrigins = Set(configuration.allowedOrigins.map { $0.lowercased() })
        attemptClock = configuration.attemptClock
        lifetimeClock = configuration.lifetimeClock
        requests = RequestRate(perSecond: limits.requestsPerSecond, burst: limits.requestsAtOnce)
        requestsWithToken = requests
        hostNames = HostNames(configuration, certificate: configuration.tls)
        directory = RoomDirectory(
            configuration.rooms.map { room in
                RoomDefinition(name: room.name, access: room.access.policy, host: MemberID(Self.newIdentifier()))
            }, memberLimit: limits.membersInRoom)
        front = HTTPFront(
            listeners, limits: limits, proxies: TrustedProxies(ranges: configuration.trustedProxies),
            certificate: configuration.tls, on: context)

        front.admit = { [unowned self] exchange in
            if let fault = exchange.proxyFault { return Self.plain(400, "\(fault)") }
            if let refusal = checkRate(of: exchange) { return refusal }
            return hostNames.accept(exchange.header("Host"))
                ? socketIO.admit(exchange) : Self.plain(421, hostNames.description)
        }
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
        endSnapshots()
        for session in playerSessions.values { session.side.close(session.media) }
        playerSessions = [:]
        for session in publisherSessions.values { session.side.close(session.media) }
        publisherSessions = [:]
        for member in members.values { member.socket.close(.goingAway) }
        for reader in Array(eventReaders.values) { reader.close(.goingAway) }
        socketIO.stop()
        front.stop()
        ticking = nil
        pointerTimer = nil
        for address in tracks.keys { tracks[address]?.pointerDecision = nil }
        rosters = [:]
        var rounds = 0
        ticking = EventSource.timer(every: 10, on: context) { [unowned self] in
            rounds += 1
            guard rounds > 50 || (members.isEmpty && eventReaders.isEmpty && socketIO.isEmpty) else { return true }
            for member in Array(members.values) { member.socket.abort() }
            for reader in Array(eventReaders.values) { reader.abort() }
            socketIO.abort()
            thread.quit()
            return false
        }
    }

    /// Uses `certificate` for new connections, and accepts its names.
    func use(_ certificate: TLSCertificate) {
        front.use(certificate)
        hostNames = HostNames(configuration, certificate: certificate)
    }

    private func tick() {
        front.tick()
        tickAccess()
        tickMembers()
        tickEvents()
        socketIO.tick()
        tickSnapshots()
        tickLines()
    }

    /// Returns an unguessable identifier: 122 random bits as a UUID in lower case.
    static func newIdentifier() -> String {
        UUID().uuidString.lowercased()
    }
}

// MARK: - The log

extension Site {
    /// The longest log line that a client can cause, in characters.
    private static let longestLine = 200

    /// Logs a line that a client at `address` has caused, unless the address has caused too many already.
    func log(_ line: String, of address: String) {
        guard lines.take(address, now: g_get_monotonic_time()) else { return withheldLines += 1 }
        log(line.count > Self.longestLine ? line.prefix(Self.longestLine - 1) + "…" : line)
    }

    private func tickLines() {
        guard withheldLines > 0, lines.take("", now: g_get_monotonic_time()) else { return }
        log("\(withheldLines) more lines like those before were left out")
        withheldLines = 0
    }
}

// MARK: - Routes

extension Site {
    private func route(_ exchange: HTTPExchange) {
        guard let path = exchange.path else { return exchange.answer(Self.plain(404, "not found")) }
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
        case "snapshot.png" where path.count == 1: snapshot(exchange, .png)
        case "snapshot.jpg" where path.count == 1: snapshot(exchange, .jpeg)
        default: page(exchange, "/" + path.joined(separator: "/"))
        }
    }

    private func page(_ exchange: HTTPExchange, _ path: String) {
        guard let file = ViewerFiles.file(path: path) else { return exchange.answer(Self.plain(404, "not found")) }
        guard exchange.method == "GET" || exchange.method == "HEAD" else {
            return exchange.answer(Self.plain(405, "not possible", [("Allow", "GET, HEAD")]))
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
            Self.commonHeaders + [
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

    /// The headers of every response.
    static var commonHeaders: [(String, String)] {
        [
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ]
    }

    static func plain(_ status: UInt32, _ text: String, _ headers: [(String, String)] = []) -> HTTPResponse {
        HTTPResponse(status, headers: commonHeaders + [("Cache-Control", "no-store")] + headers, text: text)
    }

    /// A refusal that doesn't say why.
    static func refusal(_ status: UInt32) -> HTTPResponse {
        plain(status, "not allowed", status == 401 ? [("WWW-Authenticate", "Bearer")] : [])
    }
}
