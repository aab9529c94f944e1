/// A room as its host set it up.
public struct RoomDefinition: Sendable {
    /// The name in links; it has no comma.
    public let name: String
    /// Who may do what in it.
    public let access: AccessPolicy
    /// The host's identifier as a member of this room.
    public let host: MemberID

    public init(name: String, access: AccessPolicy, host: MemberID) {
        self.name = name
        self.access = access
        self.host = host
    }
}

/// Who a member is to its room: a UUID in lower case (RFC 9562), drawn by the shell when the socket opens.
public struct MemberID: Hashable, Sendable, CustomStringConvertible {
    public let text: String
    public var description: String { text }

    public init(_ text: String) {
        self.text = text
    }
}

/// How a member takes part.
public enum MemberRole: Sendable, Equatable {
    /// A plain SkyRTC client: sees, and is seen by, the room's other plain clients.
    case peer
    /// Our page: sees the host, and nobody sees it.
    case viewer
}

/// What a client gives to get in: `ROOM,TOKEN`, as it stands in links and in SkyRTC's room name, or `ROOM,TOKEN,PASSWORD`.
public struct RoomKey: Sendable, Equatable {
    /// Empty where the client named no room.
    public let room: String
    /// Empty where the client gave none. Never written to a log.
    public let token: String
    /// nil where the client gave none. Never written to a log.
    public var password: String?

    public init(room: String, token: String, password: String? = nil) {
        self.room = room
        self.token = token
        self.password = password
    }

    /// Splits `text` at its first two commas (a password may have more); without one it's all room. SkyRTC's `__default` is
    /// the room not named.
    public init(_ text: String) {
        let parts = text.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false)
        let name = parts.first.map(String.init) ?? ""
        room = name == "__default" ? "" : name
        token = parts.count > 1 ? String(parts[1]) : ""
        password = parts.count > 2 ? String(parts[2]) : nil
    }
}

/// A room's secret. It can be compared and not be read back, so it can't end up in a log.
public struct AccessToken: Sendable, CustomStringConvertible {
    /// How much of a candidate is compared at least, in bytes.
    private static let comparedLength = 1024

    private let bytes: [UInt8]

    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    public var description: String { "token" }

    /// Whether `candidate` is this token. Takes time by the candidate's length alone, not by how much of it is right. An
    /// empty token matches nothing.
    public func matches(_ candidate: String) -> Bool {
        // A longer one is wrong: comparing it would cost more than it is worth.
        guard !bytes.isEmpty, candidate.utf8.count <= max(bytes.count, Self.comparedLength) else { return false }
        var difference: UInt8 = 0
        var count = 0
        for byte in candidate.utf8 {
            difference |= byte ^ bytes[count % bytes.count]
            count += 1
        }
        return (difference == 0) && (count == bytes.count)
    }
}
