public import Rooms

/// A message from the server to a client of a one-to-one room.
public enum PairMessage: Sendable, Equatable {
    /// A change in the room, and the member it is about: the receiver itself or the other.
    case notice(PairNotice, about: MemberID)
    /// The host's offer.
    case offer(sdp: String)
    /// The host's answer.
    case answer(sdp: String)

    /// Encodes the message as socket.io packets for a client that calls the room `room`. There is one packet, or two if
    /// `otherjoin` is also sent under its other name. Both arguments are always present, because the iOS client reads
    /// them without checking.
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

/// The greeting of Engine.IO: the open packet.
public struct EngineGreeting: Sendable, Equatable {
    /// The secret session identifier.
    public let session: String
    public let version: EngineVersion
    /// Whether the client may upgrade to a WebSocket.
    public let mayUpgrade: Bool
    /// In milliseconds.
    public let pingInterval: Int
    /// In milliseconds.
    public let pingTimeout: Int
    /// The largest payload that a polling client may send at once, in bytes. Only version 4 sends this.
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

/// Replies of the socket.io server about its only namespace.
extension SocketPacket {
    /// The reply to `40`. In version 3 the server sends it unasked and without data, which those clients couldn't read.
    public static func connected(_ version: EngineVersion, as member: MemberID) -> SocketPacket {
        SocketPacket(.connect, json: version == .three ? "" : "{\"sid\":\(JSONText.string(member.text))}")
    }

    /// The reply to a client that asks for another namespace.
    public static func noSuchNamespace(_ namespace: String, _ version: EngineVersion) -> SocketPacket {
        let reason = "Invalid namespace"
        return SocketPacket(
            .error, namespace: namespace,
            json: version == .three ? JSONText.string(reason) : "{\"message\":\(JSONText.string(reason))}")
    }
}
