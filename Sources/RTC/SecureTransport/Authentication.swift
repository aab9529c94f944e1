internal import COpenSSL

/// Hashes, message authentication codes and their comparison, by OpenSSL. Any thread.
///
/// The pure parts of the program take these as arguments.
public enum Authentication {
    /// HMAC-SHA1 (RFC 2104) with 20 bytes: STUN's MESSAGE-INTEGRITY.
    public static func hmacSHA1(key: [UInt8], data: ArraySlice<UInt8>) -> [UInt8] {
        hmac(EVP_sha1(), count: 20, key: key, data: data)
    }

    /// HMAC-SHA1 (RFC 2104) with 20 bytes: STUN's MESSAGE-INTEGRITY.
    public static func hmacSHA1(key: [UInt8], data: [UInt8]) -> [UInt8] {
        hmacSHA1(key: key, data: data[...])
    }

    /// HMAC-SHA256 (RFC 2104) with 32 bytes.
    public static func hmacSHA256(key: [UInt8], data: ArraySlice<UInt8>) -> [UInt8] {
        hmac(EVP_sha256(), count: 32, key: key, data: data)
    }

    /// HMAC-SHA256 (RFC 2104) with 32 bytes.
    public static func hmacSHA256(key: [UInt8], data: [UInt8]) -> [UInt8] {
        hmacSHA256(key: key, data: data[...])
    }

    /// SHA-256 with 32 bytes.
    public static func sha256(_ data: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let status = EVP_Digest(data, data.count, &result, &count, EVP_sha256(), nil)
        guard status == 1, count == 32 else { preconditionFailure("OpenSSL has no SHA-256") }
        return result
    }

    /// Whether both are the same, in a time that depends on their lengths alone.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// `key` and `data` may be anything; a failure means that OpenSSL lacks the hash function or that memory is out.
    private static func hmac(
        _ digest: OpaquePointer?, count: Int, key: [UInt8], data: ArraySlice<UInt8>
    ) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        var written: UInt32 = 0
        let isDone = data.withUnsafeBufferPointer { data in
            HMAC(digest, key, Int32(clamping: key.count), data.baseAddress, data.count, &result, &written) != nil
        }
        guard isDone, written == count else { preconditionFailure("OpenSSL could not make an HMAC") }
        return result
    }
}
