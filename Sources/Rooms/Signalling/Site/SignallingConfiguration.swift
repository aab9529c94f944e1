import CGLib
import Glibc
public import LinkTransport
public import MediaTypes
package import Rooms
import Threading

/// The configuration of a `SignallingServer`.
public struct SignallingConfiguration: Sendable {
    /// The addresses to listen on; at least one.
    public var listen: [ListenAddress]
    /// The rooms. The first is meant if a client names none.
    public var rooms: [RoomConfiguration]
    /// Origins (`https://host[:port]`) whose pages may use the server as our own page does.
    public var allowedOrigins: [String] = []
    /// Origins (`https://host[:port]`) whose pages may show our page in a frame. Others than ``isEmbeddingOrigin(_:)``
    /// allows are ignored.
    public var embeddingOrigins: [String] = []
    /// Whether the server accepts any literal address and the machine's name in a Host header, not only loopback's.
    public var lan = false
    /// More names to accept in a Host header, without a port: the names that a reverse proxy or a DNS entry gives this
    /// machine.
    public var hostNames: [String] = []
    /// Proxies that are trusted to report the client's address in `Forwarded` or `X-Forwarded-For`.
    public var trustedProxies: [AddressRange] = []
    /// Whether socket.io clients are sent `other_joined` in addition to its synonym `otherjoin`.
    public var alsoOtherJoined = false
    /// Whether socket.io clients may call each other in rooms that aren't the host's.
    public var pairRooms = false
    /// The STUN and TURN servers that clients receive after admission.
    public var iceServers: [ICEServer] = []
    /// What pages ask of a camera that is shared, or is used in a meeting.
    public var camera = CameraFormat()
    /// The limits for clients.
    public var limits = SignallingLimits()
    /// The certificate. With one, the server serves only HTTPS; nil means HTTP.
    public var tls: TLSCertificate?
    /// The clock for the expiry of rooms, in seconds. By default one that continues while the machine sleeps.
    public var lifetimeClock: @Sendable () -> Int = Self.bootTime
    /// The clock for counting wrong tokens and passwords, in seconds. It is never stepped.
    public var attemptClock: @Sendable () -> Int = { Int(g_get_monotonic_time() / 1_000_000) }
    /// The clock of the pictures' capture times, in microseconds since 1970, for pages that measure the delay. It is
    /// never stepped. Called on the signalling thread.
    public var clock: @Sendable () -> Int64 = { Int64(g_get_real_time()) }
    /// Accepts publishers (WHIP); nil if publishing isn't allowed.
    public var publishing: (any TrackPublishing)?
    /// Whether viewers may ask for the turn to present, in rooms with a token for presenters. Needs ``publishing``.
    public var acceptsTurnRequests = false
    /// Receives one line for the log, on the signalling thread. No line contains the part of a room's name after its
    /// comma.
    public var log: @Sendable (String) -> Void = { _ in }
    /// Receives one line that the host's operator should know, on the signalling thread.
    public var warn: @Sendable (String) -> Void = { _ in }
    /// Called when a participant has joined or left a room, on the signalling thread. It must not block.
    public var onEvent: @Sendable (RoomNews) -> Void = { _ in }
    /// Called when a viewer has written in the chat, on the signalling thread. It must not block.
    public var onChat: @Sendable (ChatNews) -> Void = { _ in }
    /// Called once with the name of a room whose links have expired, on the signalling thread. It must not block.
    public var onExpiry: @Sendable (String) -> Void = { _ in }
    /// Answers the commands of `/api`.
    public var commands = CommandAnswers()
    /// Writes the text of `/metrics`.
    public var metrics = MetricsText()
    /// The access to `/api`; nil allows no access.
    public var administration: Administration?

    public init(listen: [ListenAddress], rooms: [RoomConfiguration]) {
        self.listen = listen
        self.rooms = rooms
    }
}

extension SignallingConfiguration {
    /// Whether `text` can be one of ``embeddingOrigins``: a scheme, a host, and an optional port. The host can't be an
    /// IPv6 address, for which Content-Security-Policy has no syntax.
    public static func isEmbeddingOrigin(_ text: String) -> Bool { Embedding.origin(text) != nil }

    /// Seconds since the machine started, including sleep (CLOCK_BOOTTIME).
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
    /// A socket that listens there already, instead of one that is bound to the address. The server that uses it closes
    /// it.
    public let descriptor: Int32?

    public init(address: String, port: UInt16) {
        self.address = address
        self.port = port
        descriptor = nil
    }

    /// The address of a TCP socket that another process, such as systemd, has bound and passed on. Nil if the
    /// descriptor isn't a TCP socket that listens.
    public init?(passed descriptor: Int32) {
        guard let (address, port) = PassedListener(descriptor)?.network else { return nil }
        self.address = address
        self.port = port
        self.descriptor = descriptor
    }

    /// Whether only this machine can reach it.
    public var isLoopback: Bool { Loopback.contains(address) }

    public var description: String {
        address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}

/// A room; ``SignallingServer/addTrack(_:media:room:)`` gives it tracks.
public struct RoomConfiguration: Sendable {
    /// The name as it appears in links: no comma, no slash.
    public let name: String
    /// The access rules of the room.
    public var access: RoomAccess
    /// Whether viewers without the presenting token wait until they are let in.
    public var hasWaitingRoom = false

    public init(name: String, access: RoomAccess) {
        self.name = name
        self.access = access
    }

