package import Signalling

/// The TURN servers that a WHIP or WHEP server has named (RFC 9725 section 4.6), or that the user has chosen, and that
/// a session can use, which are those over TCP or TLS: they are for networks that block UDP.
public struct NamedServers: Hashable, Sendable {
    /// The servers, with their credentials, in the order of the answer.
    let servers: [Relay]
    /// The nearest address that they may have: a server elsewhere must not choose what is reached behind a firewall.
    package let nearest: Nearness

    /// One of them.
    struct Relay: Hashable, Sendable {
        let host: String
        let port: UInt16
        let hasTLS: Bool
        let user: String
        let password: String
    }

    /// The most servers that are tried, and the most bytes that are read for them.
    static let limit = 4
    static let maxHeader = 16 << 10
    private static let maxWord = 512

    /// Reads the values of `Link` headers, joined by commas (RFC 8288 section 3). What can't be read or isn't used is
    /// left out; nil if nothing is left.
    init?(links: String, nearest: Nearness) {
        self.nearest = nearest
        guard links.utf8.count <= Self.maxHeader else { return nil }
        var found: [Relay] = []
        var reader = LinkReader(links)
        while found.count < Self.limit, let link = reader.next() {
            if let relay = Self.relay(link), !found.contains(relay) { found.append(relay) }
        }
        guard !found.isEmpty else { return nil }
        servers = found
    }

    /// No servers, named by a server whose addresses may be as near as `nearest`.
    init(nearest: Nearness) { (servers, self.nearest) = ([], nearest) }

    /// The servers that the user has chosen, wherever they are: of `servers`, those over TCP or TLS, and those whose
    /// URL leaves that open (RFC 5928 section 3), with a user name and a password. Nil if there is none.
    package init?(chosen servers: [ICEServer]) {
        nearest = .thisMachine
        self.servers = servers.compactMap { server in
            guard server.isReachableByStream, case .fixed(let user, let password) = server.credentials else {
                return nil
            }
            return Relay(
                host: server.host, port: server.port, hasTLS: server.scheme == .turns, user: user, password: password)
        }
        if self.servers.isEmpty { return nil }
    }

    private static func relay(_ link: LinkReader.Link) -> Relay? {
        let words = link.parameters
        guard words["rel"]?.lowercased().split(separator: " ").contains("ice-server") == true,
            (words["credential-type"] ?? "password").lowercased() == "password",
            let user = words["username"], let password = words["credential"],
            // The credentials have their own place.
            link.target.utf8.count <= maxWord, !link.target.contains("@"), let server = ICEServer(link.target),
            server.scheme == .turns && server.transport != .udp || server.scheme == .turn && server.transport == .tcp,
            [user, password].allSatisfy({ !$0.isEmpty && $0.utf8.count <= maxWord })
        else { return nil }
        return Relay(
            host: server.host, port: server.port, hasTLS: server.scheme == .turns, user: user, password: password)
    }
}

/// Reads links one after the other: `<URI>; name=word; name="quoted"`. The first link that isn't one ends it.
struct LinkReader {
    struct Link: Equatable {
        let target: String
        /// By their names in small letters; the first of each counts.
        let parameters: [String: String]
    }

    private var rest: Substring.UnicodeScalarView

    init(_ text: String) { rest = Substring(text).unicodeScalars }

    /// The next link; nil at the end.
    mutating func next() -> Link? {
        skip { $0 == "," || Self.isSpace($0) }
        guard take("<") else { return nil }
        let target = word { $0 != ">" && !Self.isSpace($0) }
        guard take(">") else { return nil }
        var parameters: [String: String] = [:]
        while true {
            skip(Self.isSpace)
            if rest.isEmpty || take(",") { return Link(target: target, parameters: parameters) }
            guard take(";") else { return nil }
            skip(Self.isSpace)
            let name = word { !"=;,\"".unicodeScalars.contains($0) && !Self.isSpace($0) }.lowercased()
            skip(Self.isSpace)
            var value = ""
            if take("=") {
                skip(Self.isSpace)
                guard let read = take("\"") ? quoted() : word({ $0 != ";" && $0 != "," && !Self.isSpace($0) }) else {
                    return nil
                }
                value = read
            }
            if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    private mutating func skip(_ isMeant: (Unicode.Scalar) -> Bool) {
        while let first = rest.first, isMeant(first) { rest.removeFirst() }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func word(_ isMeant: (Unicode.Scalar) -> Bool) -> String {
        var word = String.UnicodeScalarView()
        while let first = rest.first, isMeant(first) { word.append(rest.removeFirst()) }
        return String(word)
    }

    /// The rest of a quoted string; nil if it doesn't end (RFC 9110 section 5.6.4).
    private mutating func quoted() -> String? {
        var word = String.UnicodeScalarView()
        while let next = rest.popFirst() {
            if next == "\"" { return String(word) }
            guard next == "\\" else {
                word.append(next)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            word.append(escaped)
        }
        return nil
    }
}
