import ByteCoding
import FoundationEssentials
import Signalling
import SocketIORooms
import Threading

/// A room of somebody else's server: what is spoken there, where it is, and the room's name, which may be a secret.
public struct JoinTarget: Hashable, Sendable, CustomStringConvertible {
    /// What the server speaks.
    enum Kind: String, CaseIterable, Sendable {
        /// A mesh of any number, over SkyRTC's WebSocket.
        case skyRTC = "skyrtc"
        /// A room for two, over socket.io.
        case socketIO = "socketio"

        /// The schemes of its URLs, the secure one first.
        fileprivate var schemes: (secure: String, plain: String) {
            switch self {
            case .skyRTC: ("wss", "ws")
            case .socketIO: ("https", "http")
            }
        }
    }

    let spoken: Kind
    let room: String
    private let server: WebSocketAddress
    /// For people, logs and lists: without the path, the query and the room, which may be secret.
    public let description: String

    private static let maxByteCount = 4096

    /// Reads `skyrtc:wss://HOST[:PORT]/PATH#ROOM` (or `ws`), or `socketio:https://HOST[:PORT]#ROOM` (or `http`). What
    /// isn't allowed in a URL's fragment may be percent-encoded in ROOM.
    ///
    /// - Throws: ``JoinError`` that names what is wrong with it, without what may be secret.
    public init(_ text: String) throws(JoinError) {
        guard text.utf8.count <= Self.maxByteCount else {
            throw JoinError("it has more than \(Self.maxByteCount) bytes")
        }
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
            throw JoinError("it has a space or a control character; write it percent-encoded")
        }
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasPrefix("//"), let spoken = Kind(rawValue: parts[0].lowercased()) else {
            throw JoinError(
                "write it like skyrtc:wss://HOST/PATH#ROOM or socketio:https://HOST#ROOM")
        }
        let scheme = parts[1].lowercased()
        guard [spoken.schemes.secure, spoken.schemes.plain].contains(scheme) else {
            throw JoinError(
                "\(spoken.rawValue): must be followed by \(spoken.schemes.secure):// or \(spoken.schemes.plain)://")
        }
        let rest = parts[2].dropFirst(2).split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard rest.count == 2, !rest[1].isEmpty else { throw JoinError("it names no room; add #ROOM at the end") }
        let authority = String(rest[0].prefix { !"/?".contains($0) })
        let isSecure = scheme == spoken.schemes.secure
        let (host, port) = try Self.place(authority, default: isSecure ? 443 : 80)
        self.spoken = spoken
        room = PercentCoding.decode(rest[1], allowsControls: true) ?? String(rest[1])
        var target = String(rest[0].dropFirst(authority.count))
        if !target.hasPrefix("/") { target = "/" + target }
        guard target.utf8.allSatisfy({ $0 < 0x80 }) else { throw JoinError("its path has to be percent-encoded") }
        server = WebSocketAddress(host: host, port: port, isSecure: isSecure, target: target)
        description = "\(spoken.rawValue):\(scheme)://\(authority)"
    }

    private static func place(_ authority: String, default usual: UInt16) throws(JoinError) -> (String, UInt16) {
        guard !authority.contains("@") else { throw JoinError("its URL has a user, which no such server asks for") }
        guard authority.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw JoinError("its host has letters that aren't ASCII; write it like xn--mnchen-3ya.example")
        }
        let parts = URLComponents(string: "http://\(authority)/")
        guard let parts, let host = parts.percentEncodedHost, !host.isEmpty, !host.contains("%") else {
            throw JoinError("its URL names no host")
        }
        guard let port = parts.port else {
            guard !authority.hasSuffix(":") else { throw JoinError("its URL names no port after the colon") }
            return (host, usual)
        }
        guard let number = UInt16(exactly: port), number > 0 else {
            throw JoinError("its port isn't one of 1 to 65535")
        }
        return (host, number)
    }

    /// Whether only this machine can reach the server.
    public var isOnThisMachine: Bool { Loopback.contains(authority: server.host[...]) }

    /// Where its WebSocket is, for a client that speaks `version` of Engine.IO if it speaks socket.io.
    func address(_ version: EngineVersion) -> WebSocketAddress {
        guard spoken == .socketIO else { return server }
        var address = server
        let parts = server.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path = parts[0] == "/" ? "/socket.io/" : String(parts[0])
        if !path.hasSuffix("/") { path += "/" }
        let own = parts.count > 1 ? "\(parts[1])&" : ""
        address.target = "\(path)?\(own)EIO=\(version == .four ? 4 : 3)&transport=websocket"
        return address
    }
}

/// What is wrong with a join's settings; one line.
public struct JoinError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// An error with this description.
    public init(_ description: String) {
        self.description = description
    }
}
