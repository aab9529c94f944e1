/// A password that can be told from others and not be read back: its HMAC-SHA256 under a key that is drawn for it. Any thread.
///
/// It is never written anywhere. Comparing takes microseconds, so that a right password need not be limited: one thread checks the
/// passwords of all who come. Guessing is limited by whoever asks, for each address.
public struct PasswordHash: Sendable {
    private let key: [UInt8]
    private let hash: [UInt8]

    /// The hash of `password`.
    public init(_ password: String) {
        key = SecureRandom.bytes(32)
        hash = Authentication.hmacSHA256(key: key, data: Array(password.utf8))
    }

    /// Whether `candidate` is the password; takes a time that depends on its length alone.
    public func matches(_ candidate: String) -> Bool {
        Authentication.areEqual(hash, Authentication.hmacSHA256(key: key, data: Array(candidate.utf8)))
    }
}
