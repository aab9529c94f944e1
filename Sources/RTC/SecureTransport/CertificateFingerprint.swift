internal import COpenSSL
import MediaTypes

/// The hash of a certificate's DER form, as in an SDP `a=fingerprint` line (RFC 8122 section 5).
public struct CertificateFingerprint: Hashable, Sendable {
    /// A hash function for fingerprints. MD5 and SHA-1 are not allowed (RFC 8122 section 5).
    public enum Algorithm: String, CaseIterable, Sendable {
        case sha256 = "sha-256"
        case sha384 = "sha-384"
        case sha512 = "sha-512"

        /// The size of the hash in bytes.
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
    /// The hash, of `algorithm.byteCount` bytes.
    public let bytes: [UInt8]

    /// Creates a fingerprint with a known hash function.
    ///
    /// - Throws: `wrongFingerprintLength` if the number of bytes does not match the hash function.
    public init(algorithm: Algorithm, bytes: [UInt8]) throws(SecureTransportError) {
        guard bytes.count == algorithm.byteCount else {
            throw .wrongFingerprintLength(
                algorithm: algorithm.rawValue, expected: algorithm.byteCount, got: bytes.count)
        }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Creates a fingerprint whose hash function is given by its SDP name, in upper or lower case.
    ///
    /// - Throws: `unknownFingerprintAlgorithm` or `wrongFingerprintLength`.
    public init(algorithmName: String, bytes: [UInt8]) throws(SecureTransportError) {
        guard let algorithm = Algorithm(rawValue: algorithmName.lowercased()) else {
            throw .unknownFingerprintAlgorithm(algorithmName)
        }
        try self.init(algorithm: algorithm, bytes: bytes)
    }

    /// The value of an `a=fingerprint` line, in upper case: "sha-256 AB:CD:…".
    public var sdpValue: String { algorithm.rawValue + " " + hexadecimal }

    /// The hash as people compare it, in upper case: "AB:CD:…".
    public var hexadecimal: String { bytes.hexadecimal(separator: ":", uppercase: true) }

    /// The fingerprint of an X509 object, which the caller keeps; nil if OpenSSL fails.
    init?(of certificate: OpaquePointer, algorithm: Algorithm) {
        var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(certificate, algorithm.digest, &result, &count) == 1, count == algorithm.byteCount else {
            return nil
        }
        self.algorithm = algorithm
        bytes = Array(result.prefix(Int(count)))
    }

    /// Whether this is the fingerprint of an X509 object. Compares in constant time.
    func matches(_ certificate: OpaquePointer) -> Bool {
        guard let actual = CertificateFingerprint(of: certificate, algorithm: algorithm) else { return false }
        return Authentication.areEqual(actual.bytes, bytes)
    }
}
