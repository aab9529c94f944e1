import ByteCoding
import Testing

@Suite("SHA-256 and HMAC")
struct SHA256Tests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func digest(_ bytes: [UInt8], piece: Int = .max) -> String {
        var hash = SHA256()
        var rest = bytes[...]
        while !rest.isEmpty {
            hash.update(rest.prefix(piece))
            rest = rest.dropFirst(min(piece, rest.count))
        }
        return hex(hash.finish())
    }

    @Test(
        "the digests are those of FIPS 180-4's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                    + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func examples(text: String, wanted: String) {
        #expect(digest(Array(text.utf8)) == wanted)
        #expect(digest(Array(text.utf8), piece: 1) == wanted)
    }

    @Test("a message of a million bytes has the digest of FIPS 180-4's example, in whatever pieces it comes")
    func long() {
        let message = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        #expect(
            digest(message, piece: 12_345) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test("messages that end at each place of a block have different digests, also where they come byte by byte")
    func ends() {
        var seen: Set<String> = []
        for count in 0...200 {
            let message = [UInt8](repeating: 0, count: count)
            let whole = digest(message)
            #expect(digest(message, piece: 1) == whole)
            seen.insert(whole)
        }
        #expect(seen.count == 201)
    }

    /// The key, the message and the code of a test case of RFC 4231, section 4; of case 5 the code is cut to 128 bits.
    private static let codes: [(key: [UInt8], message: [UInt8], code: String)] = [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            Array(1...25), [UInt8](repeating: 0xCD, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            [UInt8](repeating: 0x0C, count: 20), Array("Test With Truncation".utf8),
            "a3b6167473100ee06e0c796c2955552b"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ]

    @Test("the codes are those of RFC 4231")
    func codes() {
        for (key, message, code) in Self.codes {
            #expect(hex(HMACSHA256.code(of: message, key: key)).hasPrefix(code))
        }
    }

    @Test("two codes are equal only where all bytes are")
    func equality() {
        let code = HMACSHA256.code(of: [], key: [1])
        #expect(HMACSHA256.areEqual(code, code))
        #expect(!HMACSHA256.areEqual(code, []))
        #expect(!HMACSHA256.areEqual(code, Array(code.dropLast())))
        for index in code.indices {
            var other = code
            other[index] ^= 0x80
            #expect(!HMACSHA256.areEqual(code, other))
        }
    }
}
