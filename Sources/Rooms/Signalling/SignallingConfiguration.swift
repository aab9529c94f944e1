import CGLib
import Glibc
public import LinkTransport
public import Rooms

/// How a `SignallingServer` is set up.
public struct SignallingConfiguration: Sendable {
    /// Where to listen; at least one.
    public var listen: [ListenAddress]
    /// The rooms; the first is meant where a client names none.
    public var rooms: [RoomConfiguration]
    /// Pages of these origins (`https://host[:port]`) may use the server as our own page does.
    public var allowedOrigins: [String] = []
    /// Whether any literal address and the machine's name are names of this server, not loopback's alone.
    public var lan = false
    /// More names that a Host header may have, without port: what a reverse proxy or a DNS entry calls this machine.
    public var hostNames: [String] = []
    /// Proxies that are believed when they say in `Forwarded` or `X-Forwarded-For` for whom they ask.
    public var trustedProxies: [AddressRange] = []
    /// Whether socket.io clients hear `other_joined` beside `otherjoin`, which means the same.
    public var alsoOtherJoined = false
    public var limits = SignallingLimits()
    /// With which HTTPS is served, and nothing else; nil: HTTP.
    public var tls: TLSCertificate?
    /// Seconds of a clock that rooms expire by; unless told otherwise one that counts on while the machine sleeps.
    public var lifetimeClock: @Sendable () -> Int = Self.bootTime
    /// Seconds of a clock that wrong tokens and passwords are counted by; never stepped.
    public var attemptClock: @Sendable () -> Int = { Int(g_get_monotonic_time() / 1_000_000) }
    /// Microseconds since 1970 of the clock that pictures' capture times are told in; never stepped. For pages that measure the
    /// delay. Called on the signalling thread.
    public var clock: @Sendable () -> Int64 = { Int64(g_get_real_time()) }
    /// Who lets publishers in (WHIP); nil where nobody may publish.
    public var publishing: (any TrackPublishing)?
    /// Takes one line for the log, on the signalling thread. No line has what stands after the comma of a room's name.
    public var log: @Sendable (String) -> Void = { _ in }
    /// Is told who has come into a room and who has left it, on the signalling thread; it must not block.
    public var onEvent: @Sendable (RoomNews) -> Void = { _ in }
    /// Is told, once, the room whose links have expired, on the signalling thread; it must not block.
    public var onExpiry: @Sendable (String) -> Void = { _ in }
    /// Who answers the commands of `/api`.
    public var commands = CommandAnswers()
    /// Who may use `/api`; nil for nobody.
    public var administration: Administration?

    public init(listen: [ListenAddress], rooms: [RoomConfiguration]) {
        self.listen = listen
        self.rooms = rooms
    }
}

extension SignallingConfiguration {
    /// Seconds since the machine started (CLOCK_BOOTTIME), its sleep included.
    public static func bootTime() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int(time.tv_sec)
    }
}

/// An address and a port to listen on.
public struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IPv4 or IPv6 address without brackets, or `localhost`.
    public let address: String
    /// 0 lets the system choose.
    public let port: UInt16

    public init(address: String, port: UInt16) {
        self.address = address
        self.port = port
    }

    public var description: String {
        address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}

/// A room and its first track.
public struct RoomConfiguration: Sendable {
    /// As it stands in links: no comma, no slash.
    public let name: String
    /// Who may do what in it.
    public var access: RoomAccess
    /// The track that is there from the beginning, and who serves its pictures.
    public let track: (name: TrackName, media: any RoomMedia)?

    /// A room with one track.
    public init(name: String, access: RoomAccess, media: any RoomMedia, track: TrackName = .screen) {
        self.name = name
        self.access = access
        self.track = (track, media)
    }

    /// A room without a track; ``SignallingServer/addTrack(_:media:room:)`` brings one.
    public init(name: String, access: RoomAccess) {
        self.name = name
        self.access = access
        track = nil
    }

    /// A room without a track, with the rules of ``init(name:token:media:track:)``.
    public init(name: String, token: String?) {
        self.init(name: name, access: RoomAccess(viewing: token))
    }

    /// A room that whoever has `token` may view, and with nil (`--open`) everybody; nobody presents in it.
    public init(name: String, token: String?, media: any RoomMedia, track: TrackName = .screen) {
        self.init(name: name, access: RoomAccess(viewing: token), media: media, track: track)
    }
}

