internal import COpenSSL

/// Random numbers that nobody can foresee (OpenSSL's RAND_bytes). Any thread.
public struct SecureRandom: RandomNumberGenerator, Sendable {
    /// A generator; all of them draw from the same source.
    public init() {}

    public mutating func next() -> UInt64 {
        var value: UInt64 = 0
        withUnsafeMutableBytes(of: &value) { Self.fill($0) }
        return value
    }

    /// `count` random bytes; none for a negative count.
    public static func bytes(_ count: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: max(0, count))
        result.withUnsafeMutableBytes { fill($0) }
        return result
    }

    /// A random number for an SSRC, a time stamp's start and the like.
    public static func uint32() -> UInt32 {
        var generator = SecureRandom()
        return UInt32.random(in: .min ... .max, using: &generator)
    }

    /// A random number for an ICE tie breaker and the like.
    public static func uint64() -> UInt64 {
        var generator = SecureRandom()
        return generator.next()
    }

    /// A new user name fragment of 8 characters (48 bits) and a password of 24 (144 bits).
    ///
    /// ICE wants at least 24 and 128 random bits (RFC 8445 section 5.3).
    public static func iceCredentials() -> (usernameFragment: String, password: String) {
        (iceCharacters(8), iceCharacters(24))
    }

    /// `ice-char` of RFC 8839 section 5.4. It has 64 members, so that six bits of a random byte choose one evenly.
    private static let iceAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func iceCharacters(_ count: Int) -> String {
        String(decoding: bytes(count).map { iceAlphabet[Int($0 & 63)] }, as: UTF8.self)
    }

    /// Without random numbers nothing here is secure, so there is no going on after a failure.
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
