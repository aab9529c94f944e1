import ByteCoding
import COpenSSL

/// What encrypted connections share: TLS with the token of the capture link, or with a server's certificate.
///
/// With a token, it is TLS 1.3 with an external pre-shared key (RFC 8446 section 2.2), and nothing else. The key
/// exchange is X25519 as well as the key (`psk_dhe_ke`), so what was recorded stays secret if the token becomes known
/// later. The only cipher suite is ChaCha20-Poly1305: unlike AES-GCM, it has no limit on the records under one key
/// (RFC 8446 section 5.5) that a link which lasts for months could reach.
///
/// With a certificate, it is TLS 1.2 or 1.3 with OpenSSL's cipher suites, which the clients of other programs have.
///
/// Nothing changes after `init`, and OpenSSL's reference counts are atomic: its connections may be on different
/// threads.
public final class SocketEncryption {
    /// What the key is derived with. It is shorter than the messages of `LinkProof`, which uses the token too, so a
    /// code of one can never be the key of the other.
    private static let label = "ScreenRelay link, TLS key"
    /// The name of the key. A host has only one.
    private static let identity = "ScreenRelay link"

    /// SSL_CTX, owned.
    let context: OpaquePointer
    /// Nil if there is a certificate instead.
    private let key: [UInt8]?

    /// Derives the key from the token.
    convenience init(token: LinkToken) throws(SocketError) {
        let key = HMACSHA256.code(of: Array(SocketEncryption.label.utf8), key: token.bytes)
        try self.init(key: key) { SocketEncryption.useKey(in: $0) }
    }

    /// Shows a server's certificate to clients.
    ///
    /// - Parameter pem: the server's certificate, further ones up to an authority's, and the private key, in PEM.
    /// - Throws: `encryption` if they can't be used.
    public convenience init(certificate pem: String) throws(SocketError) {
        try self.init(key: nil) { SocketEncryption.use(Array(pem.utf8), in: $0) }
    }

    private init(key: [UInt8]?, _ authenticate: (OpaquePointer) -> Bool) throws(SocketError) {
        // What other calls have left isn't the reason for a failure here.
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_method()) else { throw Self.failure() }
        guard Self.configure(context), authenticate(context) else {
            SSL_CTX_free(context)
            throw Self.failure()
        }
        self.context = context
        self.key = key
        SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// Whether clients see a certificate, and don't have to prove anything.
    var hasCertificate: Bool { key == nil }

    private static func configure(_ context: OpaquePointer) -> Bool {
        // Each connection has a handshake of its own, and only one: nothing is resumed.
        SSL_CTX_set_options(context, shim_SSL_OP_NO_TICKET | shim_SSL_OP_NO_RENEGOTIATION)
        _ = shim_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        // What the socket doesn't take waits in a queue, whose memory moves.
        _ = shim_SSL_CTX_set_mode(context, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
        return shim_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1
            && SSL_CTX_set_num_tickets(context, 0) == 1
    }

    private static func useKey(in context: OpaquePointer) -> Bool {
        SSL_CTX_set_psk_client_callback(context) { session, _, identity, identityLimit, key, keyLimit in
            SocketEncryption.giveKey(of: session, naming: identity, identityLimit, key, keyLimit)
        }
        SSL_CTX_set_psk_server_callback(context) { session, identity, key, limit in
            guard let identity, String(cString: identity) == SocketEncryption.identity else { return 0 }
            return SocketEncryption.copyKey(of: session, to: key, limit)
        }
        return shim_SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1
            && shim_SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1
            && SSL_CTX_set_ciphersuites(context, "TLS_CHACHA20_POLY1305_SHA256") == 1
            && shim_SSL_CTX_set1_groups_list(context, "X25519") == 1
    }

    private static func use(_ pem: [UInt8], in context: OpaquePointer) -> Bool {
        pem.withUnsafeBytes { pem -> Bool in
            guard let memory = BIO_new_mem_buf(pem.baseAddress, Int32(clamping: pem.count)) else { return false }
            defer { BIO_free(memory) }
            guard let own = PEM_read_bio_X509(memory, nil, nil, nil) else { return false }
            defer { X509_free(own) }
            guard SSL_CTX_use_certificate(context, own) == 1 else { return false }
            while let further = PEM_read_bio_X509(memory, nil, nil, nil) {
                // The context owns it from here on.
                guard shim_SSL_CTX_add0_chain_cert(context, further) == 1 else {
                    X509_free(further)
                    return false
                }
            }
            // The end of the certificates is an error of OpenSSL's.
            ERR_clear_error()
            _ = shim_BIO_reset(memory)
            // By default, OpenSSL asks on the terminal for the password of an encrypted key.
            guard let key = PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil) else { return false }
            defer { EVP_PKEY_free(key) }
            return SSL_CTX_use_PrivateKey(context, key) == 1
        }
    }

    /// Writes the key's name with a NUL at its end, and the key. Returns the key's length, or 0 if there is no room.
    private static func giveKey(
        of session: OpaquePointer?, naming name: UnsafeMutablePointer<CChar>?, _ nameLimit: UInt32,
        _ key: UnsafeMutablePointer<UInt8>?, _ limit: UInt32
    ) -> UInt32 {
        let bytes = Array(identity.utf8CString)
        guard let name, bytes.count <= Int(nameLimit) else { return 0 }
        name.update(from: bytes, count: bytes.count)
        return copyKey(of: session, to: key, limit)
    }

    private static func copyKey(
        of session: OpaquePointer?, to place: UnsafeMutablePointer<UInt8>?, _ limit: UInt32
    ) -> UInt32 {
        guard let session, let place, let context = SSL_get_SSL_CTX(session),
            let data = SSL_CTX_get_ex_data(context, 0)
        else { return 0 }
        guard let key = Unmanaged<SocketEncryption>.fromOpaque(data).takeUnretainedValue().key, key.count <= Int(limit)
        else { return 0 }
        place.update(from: key, count: key.count)
        return UInt32(key.count)
    }

    /// The error for the call of OpenSSL that just failed; empties this thread's error queue.
    static func failure() -> SocketError {
        let code = ERR_get_error()
        ERR_clear_error()
        let reason = code == 0 ? nil : ERR_reason_error_string(code).map { String(cString: $0) }
        return .encryption(reason: reason ?? "no reason given")
    }
}
