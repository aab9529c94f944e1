internal import COpenSSL

/// Cryptographically secure random numbers (OpenSSL's RAND_bytes). May be used on any thread.
public struct SecureRandom: RandomNumberGenerator, Sendable {
    /// Creates a generator. All generators draw from the same source.
    public init() {}

    public mutating func next() -> UInt64 {
        var value: UInt64 = 0
        withUnsafeMutableBytes(of: &value) { Self.fill($0) }
        return value
    }

    /// `count` random bytes, or none if `count` is negative.
    public static func bytes(_ count: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: max(0, count))
        result.withUnsafeMutableBytes { fill($0) }
        return result
    }

    /// A random number, for example for an SSRC or the start of timestamps.
    public static func uint32() -> UInt32 {
        var generator = SecureRandom()
        return UInt32.random(in: .min ... .max, using: &generator)
    }

    /// A random number, for example for an ICE tie breaker.
    public static func uint64() -> UInt64 {
        var generator = SecureRandom()
        return generator.next()
    }

    /// A new user name fragment of 8 characters (48 bits) and a password of 24 (144 bits).
    ///
    /// ICE requires at least 24 and 128 random bits (RFC 8445 section 5.3).
    public static func iceCredentials() -> (usernameFragment: String, password: String) {
        (iceCharacters(8), iceCharacters(24))
    }

    /// The `ice-char` set of RFC 8839 section 5.4. It has 64 characters, so six bits of a random byte choose each with
    /// equal probability.
    private static let iceAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func iceCharacters(_ count: Int) -> String {
        String(decoding: bytes(count).map { iceAlphabet[Int($0 & 63)] }, as: UTF8.self)
    }

    /// Fills `buffer` with random bytes. Traps on failure, because without random numbers nothing here is secure.
    private static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        var rest = buffer[...]
        while !rest.isEmpty {
            let part = UnsafeMutableRawBufferPointer(rebasing: rest.prefix(1 << 20))
            let status = RAND_bytes(part.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(part.count))
            guard status == 1 else { preconditionFailure("OpenSSL has no random numbers") }
            rest = rest.dropFirst(part.count)
        }
    }
}
