import ByteCoding
public import Rooms

/// A message from the server to a client of a one-to-one room.
public enum PairMessage: Sendable, Equatable {
    /// A change in the room, and the member it is about: the receiver itself or the other.
    case notice(PairNotice, about: MemberID)
    /// The host's offer.
    case offer(sdp: String)
    /// The host's answer.
    case answer(sdp: String)
    /// The STUN and TURN servers for the call: a list of `RTCIceServer`, as JSON in ASCII.
    case iceServers(json: String)
    /// The other client's message: JSON, in ASCII.
    case relayed(json: String)

    /// Encodes the message as socket.io packets for a client that calls the room `room`. There is one packet, or two if
    /// `otherjoin` is also sent under its other name. Both arguments are always present, because the iOS client reads
    /// them without checking.
    public func packets(room: String, alsoOtherJoined: Bool) -> [SocketPacket] {
        switch self {
        case .notice(let notice, let member):
            let names = [notice.event] + (notice == .otherJoined && alsoOtherJoined ? ["other_joined"] : [])
            return names.map { Self.event($0, room, JSONObject.quoted(member.text, isASCII: true)) }
        case .offer(let sdp): return [Self.description("offer", sdp, room)]
        case .answer(let sdp): return [Self.description("answer", sdp, room)]
        case .iceServers(let json): return [Self.event("iceservers", room, json)]
        case .relayed(let json): return [Self.event("message", room, json)]
        }
    }

    private static func description(_ type: String, _ sdp: String, _ room: String) -> SocketPacket {
        let object = JSONObject(isASCII: true) {
            $0.add("type", type)
            $0.add("sdp", sdp)
        }
        return event("message", room, object.text)
    }

    /// `argument` is JSON: what follows the room.
    private static func event(_ name: String, _ room: String, _ argument: String) -> SocketPacket {
        let texts = [name, room].map { JSONObject.quoted($0, isASCII: true) }
        return SocketPacket(.event, json: "[\((texts + [argument]).joined(separator: ","))]")
    }
}

/// The greeting of Engine.IO: the open packet.
public struct EngineGreeting: Sendable, Equatable {
    /// The secret session identifier.
    public let session: String
    /// The version of engine.io that the client speaks.
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

    /// The packet of type `open` that carries the greeting.
    public var packet: EnginePacket {
        let object = JSONObject(isASCII: true) {
            $0.add("sid", session)
            $0.add("upgrades", mayUpgrade ? ["websocket"] : [])
            $0.add("pingInterval", pingInterval)
            $0.add("pingTimeout", pingTimeout)
            if version == .four { $0.add("maxPayload", payloadLimit) }
        }
        return EnginePacket(.open, object.text)
    }
}

/// Replies of the socket.io server about its only namespace.
extension SocketPacket {
    /// The reply to `40`. In version 3 the server sends it unasked and without data, which those clients couldn't read.
    public static func connected(_ version: EngineVersion, as member: MemberID) -> SocketPacket {
        let object = JSONObject(isASCII: true) { $0.add("sid", member.text) }
        return SocketPacket(.connect, json: version == .three ? "" : object.text)
    }

    /// The reply to a client that asks for another namespace.
    public static func noSuchNamespace(_ namespace: String, _ version: EngineVersion) -> SocketPacket {
        let reason = "Invalid namespace"
        return SocketPacket(
            .error, namespace: namespace,
            json: version == .three ? JSONObject.quoted(reason) : JSONObject { $0.add("message", reason) }.text)
    }
}
