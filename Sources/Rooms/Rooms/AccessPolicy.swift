/// The access rules of a room: the access that tokens and password grant, and until when.
///
/// A pure core: time is an argument, and the shell supplies the password check and so chooses the hash.
public struct AccessPolicy: Sendable {
    /// Returns whether a password is the room's password. It is fast, and its time doesn't depend on the password.
    public typealias PasswordCheck = @Sendable (String) -> Bool

    /// The longest password that is checked, in bytes of UTF-8. Longer ones are rejected without being compared.
    public static let passwordLimit = 256

    /// The token that admits a viewer; nil admits any client.
    public let viewing: AccessToken?
    /// The token that allows a member to present and view; nil allows no presenting.
    public let presenting: AccessToken?
    /// When the tokens expire, in seconds of the clock that ``grant(token:password:now:)`` is called with; nil means
    /// never.
    public let expiry: Int?
    private let isPassword: PasswordCheck?

    /// The policy to compare with if the room or the token doesn't exist, so that this takes as long as a wrong token.
    static let decoy = AccessPolicy(viewing: decoyToken, presenting: decoyToken)
    private static let decoyToken = AccessToken("no room answers to this token")

    /// Creates the rules of one room. If `isPassword` is given, every token also needs the password.
    public init(
        viewing: AccessToken?, presenting: AccessToken? = nil, expiry: Int? = nil, isPassword: PasswordCheck? = nil
    ) {
        self.viewing = viewing
        self.presenting = presenting
        self.expiry = expiry
        self.isPassword = isPassword
    }

    /// Whether anyone who can reach the port may view, without a token or a password.
    public var isOpen: Bool { viewing == nil && isPassword == nil }

    /// Whether the tokens have expired at `now`, in seconds.
    public func isExpired(at now: Int) -> Bool {
        expiry.map { now >= $0 } ?? false
    }

    /// Returns the access that `token` and `password` grant at `now`, in seconds.
    ///
    /// The password is checked only if the token is right. Without the right token, a client can learn nothing about
    /// the password, not even from the response time.
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

/// A client's access to a room.
public enum AccessGrant: Sendable, Equatable {
    /// Nothing: the room doesn't exist, or the token is wrong or has expired.
    case refused
    /// Nothing yet: the token is right, but the password is missing or wrong.
    case needsPassword
    /// The client may only view.
    case viewing
    /// The client may view and present.
    case presenting
}
