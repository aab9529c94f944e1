internal import COpenSSL
public import MediaTypes

/// The state that all DTLS sessions share: our certificate, and the handshake parameters that we accept (DTLS 1.2
/// only).
///
/// The `Sendable` conformance is unchecked: the context is not changed after `init`, and OpenSSL's reference counts are
/// atomic. Sessions made with it may run on different threads, each session on one.
public final class DTLSContext: @unchecked Sendable {
    /// SSL_CTX, owned.
    let context: OpaquePointer
    /// How long a session waits before it retransmits its first flight.
    let firstRetransmission: Interval
    /// Our certificate, whose fingerprint belongs in each session description.
    public let certificate: Certificate

    /// The cipher suites. ECDSA comes first, because our own certificate uses it; RSA is for peers that act as server
    /// with an RSA certificate. All have forward secrecy and AES-GCM. Every peer supports the first one (RFC 8827
    /// section 6.5).
    private static let ciphers = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
    ].joined(separator: ":")

    /// The groups of key exchanges and of peers' certificates, the preferred one first. OpenSSL has one list for both.
    /// FFmpeg 8 with GnuTLS has a certificate on P-224, which is good enough for one that lives as long as a session;
    /// our own key exchange and certificate use the others.
    private static let groups = "X25519:P-256:P-384:P-224"

    /// The bytes that each cipher suite adds to a record's content: an explicit nonce of 8 and a tag of 16 (RFC 5288).
    static let encryptionOverhead = 8 + 16

    /// The longest certificate chain accepted, in bytes. OpenSSL's default of 100 KB, for each of ten messages that
    /// arrive out of order, would be too much memory for a peer that never completes a handshake.
    private static let maxCertificateChain = 16 * 1024

    /// Creates the state shared by all sessions.
    ///
    /// - Parameters:
    ///   - certificate: our certificate.
    ///   - profiles: the SRTP profiles to offer or choose from, the preferred one first.
    ///   - firstRetransmission: how long to wait for the first answer, clamped to 1 ms to 60 s. Each further wait is
    ///     twice as long, up to 2 s. The default is below DTLS's 1 s (RFC 6347 section 4.2.4.1), because ICE has shown
    ///     that the path works and a viewer is waiting for a picture.
    /// - Throws: `opensslFailed`.
    public init(
        certificate: Certificate, profiles: [SRTPProfile] = [.aeadAES128GCM, .aes128CMHMACSHA1],
        firstRetransmission: Interval = .milliseconds(200)
    ) throws(SecureTransportError) {
        guard let context = SSL_CTX_new(DTLS_method()) else { throw .openssl("make a DTLS context") }
        guard Self.configure(context, certificate: certificate, profiles: profiles) else {
            SSL_CTX_free(context)
            throw .openssl("set up a DTLS context")
        }
        self.context = context
        self.certificate = certificate
        self.firstRetransmission = max(.milliseconds(1), min(.seconds(60), firstRetransmission))
    }

    deinit {
        SSL_CTX_free(context)
    }

    private static func configure(
        _ context: OpaquePointer, certificate: Certificate, profiles: [SRTPProfile]
    ) -> Bool {
        SSL_CTX_set_options(
            context,
            shim_SSL_OP_NO_QUERY_MTU | shim_SSL_OP_NO_TICKET | shim_SSL_OP_NO_RENEGOTIATION
                | shim_SSL_OP_CIPHER_SERVER_PREFERENCE)
        _ = shim_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        _ = shim_SSL_CTX_set_max_cert_list(context, maxCertificateChain)
        // The peer must present a certificate. Any one passes here; its fingerprint is checked after the handshake.
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT) { _, _ in 1 }
        return shim_SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1
            && shim_SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1
            && SSL_CTX_set_cipher_list(context, ciphers) == 1
            && shim_SSL_CTX_set1_groups_list(context, groups) == 1
            && SSL_CTX_use_certificate(context, certificate.certificate) == 1
            && SSL_CTX_use_PrivateKey(context, certificate.privateKey) == 1
            // Unlike the functions above, this one returns 0 on success.
            && SSL_CTX_set_tlsext_use_srtp(context, profiles.map(\.rawValue).joined(separator: ":")) == 0
    }

    // MARK: Sessions

    /// Makes a session of OpenSSL's, which the caller must free, and its two BIOs, which belong to it: `input` is for
    /// the peer's records, and `output` has those for the peer.
    func makeSession(
        _ role: DTLSTransport.Role, mtu: Int
    ) throws(SecureTransportError) -> (session: OpaquePointer, input: OpaquePointer, output: OpaquePointer) {
        guard let session = SSL_new(context) else { throw .openssl("make a DTLS session") }
        guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            SSL_free(session)
            throw .openssl("make a DTLS session's buffers")
        }
        // An empty buffer means "try again later", not the end of the data.
        shim_BIO_set_mem_eof_return(input, -1)
        shim_BIO_set_mem_eof_return(output, -1)
        SSL_set_bio(session, input, output)
        _ = shim_SSL_set_mtu(session, mtu)
        // The callback has no context of its own, so the first wait is passed in the session's application data.
        let firstMicroseconds = Int(firstRetransmission.nanoseconds / 1_000)
        SSL_set_ex_data(session, 0, UnsafeMutableRawPointer(bitPattern: firstMicroseconds))
        DTLS_set_timer_cb(session) { session, previous in
            guard previous == 0 else { return min(max(previous, previous &* 2), 2_000_000) }
            return UInt32(clamping: Int(bitPattern: SSL_get_ex_data(session, 0)))
        }
        switch role {
        case .server: SSL_set_accept_state(session)
        case .client: SSL_set_connect_state(session)
        }
        return (session, input, output)
    }
}
