internal import COpenSSL

/// The hash of a certificate's DER form, as an SDP `a=fingerprint` line has it (RFC 8122 section 5).
public struct CertificateFingerprint: Hashable, Sendable {
    /// A hash function that a fingerprint may be made with. MD5 and SHA-1 are not among them (RFC 8122 section 5).
    public enum Algorithm: String, CaseIterable, Sendable {
        case sha256 = "sha-256"
        case sha384 = "sha-384"
        case sha512 = "sha-512"

        /// How many bytes its result has.
        public var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }

        var digest: OpaquePointer? {
            switch self {
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        }
    }

    /// The hash function.
    public let algorithm: Algorithm
    /// Its result; `algorithm.byteCount` bytes.
    public let bytes: [UInt8]

    /// A fingerprint with a known function.
    ///
    /// - Throws: `wrongFingerprintLength` when there are not as many bytes as the function gives.
    public init(algorithm: Algorithm, bytes: [UInt8]) throws(SecureTransportError) {
        guard bytes.count == algorithm.byteCount else {
            throw .wrongFingerprintLength(
                algorithm: algorithm.rawValue, expected: algorithm.byteCount, got: bytes.count)
        }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// A fingerprint whose function is given by its SDP name, in any case of letters.
    ///
    /// - Throws: `unknownFingerprintAlgorithm` or `wrongFingerprintLength`.
    public init(algorithmName: String, bytes: [UInt8]) throws(SecureTransportError) {
        guard let algorithm = Algorithm(rawValue: algorithmName.lowercased()) else {
            throw .unknownFingerprintAlgorithm(algorithmName)
        }
        try self.init(algorithm: algorithm, bytes: bytes)
    }

    /// The value of an `a=fingerprint` line: "sha-256 AB:CD:…", upper case.
    public var sdpValue: String {
        let hexadecimal = bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return algorithm.rawValue + " " + hexadecimal.joined(separator: ":")
    }

    /// The fingerprint of an X509 object, which stays the caller's; nil when OpenSSL fails.
    init?(of certificate: OpaquePointer, algorithm: Algorithm) {
        var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(certificate, algorithm.digest, &result, &count) == 1, count == algorithm.byteCount else {
            return nil
        }
        self.algorithm = algorithm
        bytes = Array(result.prefix(Int(count)))
    }

    /// Whether an X509 object is the one that this is the fingerprint of; in constant time for the bytes.
    func matches(_ certificate: OpaquePointer) -> Bool {
        guard let actual = CertificateFingerprint(of: certificate, algorithm: algorithm) else { return false }
        return Authentication.areEqual(actual.bytes, bytes)
    }
}
