import CGLib

/// The credentials of a TLS server: a certificate, its chain, and the private key.
///
/// The `Sendable` conformance is unchecked: nothing changes after `init`, and GLib's reference counts are atomic.
public final class TLSCertificate: @unchecked Sendable {
    /// The names in the certificate that may appear in a Host header, without wildcards.
    public let names: [String]
    let certificate: UnsafeMutablePointer<GTlsCertificate>

    /// Parses PEM with the server's certificate first, followed by its chain. The private key may be anywhere and must
    /// not be encrypted. The caller must ensure that key and certificate belong together.
    ///
    /// - Throws: `noTLS` if GLib has no TLS backend, or `certificate` with GLib's reason.
    public init(pem: String, names: [String]) throws(SignallingError) {
        guard GLibTypes.haveTLS else {
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
