import ByteCoding
import CGLib

/// A STUN or TURN server that helps clients to reach the host (RFC 7064, RFC 7065).
public struct ICEServer: Sendable, Equatable {
    /// The kind of server, and whether TLS protects its connection.
    public enum Scheme: String, Sendable {
        case stun, turn
        /// TURN over TLS.
        case turns
    }

    /// How a client reaches a TURN server.
    public enum Transport: String, Sendable {
        case udp, tcp
    }

    /// The credentials of a client for a TURN server.
    public enum Credentials: Sendable, Equatable {
        case none
        /// One user name and password for all clients: printable ASCII.
        case fixed(user: String, password: String)
        /// Each client gets a password that expires, which the server checks by this secret (coturn's
        /// `use-auth-secret`). Clients never get the secret.
        case secret(String)
    }

    /// The kind of server.
    public let scheme: Scheme
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    public let host: String
    /// The server's port.
    public let port: UInt16
    /// nil means UDP, or TCP for `turns`.
    public let transport: Transport?
    /// The clients' credentials for the server; `none` for a STUN server.
    public var credentials: Credentials

    /// Parses `stun:HOST[:PORT]` or `turn:[USER:PASSWORD@]HOST[:PORT][?transport=udp|tcp]`, also `turns:`. The part
    /// with the credentials is ours: RFC 7065 has none. They are in percent-encoding where they have `:`, `@`, `?` or
    /// `%`. Returns nil for anything else.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":"), let scheme = Scheme(rawValue: text[..<colon].lowercased()) else {
            return nil
        }
        var rest = text[text.index(after: colon)...]
        // These URLs have no such start, and credentials need not begin with it.
        guard !rest.hasPrefix("//") else { return nil }
        var credentials = Credentials.none
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                .compactMap(Self.credential)
            guard scheme != .stun, parts.count == 2 else { return nil }
            credentials = .fixed(user: parts[0], password: parts[1])
            rest = rest[rest.index(after: at)...]
        }
        var transport: Transport?
        if let mark = rest.firstIndex(of: "?") {
            let query = rest[rest.index(after: mark)...].split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard scheme != .stun, query.count == 2, query[0] == "transport",
                let found = Transport(rawValue: query[1].lowercased())
            else { return nil }
            transport = found
            rest = rest[..<mark]
        }
        guard let place = Authority(rest), place.port != 0 else { return nil }
        if place.host.hasPrefix("[") {
            let address = String(place.host.dropFirst().dropLast())
            guard address.contains(":"), g_hostname_is_ip_address(address) != 0 else { return nil }
        }
        self.scheme = scheme
        host = place.host
        self.transport = transport
        self.credentials = credentials
        port = place.port ?? (scheme == .turns ? 5349 : 3478)
    }

    private static func credential(_ text: Substring) -> String? {
        PercentCoding.decode(text).flatMap { text in
            !text.isEmpty && text.utf8.allSatisfy { $0 < 0x7F } ? text : nil
        }
    }

    /// The server's URL in the clients' form, without credentials.
    public var url: String {
        "\(scheme.rawValue):\(host):\(port)" + (transport.map { "?transport=\($0.rawValue)" } ?? "")
    }

    /// `HOST:PORT`, where the server answers STUN's questions over UDP; nil if it is reached only over TCP or TLS.
    public var stunAddress: String? {
        scheme == .turns || transport == .tcp ? nil : "\(host):\(port)"
    }

    /// Whether clients can use the server: browsers refuse a TURN server without credentials.
    public var isComplete: Bool { scheme == .stun || credentials != .none }

    /// Whether it is a TURN server that can be used over TCP or TLS: its URL says so, or leaves the transport open
    /// (RFC 5928 section 3).
    package var isReachableByStream: Bool { scheme != .stun && transport != .udp }

    /// A client's credentials for the server, or nil if it needs none. Credentials made from a secret are valid until
    /// `time`, in seconds since 1970.
    package func credentials(until time: Int) -> (user: String, password: String)? {
        switch credentials {
        case .none: return nil
        case .fixed(let user, let password): return (user, password)
        case .secret(let secret):
            let user = "\(time):screenrelay"
            return (user, ClientICEServer.password(of: user, secret: secret))
        }
    }
}

// MARK: - For one client

/// A server with credentials for one client: WebRTC's `RTCIceServer`.
struct ClientICEServer: Encodable, Equatable {
    let urls: [String]
    var username: String?
    var credential: String?

    /// How long credentials made from a secret last, in seconds. A client that joins again gets new ones.
    static let lifetime = 86_400

    /// - Parameter now: the wall clock's time, in seconds since 1970.
    init(_ server: ICEServer, now: Int) {
        urls = [server.url]
        guard let credentials = server.credentials(until: now + Self.lifetime) else { return }
        username = credentials.user
        credential = credentials.password
    }

    /// The password that a server with this secret expects of `user`: base64 of its HMAC-SHA1.
    static func password(of user: String, secret: String) -> String {
        let (key, text) = (Array(secret.utf8), Array(user.utf8))
        let hmac = g_hmac_new(G_CHECKSUM_SHA1, key, gsize(key.count))
        defer { g_hmac_unref(hmac) }
        g_hmac_update(hmac, text, text.count)
        var digest = [UInt8](repeating: 0, count: 20)
        var count = gsize(digest.count)
        g_hmac_get_digest(hmac, &digest, &count)
        guard let encoded = g_base64_encode(digest, count) else { return "" }
        defer { g_free(encoded) }
        return String(cString: encoded)
    }

    /// The value of a Link header (RFC 9725 section 4.6).
    var link: String {
        var link = "<\(urls.joined())>; rel=\"ice-server\""
        guard let username, let credential else { return link }
        link += "; username=\(Self.quoted(username)); credential=\(Self.quoted(credential))"
        return link + "; credential-type=\"password\""
    }

    /// RFC 9110 section 5.6.4.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension [ICEServer] {
    /// The servers for one admitted client, with its own credentials.
    func forClient() -> [ClientICEServer] {
        let now = Int(g_get_real_time() / 1_000_000)
        return filter(\.isComplete).map { ClientICEServer($0, now: now) }
    }

    /// The servers for one client, as headers of an answer.
    func links() -> HTTPHeaders { forClient().map { ("Link", $0.link) } }
}
