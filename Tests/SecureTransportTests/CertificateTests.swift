import SecureTransport
import Testing

@Suite("Certificates and fingerprints")
struct CertificateTests {
    @Test("each certificate has a fingerprint of its own")
    func distinct() throws {
        let (first, second) = (try Certificate(), try Certificate())
        #expect(first.fingerprint != second.fingerprint)
        #expect(first.fingerprint.algorithm == .sha256)
        #expect(first.fingerprint.bytes.count == 32)
    }

    @Test("a fingerprint is written as SDP wants it")
    func sdpValue() throws {
        let fingerprint = try CertificateFingerprint(algorithm: .sha256, bytes: [0x0A, 0xFF] + Array(0..<30))
        #expect(fingerprint.sdpValue.hasPrefix("sha-256 0A:FF:00:01:"))
        #expect(fingerprint.sdpValue.utf8.count == 8 + 32 * 3 - 1)
    }

    @Test("the hash function's name is taken in any case, and only with the right number of bytes")
    func names() throws {
        let bytes = [UInt8](repeating: 1, count: 48)
        #expect(try CertificateFingerprint(algorithmName: "SHA-384", bytes: bytes).algorithm == .sha384)
        #expect(throws: SecureTransportError.unknownFingerprintAlgorithm("sha-1")) {
            try CertificateFingerprint(algorithmName: "sha-1", bytes: bytes)
        }
        #expect(throws: SecureTransportError.wrongFingerprintLength(algorithm: "sha-512", expected: 64, got: 48)) {
            try CertificateFingerprint(algorithmName: "sha-512", bytes: bytes)
        }
    }
}
