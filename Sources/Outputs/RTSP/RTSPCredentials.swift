/// What a client says to prove that it may watch (RFC 2617).
public enum RTSPCredentials: Hashable, Sendable {
    case basic(user: String, password: String)
    case digest(RTSPDigest)

    /// Reads an Authorization header; nil if it is malformed or of another scheme.
    public init?(_ header: String) {
        let scheme = header.prefix { $0 != " " }
        let rest = header.dropFirst(scheme.count).trimmed
        switch scheme.lowercased() {
        case "basic":
            guard let bytes = Base64.decoded(rest), let text = String(validating: bytes, as: UTF8.self),
                let colon = text.firstIndex(of: ":")
            else { return nil }
            self = .basic(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
        case "digest":
            guard let digest = RTSPDigest(rest) else { return nil }
            self = .digest(digest)
        default: return nil
        }
    }
}

/// The proof that a client knows a password, without the password (RFC 2617 section 3.2.2, without `qop`, which we
/// don't offer).
public struct RTSPDigest: Hashable, Sendable {
    let user: String
    let realm: String
    let nonce: String
    let uri: String
    let response: String

    init?(_ text: String) {
        var values: [String: String] = [:]
        var rest = text[...]
        while true {
            rest = rest.drop { $0 == " " || $0 == "," || $0 == "\t" }
            guard !rest.isEmpty else { break }
            guard let equals = rest.firstIndex(of: "=") else { return nil }
            let name = rest[..<equals].trimmed.lowercased()
            rest = rest[rest.index(after: equals)...].drop { $0 == " " }
            if rest.first == "\"" {
                rest = rest.dropFirst()
                guard let end = rest.firstIndex(of: "\"") else { return nil }
                values[name] = String(rest[..<end])
                rest = rest[rest.index(after: end)...]
            } else {
                let value = rest.prefix { $0 != "," }
                values[name] = value.trimmed
                rest = rest.dropFirst(value.count)
            }
        }
        guard let user = values["username"], let realm = values["realm"], let nonce = values["nonce"],
            let uri = values["uri"], let response = values["response"]
        else { return nil }
        self.user = user
        self.realm = realm
        self.nonce = nonce
        self.uri = uri
        self.response = response.lowercased()
    }

    /// Whether it proves `password` for a request with `method`, in answer to `nonce`. `md5` gives the hexadecimal
    /// digest of a text.
    public func proves(_ password: String, method: String, nonce: String, md5: (String) -> String) -> Bool {
        guard self.nonce == nonce, realm == RTSPConversation.realm else { return false }
        let expected = md5(md5("\(user):\(realm):\(password)") + ":\(nonce):" + md5("\(method):\(uri)"))
        guard expected.utf8.count == response.utf8.count else { return false }
        // In constant time.
        return zip(expected.utf8, response.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
