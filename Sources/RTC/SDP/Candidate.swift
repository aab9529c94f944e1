/// An address at which a peer may be reached (RFC 8839 section 5.1).
public struct Candidate: Sendable, Equatable {
    /// An identifier that candidates of the same type, interface and server share.
    public var foundation: String
    /// 1 for RTP, or for everything with rtcp-mux.
    public var component: UInt16
    /// `udp`, `tcp`, in lower case.
    public var transport: String
    /// The priority among the peer's candidates (RFC 8445 section 5.1.2); higher is better.
    public var priority: UInt32
    /// An IPv4 or IPv6 address, or a host name (browsers hide their address behind a name that ends in `.local`).
    public var address: String
    /// The port of `address`.
    public var port: UInt16
    /// `host`, `srflx`, `prflx`, `relay`.
    public var type: String
    /// For TCP, who opens the connection: `active`, `passive` or `so` (RFC 6544 section 4.5); nil if it isn't said.
    public var tcpType: String?
    /// The address that our reflexive candidate was seen for; nil in others, and not read from peers.
    private var base: HostAddress?

    /// Parses a candidate, with or without `a=` and `candidate:` in front: `candidate:1 1 udp 2130706431 192.0.2.1 8189
    /// typ host …`. Nil if `text` is not a candidate.
    public init?(parsing text: some StringProtocol) {
        var rest = Substring(text)
        for prefix in ["a=", "candidate:"] where rest.hasPrefix(prefix) { rest = rest.dropFirst(prefix.count) }
        let words = rest.words
        guard words.count >= 8, words[6] == "typ", words.prefix(8).allSatisfy(\.isVisibleASCII),
            words[0].utf8.count <= 32, let component = UInt16(words[1]), let priority = UInt32(words[3]),
            let port = UInt16(words[5])
        else { return nil }
        foundation = String(words[0])
        self.component = component
        transport = words[2].lowercased()
        self.priority = priority
        address = String(words[4])
        self.port = port
        type = String(words[7])
        if let place = words.dropFirst(8).firstIndex(of: "tcptype") {
            tcpType = words[place...].dropFirst().first?.lowercased()
        }
    }

    /// One of our host candidates for UDP; `index` is its position in the list, which begins with the preferred one.
    init(host address: HostAddress, index: Int) {
        self.init(host: address, foundation: index + 1, transport: "udp", typePreference: 126)
        // RFC 8445 section 5.1.2.1: 2^24 x type preference + 2^8 x local preference + (256 - component).
        priority |= UInt32(UInt16.max - UInt16(clamping: index)) << 8
    }

    /// The candidate for TCP connections that the peer opens, at the address of `index` in a list of `count`. Its
    /// priority is lower than that of any candidate for UDP except relayed ones.
    init(passiveHost address: HostAddress, index: Int, of count: Int) {
        self.init(host: address, foundation: count + index + 1, transport: "tcp", typePreference: 90)
        tcpType = "passive"
        // RFC 6544 section 4.2: 2^13 x direction preference, which is 4 for a passive host candidate, + the rest.
        priority |= ((4 << 13) + 8191 - UInt32(clamping: min(index, 8191))) << 8
    }

    private init(host address: HostAddress, foundation: Int, transport: String, typePreference: UInt32) {
        self.foundation = String(foundation)
        component = 1
        self.transport = transport
        priority = typePreference << 24 | 255
        self.address = address.address
        port = address.port
        type = "host"
    }

    /// One of our server-reflexive candidates; `index` is its position among all candidates.
    init(reflexive: ReflexiveAddress, index: Int) {
        self.init(host: reflexive.address, index: index)
        // RFC 8445 section 5.1.2.2: such candidates have a type preference of 100.
        priority = 100 << 24 | UInt32(UInt16.max - UInt16(clamping: index)) << 8 | 255
        type = "srflx"
        base = reflexive.base
    }

    /// The candidates in `fragment`, a candidate line or a trickle-ice-sdpfrag (RFC 8840): at most `limit`, the first
    /// ones. Other lines are skipped.
    public static func all(in fragment: String, limit: Int) -> [Candidate] {
        var found: [Candidate] = []
        guard fragment.utf8.count <= SessionDescription.maxLength else { return [] }
        for line in fragment.utf8.split(whereSeparator: { [0x0a, 0x0d].contains($0) }) where found.count < limit {
            if let candidate = Candidate(parsing: Substring(line)) { found.append(candidate) }
        }
        return found
    }

    /// `candidate:1 1 udp 2130706431 192.0.2.1 8189 typ host`, for TCP with `tcptype passive` behind it.
    public var text: String {
        let related = base.map { " raddr \($0.address) rport \($0.port)" } ?? ""
        return "candidate:\(foundation) \(component) \(transport) \(priority) \(address) \(port) typ \(type)" + related
            + (tcpType.map { " tcptype \($0)" } ?? "")
    }
}

/// An address and a port at which we can be reached, over UDP and perhaps over TCP.
public struct HostAddress: Sendable, Hashable {
    /// An IPv4 or IPv6 address as text, without brackets.
    public var address: String
    /// The port of `address`.
    public var port: UInt16

    public init(address: String, port: UInt16) {
        self.address = address
        self.port = port
    }
}

/// One of our addresses as a STUN server sees it, behind a NAT.
public struct ReflexiveAddress: Sendable, Hashable {
    /// The address that the NAT gave us.
    public var address: HostAddress
    /// Our own address behind it.
    public var base: HostAddress

    public init(address: HostAddress, base: HostAddress) {
        self.address = address
        self.base = base
    }
}
