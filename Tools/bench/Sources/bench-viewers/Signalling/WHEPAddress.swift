/// Where viewers join: a WHEP endpoint over HTTP.
struct WHEPAddress: Sendable {
    /// A name or a numeric address, without brackets.
    let host: String
    let port: String
    /// The value of the `Host` header.
    let authority: String
    let path: String
    /// The Bearer token; nil if none is needed.
    let token: String?

    /// Reads `http://HOST[:PORT]/PATH`, or an invite link, `http://HOST:PORT/#ROOM,TOKEN`; nil if `text` is neither.
    init?(_ text: String, token: String?) {
        let scheme = "http://"
        guard text.hasPrefix(scheme) else { return nil }
        let halves = text.dropFirst(scheme.count).split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let authority = halves[0].prefix { $0 != "/" }
        var path = String(halves[0].dropFirst(authority.count))
        var token = token
        if halves.count == 2 {
            let parts = halves[1].split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
            path = "/whep/\(parts[0])"
            if parts.count == 2 { token = String(parts[1]) }
        }
        var host = authority
        var port: Substring = "80"
        if authority.hasPrefix("[") {
            host = authority.dropFirst().prefix { $0 != "]" }
            let rest = authority.dropFirst(host.count + 2)
            if rest.hasPrefix(":") { port = rest.dropFirst() }
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard !host.isEmpty, !port.isEmpty else { return nil }
        self.host = String(host)
        self.port = String(port)
        self.authority = String(authority)
        self.path = path.isEmpty ? "/" : path
        self.token = token
    }
}
