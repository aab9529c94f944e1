import ByteCoding
import COpenSSL

/// What the encrypted links of one token share: TLS 1.3 with an external pre-shared key (RFC 8446 section 2.2), and
/// nothing else.
///
/// The key exchange is X25519 as well as the key (`psk_dhe_ke`), so what was recorded stays secret if the token becomes
/// known later. The only cipher suite is ChaCha20-Poly1305: unlike AES-GCM, it has no limit on the records under one
/// key (RFC 8446 section 5.5) that a link which lasts for months could reach.
///
/// Not thread-safe: it belongs to the thread of its connections.
final class LinkEncryption {
    /// What the key is derived with. It is shorter than the messages of `LinkProof`, which uses the token too, so a
    /// code of one can never be the key of the other.
    private static let label = "ScreenRelay link, TLS key"
    /// The name of the key. A host has only one.
    private static let identity = "ScreenRelay link"

    /// SSL_CTX, owned.
    let context: OpaquePointer
    private let key: [UInt8]

    /// Derives the key from the token.
    init(token: LinkToken) throws(LinkTransportError) {
        guard let context = SSL_CTX_new(TLS_method()) else { throw Self.failure() }
        guard Self.configure(context) else {
            SSL_CTX_free(context)
            throw Self.failure()
        }
        self.context = context
        key = HMACSHA256.code(of: Array(Self.label.utf8), key: token.bytes)
        SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        SSL_CTX_free(context)
    }

    private static func configure(_ context: OpaquePointer) -> Bool {
        // Each connection has a handshake of its own: nothing is resumed.
        SSL_CTX_set_options(context, shim_SSL_OP_NO_TICKET)
        _ = shim_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        // What the socket doesn't take waits in a queue, whose memory moves.
        _ = shim_SSL_CTX_set_mode(context, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
        SSL_CTX_set_psk_client_callback(context) { session, _, identity, identityLimit, key, keyLimit in
            LinkEncryption.giveKey(of: session, naming: identity, identityLimit, key, keyLimit)
        }
        SSL_CTX_set_psk_server_callback(context) { session, identity, key, limit in
            guard let identity, String(cString: identity) == LinkEncryption.identity else { return 0 }
            return LinkEncryption.copyKey(of: session, to: key, limit)
        }
        return shim_SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1
            && shim_SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1
            && SSL_CTX_set_ciphersuites(context, "TLS_CHACHA20_POLY1305_SHA256") == 1
            && shim_SSL_CTX_set1_groups_list(context, "X25519") == 1
            && SSL_CTX_set_num_tickets(context, 0) == 1
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
        let key = Unmanaged<LinkEncryption>.fromOpaque(data).takeUnretainedValue().key
        guard key.count <= Int(limit) else { return 0 }
        place.update(from: key, count: key.count)
        return UInt32(key.count)
    }

    /// The error for the call of OpenSSL that just failed; empties this thread's error queue.
    static func failure() -> LinkTransportError {
        let code = ERR_get_error()
        ERR_clear_error()
        let reason = code == 0 ? nil : ERR_reason_error_string(code).map { String(cString: $0) }
        return .encryption(reason: reason ?? "no reason given")
    }
}