    /// Creates a room without presenters, which a client with `token` may view, or any client if it is nil (`--open`).
    public init(name: String, token: String?) {
        self.init(name: name, access: RoomAccess(viewing: token))
    }
}

/// The access rules of a room.
public struct RoomAccess: Sendable {
    /// The token that admits a viewer; nil admits any client.
    public var viewing: String?
    /// The token that allows a member to present and view; nil allows no presenting.
    public var presenting: String?
    /// When both tokens expire, in seconds of ``SignallingConfiguration/lifetimeClock``; nil means never.
    public var expiry: Int?
    /// Checks the password that each token requires; nil if there is none. Called on the signalling thread. It is fast,
    /// and its time doesn't depend on the password.
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

    package var policy: AccessPolicy {
        AccessPolicy(
            viewing: viewing.map { AccessToken($0) }, presenting: presenting.map { AccessToken($0) }, expiry: expiry,
            isPassword: isPassword)
    }
}

/// Limits for one client and for all of them. Sizes are in bytes.
public struct SignallingLimits: Sendable {
    /// Simultaneous connections of all kinds. Beyond that, a new connection replaces one whose client hasn't been
    /// admitted, of the address that has the most of them. If there is none, the new one is closed at once.
    public var connections = 1024
    /// Simultaneous connections of one address that isn't loopback.
    public var connectionsPerAddress = 256
    /// Simultaneous participants in rooms from one address that isn't loopback.
    public var participantsPerAddress = 256
    /// Requests per second from one address that isn't loopback, on average; more get 429. A page makes about 20.
    /// Requests with a right token have a limit of their own, and those with a wrong token count towards neither.
    public var requestsPerSecond = 100
    /// The burst of requests that such an address may make after a quiet time.
    public var requestsAtOnce = 1000
    /// Simultaneous members of one room over WebSockets.
    public var membersInRoom = 4096
    /// Simultaneous TLS handshakes; further ones wait.
    public var handshakes = 32
    /// Simultaneous TLS handshakes from one address that isn't loopback.
    public var handshakesPerAddress = 8
    /// The time from a connection to a client's first byte, and then from the beginning of its TLS handshake to its
    /// end.
    public var handshakeTime = Interval.seconds(10)
    /// The time after which a handshake may end for one of an address that has fewer, if there are as many as may be.
    public var handshakeTimeout = Interval.seconds(2)
    /// The size of a request's body; more gets 413. (libsoup limits a request's header to 64 KiB.)
    public var body = 64 * 1024
    /// The time from a connection, or from a request's first byte, to the request's last byte.
    public var requestTime = Interval.seconds(15)
    /// The time from a request's last byte until its response is written.
    public var answerTime = Interval.seconds(60)
    /// How long a connection is kept for another request.
    public var idleTime = Interval.seconds(60)
    /// The size of a WebSocket message, with all its fragments.
    public var message = 64 * 1024
    /// The total size in bytes of the messages that a WebSocket client may send before it is in a room.
    public var bytesBeforeJoining = 4096
    /// The number of these messages.
    public var messagesBeforeJoining = 4
    /// The time from opening a WebSocket to its first `__join`.
    public var joinTime = Interval.seconds(10)
    /// How long a viewer whose WebSocket broke off may take to continue over another WebSocket. A page tries again
    /// after half a second, and its pictures continue meanwhile.
    public var returnTime = Interval.seconds(10)
    /// How long a viewer whose request for the turn to present was declined can't ask again.
    public var askAgainTime = Interval.seconds(30)
    /// The time between pings, and for each pong.
    public var pingTime = Interval.seconds(20)
    /// WebSocket messages per second on average; a burst may have twice as many.
    public var messagesPerSecond = 50
    /// Data that is queued for a WebSocket client that doesn't read it.
    public var unread = 512 * 1024
    /// How long sound may wait for a WebSocket client before it is left out.
    public var soundTime = Interval.milliseconds(300)
    /// Simultaneous sessions of socket.io clients, in rooms or not.
    public var engineSessions = 256
    /// The time between heartbeats of a socket.io session.
    public var enginePingInterval = Interval.seconds(10)
    /// The time for the answer to a heartbeat.
    public var enginePingTimeout = Interval.seconds(15)
    /// The time for a polling socket.io client to upgrade to its WebSocket.
    public var engineUpgradeTime = Interval.seconds(10)
    /// Simultaneous WebSockets that read the events of `/api`.
    public var eventReaders = 16
    /// Simultaneous requests that wait for a snapshot.
    public var snapshots = 256
    /// The number of snapshots made concurrently, for any number of requests.
    public var snapshotsUnderWay = 2
    /// Snapshot data that clients haven't read yet, before no more snapshots are made.
    public var snapshotBytes = 32 << 20
    /// The time for one snapshot.
    public var snapshotTime = Interval.seconds(10)

    public init() {}

    /// The time between two messages of a client at `messagesPerSecond`.
    var messagePrice: Interval { .seconds(1) / Int64(max(1, messagesPerSecond)) }

    /// The time between two checks of the deadlines.
    var tick: Interval {
        let shortest = min(
            requestTime, answerTime, idleTime, joinTime, returnTime, pingTime, enginePingInterval, enginePingTimeout,
            engineUpgradeTime, snapshotTime, handshakeTime)
        return min(.seconds(1), max(.milliseconds(20), shortest / 4))
    }
}
