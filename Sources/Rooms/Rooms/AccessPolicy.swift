/// Who may do what in a room: by which tokens, with which password, and until when.
///
/// A core: time is an argument, and the password's check is handed in, so that its hash is the shell's.
public struct AccessPolicy: Sendable {
    /// Whether a password is the room's. Takes little time, and the same for each.
    public typealias PasswordCheck = @Sendable (String) -> Bool

    /// A longer password, in bytes of UTF-8, is wrong unseen.
    public static let passwordLimit = 256

    /// What lets a viewer in; nil lets in everybody.
    public let viewing: AccessToken?
    /// What lets somebody present, and view as well; nil lets nobody present.
    public let presenting: AccessToken?
    /// When the tokens stop being any good, in seconds of the clock that ``grant(token:password:now:)`` is asked by; nil: never.
    public let expiry: Int?
    private let isPassword: PasswordCheck?

    /// Compared with where there is no room or no such token, so that what isn't there costs what a wrong token costs.
    static let decoy = AccessPolicy(viewing: decoyToken, presenting: decoyToken)
    private static let decoyToken = AccessToken("no room answers to this token")

    /// The rules of one room. With `isPassword`, every token needs the password beside it.
    public init(
        viewing: AccessToken?, presenting: AccessToken? = nil, expiry: Int? = nil, isPassword: PasswordCheck? = nil
    ) {
        self.viewing = viewing
        self.presenting = presenting
        self.expiry = expiry
        self.isPassword = isPassword
    }

    /// Whether whoever reaches the port may view, without knowing anything.
    public var isOpen: Bool { viewing == nil && isPassword == nil }

    /// Whether there is a password.
    public var hasPassword: Bool { isPassword != nil }

    /// Whether nobody is let in any more at `now`, in seconds.
    public func isExpired(at now: Int) -> Bool {
        expiry.map { now >= $0 } ?? false
    }

    /// What `token` and `password` are good for at `now`, in seconds.
    ///
    /// The password is looked at only where the token is right: who hasn't that learns nothing of one, by time either.
    public func grant(token: String, password: String?, now: Int) -> AccessGrant {
        let isPresenter = (presenting ?? Self.decoyToken).matches(token) && presenting != nil
        let isViewer = (viewing ?? Self.decoyToken).matches(token) || viewing == nil
        guard isPresenter || isViewer, !isExpired(at: now) else { return .refused }
        if let isPassword {
            guard let password, !password.isEmpty, password.utf8.count <= Self.passwordLimit, isPassword(password)
            else { return .needsPassword }
        }
        return isPresenter ? .presenting : .viewing
    }
}

/// What somebody may do in a room.
public enum AccessGrant: Sendable, Equatable {
    /// Nothing: no such room, a wrong token, or one whose time is over.
    case refused
    /// Nothing yet: the token is right, and the password missing or wrong.
    case needsPassword
    /// See what is presented.
    case viewing
    /// That, and present.
    case presenting
}
