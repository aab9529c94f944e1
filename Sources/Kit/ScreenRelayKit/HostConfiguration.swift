public import STUN
public import SecureTransport
public import Signalling

/// How a host is reached, and by whom.
public struct HostConfiguration: Sendable {
    /// The host's first room, which is meant where a client names none: letters, digits, `-`, `_`, `.`.
    public var room = "screen"
    /// Who has it gets in: what stands behind the comma in links. Nil lets everybody in who reaches the port.
    /// ``TokenFile`` keeps one.
    public var token: String? = HostConfiguration.randomToken()
    /// Who has it may present, and view as well; nil lets nobody present.
    public var presentingToken: String?
    /// What has to be known beside each token; nil: nothing.
    public var password: String?
    /// How long tokens are good, from the host's start on; nil: as long as it runs.
    public var lifetime: Duration?
    /// With which HTTPS and wss are served, in place of HTTP and ws.
    public var certificate: ServerCertificate?
    /// More rooms, with other names; they have no track until one is added.
    public var furtherRooms: [HostRoom] = []
    /// Where HTTP and WebSocket listen; at least one. Port 0 takes any.
    public var listen = [ListenAddress(address: "127.0.0.1", port: 8080)]
    /// Where the UDP port of all viewers is bound; port 0 takes any.
    public var mediaAddress = TransportAddress(ipv4: 127, 0, 0, 1, port: 8189)
    /// Whether a browser may call this host by any literal address and by the machine's name, instead of by loopback's alone
    /// (`Protocol/http.md`, "Who gets in"). Opens no socket: `listen` and `mediaAddress` do.
    public var isOpenToNetwork = false
    /// Addresses that viewers are told beside this machine's own, as behind a port forwarding; port 0 is the UDP port.
    public var advertised: [TransportAddress] = []
    /// Names that a browser may call this host by beside its addresses.
    public var hostNames: [String] = []
    /// Pages of these origins may use the host as its own page does.
    public var allowedOrigins: [String] = []
    /// Whether socket.io clients hear `other_joined` beside `otherjoin`, which means the same.
    public var alsoOtherJoined = false
    /// Who may ask over HTTP who is in the rooms, and have them leave (`Protocol/openapi.yaml`); nil for nobody.
    public var administration: Administration?

    /// Reached on loopback alone, with a new token.
    public init() {}
}

/// A room of a host beside its first.
public struct HostRoom: Sendable {
    /// As in links: letters, digits, `-`, `_`, `.`.
    public var name: String
    /// Who has it gets in; nil lets everybody in who reaches the port.
    public var token: String?
    /// Who has it may present, and view as well; nil lets nobody present.
    public var presentingToken: String?

    /// A room of that name; without a token it is open.
    public init(name: String, token: String?, presentingToken: String? = nil) {
        self.name = name
        self.token = token
        self.presentingToken = presentingToken
    }
}
