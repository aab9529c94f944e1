/// A hash of a password, which can be compared but not read back: its HMAC-SHA256 under a random key of its own. May be
/// used on any thread.
///
/// The hash is never written anywhere. A comparison takes microseconds, so attempts with the right password need no
/// rate limit: one thread can check all users' passwords. The caller limits guessing, per address.
public struct PasswordHash: Sendable {
    private let key: [UInt8]
    private let hash: [UInt8]

    /// Creates the hash of `password`.
    public init(_ password: String) {
        key = SecureRandom.bytes(32)
        hash = Authentication.hmacSHA256(key: key, data: Array(password.utf8))
    }

    /// Whether `candidate` is the password. The time taken depends only on the candidate's length.
    public func matches(_ candidate: String) -> Bool {
        Authentication.areEqual(hash, Authentication.hmacSHA256(key: key, data: Array(candidate.utf8)))
    }
}
