import Rooms
import Signalling

/// Who may watch the host's rooms, for outputs that ask in a way of their own, such as RTSP. Belongs to one thread.
public final class ViewerAccess {
    private struct Rules {
        /// The version of the host's access.
        let version: Int
        let needsPassword: Bool
        let rooms: [String: RoomAccess]

        init(of host: ScreenRelayHost) {
            let access = host.access
            version = access.version
            needsPassword = access.configuration.password != nil
            rooms = Dictionary(
                RoomConfiguration.all(of: access.configuration, expiry: host.expiryTime).map { ($0.name, $0.access) },
                uniquingKeysWith: { first, _ in first })
        }
    }

    private let host: ScreenRelayHost
    private var current: Rules
    /// Attempts with a right token and a wrong password.
    private var wrongPasswords = FailedAttempts()

    /// The rules of a host, whose rooms don't change while it runs; their tokens and password may.
    public init(of host: ScreenRelayHost) {
        self.host = host
        current = Rules(of: host)
    }

    private var rules: Rules {
        if current.version != host.access.version { current = Rules(of: host) }
        return current
    }

    /// Whether the rooms have a password besides their tokens.
    public var needsPassword: Bool { rules.needsPassword }

    /// Whether any client may watch a room. A room that doesn't exist is open if all others are, so that a client
    /// without access can't find out which rooms exist.
    public func isOpen(_ room: String) -> Bool {
        let rooms = rules.rooms
        guard let found = rooms[room] else { return rooms.values.allSatisfy(isOpen) }
        return isOpen(found)
    }

    private func isOpen(_ room: RoomAccess) -> Bool { room.policy.isOpen && !room.policy.isExpired(at: now) }

    /// Whether the links to a room have expired.
    public func isExpired(_ room: String) -> Bool { rules.rooms[room]?.policy.isExpired(at: now) ?? false }

    /// Whether a token, and the password if the rooms have one, admit a viewer at `address` to a room. The time doesn't
    /// depend on the token. The password is only compared if the token is right and the address is within its limit.
    public func admits(_ address: String, to room: String, token: String, password: String) -> Bool {
        let now = now
        let isCompared = !password.isEmpty && wrongPasswords.mayTry(address, now: now)
        switch rules.rooms[room]?.policy.grant(token: token, password: isCompared ? password : nil, now: now) {
        case .viewing, .presenting: return true
        case .refused, nil: return false
        case .needsPassword:
            if isCompared { wrongPasswords.note(address, now: now) }
            return false
        }
    }

    /// The tokens that admit a viewer to a room without a password, for proofs that don't reveal the token.
    public func tokens(of room: String) -> [String] {
        guard !needsPassword, let found = rules.rooms[room], !found.policy.isExpired(at: now) else { return [] }
        return [found.viewing, found.presenting].compactMap(\.self)
    }

    private var now: Int { SignallingConfiguration.bootTime() }
}
