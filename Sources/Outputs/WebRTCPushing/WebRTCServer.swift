import ByteCoding
import FoundationEssentials
public import OutputSettings

/// A server that takes WebRTC: where it is, and what it wants to know.
public struct WebRTCServer: Hashable, Sendable, CustomStringConvertible {
    /// What is spoken with it.
    enum Service: Hashable, Sendable {
        /// An endpoint of WHIP (RFC 9725).
        case whip
        /// An endpoint of WHEP (draft-ietf-wish-whep), and the password of the room behind it.
        case whep(password: String?)
        /// A room of Janus' VideoRoom plugin.
        case janus(JanusRoom)
    }

    /// A room, by its number or its name, and what must be known to enter it.
    struct JanusRoom: Hashable, Sendable {
        enum Name: Hashable, Sendable {
            case number(Int64)
            case text(String)
        }

        var name: Name
        var pin: String?
    }

    let service: Service
    /// The URL, of HTTP also for a WebSocket, without the token and the room.
    let url: String
    /// What the server is shown with each request; nil if nothing.
    let token: String?
    /// Without what may be secret: for people, logs and lists.
    public let description: String
    /// The host's name or address, without brackets.
    public let host: String

    /// Whether the server may wait for packets of every offered section and accept no section later: some WHIP servers
    /// end a session that offers audio and sends none. Janus forwards whatever arrives.
    public var waitsForAll: Bool { service == .whip }

    static let maxByteCount = 4096

    /// Whether `text` is meant to be such a server.
    public static func isMeant(by text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        return scheme == "whip" || scheme == "janus"
    }

    /// Reads `whip:https://TOKEN@HOST/PATH` or `janus:wss://TOKEN@HOST/PATH#ROOM,PIN`, where the token and the PIN may
    /// be left out and the TLS too, as in `whip:http:` and `janus:ws:`.
    ///
    /// - Throws: ``OutputSettingsError`` that names what is wrong with it, without its secret parts.
    public init(_ text: String) throws(OutputSettingsError) {
        guard text.utf8.count <= Self.maxByteCount else {
            throw OutputSettingsError("its URL has more than \(Self.maxByteCount) bytes")
        }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw OutputSettingsError("its URL has a space or a character that isn't ASCII's; write it like %C3%A9")
        }
        let kind = text.prefix { $0 != ":" }.lowercased()
        let isWHIP = kind == "whip"
        let schemes = isWHIP ? ["https", "http"] : ["wss", "ws"]
        let example = isWHIP ? "whip:https://HOST/PATH" : "janus:wss://HOST#ROOM"
        guard isWHIP || kind == "janus", let parts = URLComponents(string: String(text.dropFirst(kind.count + 1))),
            let scheme = parts.scheme?.lowercased(), schemes.contains(scheme)
        else { throw OutputSettingsError("its URL can't be read; write it like \(example)") }
        guard let host = parts.percentEncodedHost, !host.isEmpty, parts.port.map({ (1...65535).contains($0) }) ?? true
        else { throw OutputSettingsError("its URL names no host; write it like \(example)") }
        token = try Self.token(parts)
        if isWHIP {
            guard parts.percentEncodedPath.count > 1 else {
                throw OutputSettingsError("its URL has no path; write it like \(example)")
            }
            service = .whip
        } else {
            service = .janus(try Self.room(parts))
        }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let place = parts.port.map { "\(host):\($0)" } ?? host
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        let hasTLS = scheme == schemes[0]
        url = (hasTLS ? "https" : "http") + "://\(place)\(path)" + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        // Some services have the secret in the path.
        let hasMore = path != "/" || parts.percentEncodedQuery != nil
        var shown = "\(kind):\(scheme)://\(place)" + (hasMore ? "/..." : "")
        if case .janus(let room) = service { shown += "#\(room.name)" }
        description = shown
    }

    /// The token in the URL's place for a user or for a password.
    static func token(_ parts: URLComponents) throws(OutputSettingsError) -> String? {
        let user = parts.percentEncodedUser ?? ""
        let password = parts.percentEncodedPassword ?? ""
        guard user.isEmpty || password.isEmpty else {
            throw OutputSettingsError(
                "its URL has a user and a password; write only a token, for example https://TOKEN@HOST/")
        }
        let written = user + password
        guard !written.isEmpty else { return nil }
        guard let token = PercentCoding.decode(written), token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw OutputSettingsError("its URL has a token with other characters than the printable ones of ASCII")
        }
        return token
    }

    private static func room(_ parts: URLComponents) throws(OutputSettingsError) -> JanusRoom {
        let words = (parts.percentEncodedFragment ?? "").split(
            separator: ",", maxSplits: 1, omittingEmptySubsequences: false
        ).map { PercentCoding.decode($0, allowsControls: true) ?? "" }
        guard let name = words.first, !name.isEmpty else {
            throw OutputSettingsError("its URL names no room; write it like janus:wss://HOST#ROOM")
        }
        let isNumber = name.utf8.allSatisfy { (0x30...0x39).contains($0) }
        let number = isNumber ? Int64(name) : nil
        return JanusRoom(
            name: number.map { .number($0) } ?? .text(name), pin: words.count > 1 && words[1] != "" ? words[1] : nil)
    }
}

extension WebRTCServer.JanusRoom.Name: CustomStringConvertible {
    /// In one line, whatever a name contains.
    var description: String {
        switch self {
        case .number(let number): "\(number)"
        case .text(let text):
            String(text.unicodeScalars.filter { $0.properties.generalCategory != .control }.map { Character($0) })
        }
    }
}
