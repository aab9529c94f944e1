internal import COpenSSL

/// A password that can be told from others and not be read back: PBKDF2 (RFC 8018 section 5.2) with HMAC-SHA256 and a salt
/// of its own. Any thread.
///
/// It is never written anywhere; the hash is slow so that a picture of our memory gives a password away only to who tries each.
/// It stays within some milliseconds, because one thread checks the passwords of all who come.
public struct PasswordHash: Sendable {
    private static let rounds: Int32 = 10_000

    private let salt: [UInt8]
    private let hash: [UInt8]

    /// The hash of `password`, under a salt that is drawn for it.
    public init(_ password: String) {
        salt = SecureRandom.bytes(16)
        hash = Self.derive(password, salt)
    }

    /// Whether `candidate` is the password; takes the same time whichever it is.
    public func matches(_ candidate: String) -> Bool {
        Authentication.areEqual(hash, Self.derive(candidate, salt))
    }

    private static func derive(_ password: String, _ salt: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        var password = password
        let status = password.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                PKCS5_PBKDF2_HMAC(
                    $0.baseAddress, Int32(clamping: $0.count), salt, Int32(salt.count), rounds, EVP_sha256(),
                    Int32(result.count), &result)
            }
        }
        guard status == 1 else { preconditionFailure("OpenSSL could not derive a key") }
        return result
    }
}
