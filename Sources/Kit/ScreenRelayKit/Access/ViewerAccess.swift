import Rooms
import Signalling

/// Who may watch the host's rooms and publish into them, for servers that ask in a way of their own, such as RTSP.
/// Belongs to one thread.
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

    /// Why a client with only the room token may not begin to watch a room now, although that token is right; nil if it
    /// may. The presenters' token still admits.
    package func closure(of room: String) -> String? { host.door(of: room).reason }

    /// Whether the links to a room have expired.
    public func isExpired(_ room: String) -> Bool { rules.rooms[room]?.policy.isExpired(at: now) ?? false }

    /// Whether a token, and the password if the rooms have one, admit a viewer at `address` to a room. The time doesn't
    /// depend on the token. The password is only compared if the token is right and the address is within its limit.
    public func admits(_ address: String, to room: String, token: String, password: String) -> Bool {
        [AccessGrant.viewing, .presenting].contains(grant(address, room, token: token, password: password))
    }

    /// Whether a room has a token for presenters.
    package func hasPresenters(_ room: String) -> Bool { rules.rooms[room]?.presenting != nil }

    /// Whether a token, and the password if the rooms have one, let a client at `address` publish into a room: only the
    /// presenters' token does.
    package func letsPresent(_ address: String, in room: String, token: String, password: String) -> Bool {
        grant(address, room, token: token, password: password) == .presenting
    }

    private func grant(_ address: String, _ room: String, token: String, password: String) -> AccessGrant {
        let now = now
        let isCompared = !password.isEmpty && wrongPasswords.mayTry(address, now: now)
        let policy = rules.rooms[room]?.policy
        let grant = policy?.grant(token: token, password: isCompared ? password : nil, now: now) ?? .refused
        if grant == .needsPassword, isCompared { wrongPasswords.note(address, now: now) }
        return grant
    }

    /// The tokens that admit a viewer to a room without a password, for proofs that don't reveal the token.
    public func tokens(of room: String) -> [String] {
        guard !needsPassword, let found = rules.rooms[room], !found.policy.isExpired(at: now) else { return [] }
        return [found.viewing, found.presenting].compactMap(\.self)
    }

    /// The token with which a client may publish into a room without a password, for such proofs; nil if there is none.
    package func presentingToken(of room: String) -> String? {
        guard !needsPassword, let found = rules.rooms[room], !found.policy.isExpired(at: now) else { return nil }
        return found.presenting
    }

    private var now: Int { SignallingConfiguration.bootTime() }
}
