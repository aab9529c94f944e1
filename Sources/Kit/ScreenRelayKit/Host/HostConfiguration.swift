import Glibc
public import LinkTransport
public import STUN
public import SecureTransport
public import Signalling

/// How a host can be reached, and who may enter.
public struct HostConfiguration: Sendable {
    /// The host's first room, which is used if a client names none: letters, digits, `-`, `_`, `.`.
    public var room = "screen"
    /// The viewing token, the part of a link after the comma. Anyone who has it may watch. If it is nil, anyone who can
    /// reach the port may. ``TokenFile`` keeps a token between runs.
    public var token: String? = HostConfiguration.randomToken()
    /// The file that keeps ``token``, for ``readTokens()``.
    public var tokenFile: TokenFile?
    /// The presenting token. Anyone who has it may present and watch. If it is nil, no one may present.
    public var presentingToken: String?
    /// The file that keeps ``presentingToken``, for ``readTokens()``.
    public var presentingTokenFile: TokenFile?
    /// Whether viewers may ask for the turn to present, in rooms with a presenting token. Pages that were opened with
    /// that token, and ``ScreenRelayHost/decide(_:turnOf:for:)``, allow it.
    public var acceptsTurnRequests = false
    /// Whether viewers wait until they are let in: by pages that were opened with the presenting token, or by
    /// ``ScreenRelayHost/decide(_:entryOf:)``. Clients that can't wait, such as players, need that token then.
    public var hasWaitingRoom = false
    /// A password that is required in addition to each token, or nil for none.
    public var password: String?
    /// How long tokens are valid from the host's start, or nil for as long as it runs.
    public var lifetime: Duration?
    /// The certificate for HTTPS and wss, or nil to serve HTTP and ws instead.
    public var certificate: ServerCertificate?
    /// More rooms, with other names. They have no track until one is added.
    public var furtherRooms: [HostRoom] = []
    /// Where HTTP and WebSocket listen; at least one address. Port 0 means any free port.
    public var listen: [ListenAddress]
    /// The address of the UDP port that all viewers share. Port 0 means any free port. Viewers who can't use UDP
    /// connect to the TCP port of the same number, unless that port is in use or in ``listen``.
    public var mediaAddress: TransportAddress
    /// Whether any free port may be used if the port of ``mediaAddress`` is in use.
    public var mayUseOtherMediaPort = false
    /// Whether a browser may call this host by any literal address and by the machine's name, and not only by a
    /// loopback address (`Protocol/http.md`, "Access"). Opens no socket: `listen` and `mediaAddress` do.
    public var isOpenToNetwork: Bool
    /// Addresses that viewers receive in addition to this machine's own, for example behind port forwarding. Port 0
    /// means the UDP port.
    public var advertised: [TransportAddress] = []
    /// Names by which a browser may call this host, in addition to its addresses.
    public var hostNames: [String] = []
    /// Pages from these origins may use the host just as its own page does.
    public var allowedOrigins: [String] = []
    /// Pages from these origins, for example `https://example.org`, may show the host's page in a frame, and load the
    /// element for that, `/embed.js`. An origin with an IPv6 address, and what isn't an origin, is ignored.
    public var embeddingOrigins: [String] = []
    /// Reverse proxies whose `Forwarded` or `X-Forwarded-For` header is trusted to name the client.
    public var trustedProxies: [AddressRange] = []
    /// Whether socket.io clients also get `other_joined`, a synonym of `otherjoin`. Off by default, because a client
    /// that knows both names would make two offers.
    public var alsoOtherJoined = false
    /// Whether socket.io clients with the first room's token may call each other, in rooms of two with any other name.
    public var pairRooms = false
    /// STUN and TURN servers by which clients may reach this host, and each other in a meeting. Clients receive the
    /// servers after admission. A TURN server without credentials is left out.
    public var iceServers: [ICEServer] = []
    /// The size and the frame rate that the page asks of a camera that is shared from it, or is used in a meeting.
    public var camera = CameraFormat()
    /// Who may control the host over HTTP (`Protocol/openapi.yaml`), or nil if no one may.
    public var administration: Administration?
    /// Where the host records its tracks, or nil if it doesn't.
    public var recording: HostRecording?
    /// Why there is no room for another session, for tests; nil asks ``MemoryAdmission``.
    var sessionRefusal: (@Sendable () -> String?)?
    /// The number of media threads, for tests; nil for what is usual on this machine.
    var mediaThreads: Int?

    /// Who can reach a host.
    public enum Reach: Sendable {
        /// Only this machine.
        case loopback
        /// Every machine that can reach one of this machine's addresses.
        case lan
    }

    /// A host that can be reached from there, with a new token.
    ///
    /// - Parameters:
    ///   - reach: sets ``listen``, ``mediaAddress`` and ``isOpenToNetwork``.
    ///   - port: the HTTP port; 0 means any free port.
    ///   - mediaPort: the UDP port of all viewers, and the TCP port for them; 0 means any free port.
    public init(_ reach: Reach = .loopback, port: UInt16 = 0, mediaPort: UInt16 = 0) {
        switch reach {
        case .loopback:
            listen = [ListenAddress(address: "127.0.0.1", port: port)]
            mediaAddress = TransportAddress(ipv4: 127, 0, 0, 1, port: mediaPort)
            isOpenToNetwork = false
        case .lan:
            // One socket for both families if the kernel has IPv6.
            let six = TransportAddress(bytes: [UInt8](repeating: 0, count: 16), port: mediaPort)
            let any = access("/proc/self/net/if_inet6", F_OK) == 0 ? six : nil
            mediaAddress = any ?? TransportAddress(ipv4: 0, 0, 0, 0, port: mediaPort)
            listen = [ListenAddress(address: any == nil ? "0.0.0.0" : "::", port: port)]
            isOpenToNetwork = true
        }
    }
}

/// Where a host records its tracks: each from its beginning to its removal, or to the host's end.
///
/// The first track's recording begins with the host, in the file at ``path``. Each further track, whatever its source,
/// gets a file of its own in the same folder, `talk-ROOM-TRACK-20261128T210250Z.srr` beside `talk.srr`; the time is the
/// track's beginning, in UTC. A track that returns after its removal gets another file. A recording without any message
/// is removed at its end. A recording counts as a viewer that can't draw the pointer.
///
/// If a further file can't be created, or one can't grow, that is logged once, and everything else continues.
public struct HostRecording: Sendable {
    /// The path of the first track's file, which must not exist yet.
    public var path: String
    /// The largest size of all files together in bytes, or nil for no limit. A file whose next message has no room is
    /// closed properly.
    public var limit: UInt64?

    /// Recordings at `path` and beside it.
    public init(path: String, limit: UInt64? = nil) {
        self.path = path
        self.limit = limit
    }
}

/// A room of a host, in addition to its first one.
public struct HostRoom: Sendable {
    /// The name in links: letters, digits, `-`, `_`, `.`.
    public var name: String
    /// The viewing token. If it is nil, anyone who can reach the port may watch.
    public var token: String?
    /// The file that keeps ``token``, for ``HostConfiguration/readTokens()``.
    public var tokenFile: TokenFile?
    /// The presenting token. Anyone who has it may present and watch. If it is nil, no one may present.
    public var presentingToken: String?
    /// The file that keeps ``presentingToken``, for ``HostConfiguration/readTokens()``.
    public var presentingTokenFile: TokenFile?

    /// A room with this name. Without a token it is open to everyone who can reach the port.
    public init(name: String, token: String?, presentingToken: String? = nil) {
        self.name = name
        self.token = token
        self.presentingToken = presentingToken
    }
}
