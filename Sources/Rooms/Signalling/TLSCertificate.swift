import CGLib

/// What a server shows over TLS: a certificate, those that vouch for it, and the key that goes with it.
public final class TLSCertificate: @unchecked Sendable {
    /// What the certificate is good for: names, without wildcards, as they stand in a Host header.
    public let names: [String]
    /// Never written after `init`, and counted in a way that any thread may.
    let certificate: UnsafeMutablePointer<GTlsCertificate>

    /// Takes PEM with the server's own certificate first, the ones that vouch for it behind it, and the private key, not
    /// encrypted, anywhere. Whether key and certificate belong together is for the caller to know.
    public init(pem: String, names: [String]) throws(SignallingError) {
        guard g_tls_backend_supports_tls(g_tls_backend_get_default()) != 0 else {
            throw .noTLS
        }
        var error: UnsafeMutablePointer<GError>?
        guard let certificate = g_tls_certificate_new_from_pem(pem, -1, &error) else {
            defer { g_clear_error(&error) }
            throw .certificate(error.map { String(cString: $0.pointee.message) } ?? "no reason given")
        }
        self.certificate = certificate
        self.names = names
    }

    deinit {
        g_object_unref(certificate)
    }
}
