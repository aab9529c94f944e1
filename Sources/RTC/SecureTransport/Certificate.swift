internal import COpenSSL

/// A self-signed ECDSA P-256 certificate and its private key, made in memory when the program starts.
///
/// Its name and its signature aren't checked: the peer compares its fingerprint with the one in our session description
/// (RFC 8827 section 6.5). So a new certificate for each run is enough, and nothing needs to be stored in a file.
///
/// The `Sendable` conformance is unchecked: both objects are only read after `init`, and OpenSSL's reference counts are
/// atomic.
public final class Certificate: @unchecked Sendable {
    /// X509, owned.
    let certificate: OpaquePointer
    /// EVP_PKEY, owned.
    let privateKey: OpaquePointer
    /// The SHA-256 fingerprint for our session descriptions.
    public let fingerprint: CertificateFingerprint

    private static let daySeconds = 24 * 60 * 60

    /// Creates a key and a certificate with a random serial number, valid for a year from yesterday, since clocks
    /// differ.
    ///
    /// - Throws: `opensslFailed`.
    public init() throws(SecureTransportError) {
        guard let key = shim_EVP_EC_gen_p256() else { throw .openssl("make a P-256 key") }
        guard let certificate = X509_new() else {
            EVP_PKEY_free(key)
            throw .openssl("make a certificate")
        }
        guard Self.fill(certificate, key: key),
            let fingerprint = CertificateFingerprint(of: certificate, algorithm: .sha256)
        else {
            X509_free(certificate)
            EVP_PKEY_free(key)
            throw .openssl("sign a certificate")
        }
        self.certificate = certificate
        self.privateKey = key
        self.fingerprint = fingerprint
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(privateKey)
    }

    /// Fills in and signs a certificate that ends in `days`, with extensions as in OpenSSL's configuration files.
    static func fill(
        _ certificate: OpaquePointer, key: OpaquePointer, days: Int = 365,
        extensions: [(kind: Int32, text: String)] = []
    ) -> Bool {
        var random = SecureRandom()
        let serial = UInt64.random(in: 1...UInt64(Int64.max), using: &random)
        let name = X509_get_subject_name(certificate)
        let commonName = Array("ScreenRelay".utf8)
        return X509_set_version(certificate, 2) == 1  // 2 means version 3.
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1
            && X509_gmtime_adj(X509_getm_notBefore(certificate), -daySeconds) != nil
            && X509_gmtime_adj(X509_getm_notAfter(certificate), days * daySeconds) != nil
            // The count is passed explicitly because the array is not zero-terminated.
            && X509_NAME_add_entry_by_txt(name, "CN", shim_MBSTRING_ASC, commonName, Int32(commonName.count), -1, 0)
                == 1
            && X509_set_issuer_name(certificate, name) == 1
            && X509_set_pubkey(certificate, key) == 1
            && extensions.allSatisfy { add($0.kind, $0.text, to: certificate) }
            && X509_sign(certificate, key, EVP_sha256()) > 0
    }

    private static func add(_ kind: Int32, _ text: String, to certificate: OpaquePointer) -> Bool {
        guard let made = X509V3_EXT_conf_nid(nil, nil, kind, text) else { return false }
        defer { X509_EXTENSION_free(made) }
        // It is copied.
        return X509_add_ext(certificate, made, -1) == 1
    }
}