/// Who may do what in a room.
public struct RoomAccess: Sendable {
    /// The token that lets a viewer in; nil lets in everybody.
    public var viewing: String?
    /// The token that lets somebody present, and view as well; nil lets nobody present.
    public var presenting: String?
    /// When both stop being any good, in seconds of ``SignallingConfiguration/lifetimeClock``; nil: never.
    public var expiry: Int?
    /// Whether a password is the one that has to be beside each token; nil: there is none. Called on the signalling thread; it
    /// takes the same time for each password, and that not long.
    public var isPassword: (@Sendable (String) -> Bool)?

    public init(
        viewing: String?, presenting: String? = nil, expiry: Int? = nil,
        isPassword: (@Sendable (String) -> Bool)? = nil
    ) {
        self.viewing = viewing
        self.presenting = presenting
        self.expiry = expiry
        self.isPassword = isPassword
    }

    var policy: AccessPolicy {
        AccessPolicy(
            viewing: viewing.map { AccessToken($0) }, presenting: presenting.map { AccessToken($0) }, expiry: expiry,
            isPassword: isPassword)
    }
}

/// What one client, and all of them, may use. Sizes are in bytes.
public struct SignallingLimits: Sendable {
    /// Connections at once, of all kinds. For a further one the oldest makes room whose client hasn't been let in; where there
    /// is none, the further one is closed as it comes.
    public var connections = 1024
    /// The same from one address that isn't loopback.
    public var connectionsPerAddress = 256
    /// Who may be in rooms at once from one address that isn't loopback.
    public var visitorsPerAddress = 256
    /// Requests in a second from one address that isn't loopback, on average; more is 429. A page is about 20. Those with a
    /// right token are counted by themselves, and those with a wrong one are no part of either.
    public var requestsPerSecond = 100
    /// Requests that such an address may make at once when it has been quiet.
    public var requestsAtOnce = 1000
    /// Who may be in one room at once over WebSockets.
    public var membersInRoom = 4096
    /// TLS handshakes that are under way at once; the next ones wait.
    public var handshakes = 32
    /// Of those, from one address that isn't loopback.
    public var handshakesPerAddress = 8
    /// From a connection to the end of its TLS handshake.
    public var handshakeTime: Duration = .seconds(10)
    /// A request's body; more is 413. (A request's header ends at libsoup's 64 KiB.)
    public var body = 64 * 1024
    /// From a connection, or a request's first byte, to its last.
    public var requestTime: Duration = .seconds(15)
    /// From a request's last byte until its answer is written.
    public var answerTime: Duration = .seconds(60)
    /// A connection that is kept for a next request.
    public var idleTime: Duration = .seconds(60)
    /// A WebSocket message, all its fragments together.
    public var message = 64 * 1024
    /// What a WebSocket's client may send before it is in a room, in all.
    public var bytesBeforeJoining = 4096
    public var messagesBeforeJoining = 4
    /// From a WebSocket's opening to its first `__join`.
    public var joinTime: Duration = .seconds(10)
    /// Between pings, and for each pong.
    public var pingTime: Duration = .seconds(20)
    /// WebSocket messages in a second, on average over twice as many.
    public var messagesPerSecond = 50
    /// What waits in the host for a WebSocket client to read it.
    public var unread = 512 * 1024
    /// Sessions of socket.io clients at once, in rooms or not.
    public var engineSessions = 256
    /// Between heartbeats of a socket.io client's session.
    public var enginePingInterval: Duration = .seconds(10)
    /// For the answer to one.
    public var enginePingTimeout: Duration = .seconds(15)
    /// For a polling socket.io client to go over to its WebSocket.
    public var engineUpgradeTime: Duration = .seconds(10)
    /// WebSockets at once that read the events of `/api`.
    public var eventReaders = 16
    /// Requests that wait for a snapshot at once.
    public var snapshots = 256
    /// Snapshots that are made at once, for however many requests.
    public var snapshotsUnderWay = 2
    /// What of snapshots waits for clients to read it before no more are made.
    public var snapshotBytes = 32 << 20
    /// For one snapshot.
    public var snapshotTime: Duration = .seconds(10)

    public init() {}

    /// How often to look whether somebody's time is up, in milliseconds.
    var tick: UInt32 {
        let shortest = min(
            requestTime, answerTime, idleTime, joinTime, pingTime, enginePingInterval, enginePingTimeout,
            engineUpgradeTime, snapshotTime, handshakeTime)
        return UInt32(min(1000, max(20, shortest.microseconds / 4000)))
    }
}

extension Duration {
    /// In whole microseconds, GLib's unit; at most a day.
    var microseconds: Int {
        let parts = min(self, .seconds(86400)).components
        return Int(parts.seconds) * 1_000_000 + Int(parts.attoseconds / 1_000_000_000_000)
    }
}
