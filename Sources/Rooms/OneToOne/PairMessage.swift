public import Rooms

/// What the server says to a client of a one-to-one room.
public enum PairMessage: Sendable, Equatable {
    /// What has become of the room, and whom it is about: the receiver itself, or the other.
    case notice(PairNotice, about: MemberID)
    /// The host's offer.
    case offer(sdp: String)
    /// The host's answer.
    case answer(sdp: String)

    /// The message as socket.io's packets, for who calls the room `room`: one, or two where `otherjoin` is to be said by its
    /// other name as well. Both arguments are always there: the iOS client reads them unasked.
    public func packets(room: String, alsoOtherJoined: Bool) -> [SocketPacket] {
        switch self {
        case .notice(let notice, let member):
            let names = [notice.event] + (notice == .otherJoined && alsoOtherJoined ? ["other_joined"] : [])
            return names.map { Self.event($0, room, JSONText.string(member.text)) }
        case .offer(let sdp): return [Self.description("offer", sdp, room)]
        case .answer(let sdp): return [Self.description("answer", sdp, room)]
        }
    }

    private static func description(_ type: String, _ sdp: String, _ room: String) -> SocketPacket {
        event("message", room, "{\"type\":\"\(type)\",\"sdp\":\(JSONText.string(sdp))}")
    }

    private static func event(_ name: String, _ room: String, _ argument: String) -> SocketPacket {
        SocketPacket(.event, json: JSONText.list([JSONText.string(name), JSONText.string(room), argument]))
    }
}

/// Engine.IO's greeting, the open packet.
public struct EngineGreeting: Sendable, Equatable {
    /// The session's secret name.
    public let session: String
    public let version: EngineVersion
    /// Whether the client may go over to a WebSocket.
    public let mayUpgrade: Bool
    /// In milliseconds.
    public let pingInterval: Int
    /// In milliseconds.
    public let pingTimeout: Int
    /// The most that a polling client may send at once, in bytes; only version 4 has it.
    public let payloadLimit: Int

    public init(
        session: String, version: EngineVersion, mayUpgrade: Bool, pingInterval: Int, pingTimeout: Int,
        payloadLimit: Int
    ) {
        self.session = session
        self.version = version
        self.mayUpgrade = mayUpgrade
        self.pingInterval = pingInterval
        self.pingTimeout = pingTimeout
        self.payloadLimit = payloadLimit
    }

    public var packet: EnginePacket {
        let upgrades = mayUpgrade ? "[\"websocket\"]" : "[]"
        let limit = version == .four ? ",\"maxPayload\":\(payloadLimit)" : ""
        return EnginePacket(
            .open,
            """
            {"sid":\(JSONText.string(session)),"upgrades":\(upgrades),"pingInterval":\(pingInterval),\
            "pingTimeout":\(pingTimeout)\(limit)}
            """)
    }
}

/// What socket.io's server says about its one namespace.
extension SocketPacket {
    /// Answers `40`: version 3 is told without asking, and without a word more, which its clients couldn't read.
    public static func connected(_ version: EngineVersion, as member: MemberID) -> SocketPacket {
        SocketPacket(.connect, json: version == .three ? "" : "{\"sid\":\(JSONText.string(member.text))}")
    }

    /// Answers who asks for another namespace.
    public static func noSuchNamespace(_ namespace: String, _ version: EngineVersion) -> SocketPacket {
        let reason = "Invalid namespace"
        return SocketPacket(
            .error, namespace: namespace,
            json: version == .three ? JSONText.string(reason) : "{\"message\":\(JSONText.string(reason))}")
    }
}
