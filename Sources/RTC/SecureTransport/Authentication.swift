internal import COpenSSL

/// Hashes, message authentication codes and constant-time comparison, implemented by OpenSSL. May be called on any
/// thread.
///
/// The pure modules take these functions as arguments.
public enum Authentication {
    /// The HMAC-SHA1 (RFC 2104) of `data`, 20 bytes, for STUN's MESSAGE-INTEGRITY.
    public static func hmacSHA1(key: [UInt8], data: ArraySlice<UInt8>) -> [UInt8] {
        hmac(EVP_sha1(), count: 20, key: key, data: data)
    }

    /// The HMAC-SHA1 (RFC 2104) of `data`, 20 bytes, for STUN's MESSAGE-INTEGRITY.
    public static func hmacSHA1(key: [UInt8], data: [UInt8]) -> [UInt8] {
        hmacSHA1(key: key, data: data[...])
    }

    /// The HMAC-SHA256 (RFC 2104) of `data`, 32 bytes.
    public static func hmacSHA256(key: [UInt8], data: ArraySlice<UInt8>) -> [UInt8] {
        hmac(EVP_sha256(), count: 32, key: key, data: data)
    }

    /// The HMAC-SHA256 (RFC 2104) of `data`, 32 bytes.
    public static func hmacSHA256(key: [UInt8], data: [UInt8]) -> [UInt8] {
        hmacSHA256(key: key, data: data[...])
    }

    /// The SHA-256 hash of `data`, 32 bytes.
    public static func sha256(_ data: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let status = EVP_Digest(data, data.count, &result, &count, EVP_sha256(), nil)
        guard status == 1, count == 32 else { preconditionFailure("OpenSSL has no SHA-256") }
        return result
    }

    /// The MD5 hash of `data`, 16 bytes, for the long-term credentials of STUN, which know no other hash everywhere.
    public static func md5(_ data: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 16)
        var count: UInt32 = 0
        let status = EVP_Digest(data, data.count, &result, &count, EVP_md5(), nil)
        // A system that allows only approved algorithms has none. The server then refuses the credentials.
        return status == 1 && count == 16 ? result : []
    }

    /// Whether both arrays are equal, in a time that depends only on their lengths.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// `key` and `data` may have any value. A failure means that OpenSSL lacks the hash function or that memory is
    /// exhausted.
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
