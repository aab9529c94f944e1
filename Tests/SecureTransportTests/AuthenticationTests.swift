import SecureTransport
import Testing

@Suite("Authentication and random numbers")
struct AuthenticationTests {
    @Test("HMAC-SHA1 gives RFC 2202's results")
    func hmacSHA1Vectors() {
        #expect(
            Authentication.hmacSHA1(key: Array("Jefe".utf8), data: Array("what do ya want for nothing?".utf8))
                == bytes("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"))
        #expect(
            Authentication.hmacSHA1(key: [UInt8](repeating: 0x0B, count: 20), data: Array("Hi There".utf8))
                == bytes("b617318655057264e28bc0b6fb378c8ef146be00"))
    }

    @Test("HMAC-SHA256 gives RFC 4231's results, for slices too")
    func hmacSHA256Vectors() {
        let expected = bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let data = Array("what do ya want for nothing?".utf8)
        #expect(Authentication.hmacSHA256(key: Array("Jefe".utf8), data: data) == expected)
        #expect(Authentication.hmacSHA256(key: Array("Jefe".utf8), data: ([1, 2] + data)[2...]) == expected)
    }

    @Test("an HMAC of nothing with no key is made")
    func emptyHMAC() {
        #expect(Authentication.hmacSHA1(key: [], data: []) == bytes("fbdb1d1b18aa6c08324b7d64b71fb76370690e1d"))
    }

    @Test("SHA-256 gives FIPS 180's results")
    func sha256Vectors() {
        #expect(
            Authentication.sha256(Array("abc".utf8))
                == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(
            Authentication.sha256([])
                == bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }

    @Test("bytes are equal only to the same bytes")
    func equality() {
        #expect(Authentication.areEqual([1, 2, 3], [1, 2, 3]))
        #expect(Authentication.areEqual([], []))
        #expect(!Authentication.areEqual([1, 2, 3], [1, 2, 4]))
        #expect(!Authentication.areEqual([1, 2, 3], [1, 2]))
    }

    @Test("ICE credentials have the lengths and the characters that RFC 8445 wants, and never repeat")
    func iceCredentials() {
        let first = SecureRandom.iceCredentials()
        let second = SecureRandom.iceCredentials()
        #expect(first.usernameFragment.utf8.count == 8)
        #expect(first.password.utf8.count == 24)
        #expect(first != second)
        let allowed = (first.usernameFragment + first.password).allSatisfy { character in
            character.isASCII && (character.isLetter || character.isNumber || character == "+" || character == "/")
        }
        #expect(allowed)
    }

    @Test("random bytes are as many as asked for, and differ")
    func randomBytes() {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(-1).isEmpty)
        #expect(SecureRandom.bytes(32).count == 32)
        #expect(SecureRandom.bytes(32) != SecureRandom.bytes(32))
        #expect(SecureRandom.uint64() != SecureRandom.uint64())
        #expect(Set((0..<4).map { _ in SecureRandom.uint32() }).count > 1)
    }
}
