import Glibc
public import LinkTransport
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
    public var listen: [ListenAddress]
    /// Where the UDP port of all viewers is bound; port 0 takes any.
    public var mediaAddress: TransportAddress
    /// Whether a browser may call this host by any literal address and by the machine's name, instead of by loopback's alone
    /// (`Protocol/http.md`, "Who gets in"). Opens no socket: `listen` and `mediaAddress` do.
    public var isOpenToNetwork: Bool
    /// Addresses that viewers are told beside this machine's own, as behind a port forwarding; port 0 is the UDP port.
    public var advertised: [TransportAddress] = []
    /// Names that a browser may call this host by beside its addresses.
    public var hostNames: [String] = []
    /// Pages of these origins may use the host as its own page does.
    public var allowedOrigins: [String] = []
    /// Reverse proxies that are believed when they say in `Forwarded` or `X-Forwarded-For` for whom they ask.
    public var trustedProxies: [AddressRange] = []
    /// Whether socket.io clients hear `other_joined` beside `otherjoin`, which means the same.
    public var alsoOtherJoined = false
    /// Who may steer the host over HTTP (`Protocol/openapi.yaml`); nil for nobody.
    public var administration: Administration?

    /// Who can reach a host.
    public enum Reach: Sendable {
        /// This machine alone.
        case loopback
        /// Every machine that can reach one of this one's addresses.
        case lan
    }

    /// A host that is reached from there, with a new token.
    ///
    /// - Parameters:
    ///   - reach: sets ``listen``, ``mediaAddress`` and ``isOpenToNetwork``.
    ///   - port: HTTP's; 0 takes any.
    ///   - mediaPort: the UDP port of all viewers; 0 takes any.
    public init(_ reach: Reach = .loopback, port: UInt16 = 0, mediaPort: UInt16 = 0) {
        switch reach {
        case .loopback:
            listen = [ListenAddress(address: "127.0.0.1", port: port)]
            mediaAddress = TransportAddress(ipv4: 127, 0, 0, 1, port: mediaPort)
            isOpenToNetwork = false
        case .lan:
            // One socket for both families, where the kernel has IPv6.
            let six = TransportAddress(bytes: [UInt8](repeating: 0, count: 16), port: mediaPort)
            let any = access("/proc/net/if_inet6", F_OK) == 0 ? six : nil
            mediaAddress = any ?? TransportAddress(ipv4: 0, 0, 0, 0, port: mediaPort)
            listen = [ListenAddress(address: any == nil ? "0.0.0.0" : "::", port: port)]
            isOpenToNetwork = true
        }
    }
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
