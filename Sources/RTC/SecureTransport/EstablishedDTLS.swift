internal import COpenSSL

/// What a DTLS 1.2 session needs once its handshake is over. OpenSSL's session would take 42 KB for the same.
///
/// From then on, we send only our last flight again and a close_notify over DTLS. Both are made in advance. The peer's
/// records are decrypted with AES-GCM (RFC 5288), which all our cipher suites use; those that have no ``Event`` are
/// ignored. Belongs to the session's thread.
final class EstablishedDTLS {
    /// The meaning of a datagram of the peer's.
    enum Event: Equatable {
        case nothing
        /// The peer has sent its last flight again, since it has not received ours.
        case repeatedFlight
        /// The peer has closed the session.
        case closed
        /// The peer has ended the session with this alert (RFC 5246 section 7.2).
        case failed(alert: UInt8)
    }

    /// Our last flight as server, in datagrams; empty for a client, whose last flight the peer has answered.
    let lastFlight: [[UInt8]]
    /// The datagrams that close the session.
    let closeNotify: [[UInt8]]
    /// The peer's key, 16 or 32 bytes, and the 4 bytes that its nonces begin with.
    private var key: [UInt8]
    private var salt: [UInt8]
    /// The lowest sequence number that the next record may have.
    private var nextNumber: UInt64 = 0

    private static let saltCount = 4
    private static let tagCount = 16
    /// The size of the part of a nonce that is in the record.
    private static let nonceCount = DTLSContext.encryptionOverhead - tagCount
    private static let finished: UInt8 = 20
    private static let closeNotifyAlert: UInt8 = 0
    private static let fatalLevel: UInt8 = 2

    /// Creates a session whose peer has this key and salt.
    init(key: [UInt8], salt: [UInt8], lastFlight: [[UInt8]] = [], closeNotify: [[UInt8]] = []) {
        self.key = key
        self.salt = salt
        self.lastFlight = lastFlight
        self.closeNotify = closeNotify
    }

    /// Takes the keys of a session of OpenSSL's, whose handshake is over. Nil if OpenSSL can't derive them.
    ///
    ///     +------------------+------------------+-------------------+-------------------+
    ///     | client write key | server write key | client write salt | server write salt |
    ///     |     16 or 32     |     16 or 32     |         4         |         4         |
    ///     +------------------+------------------+-------------------+-------------------+
    convenience init?(
        of session: OpaquePointer, role: DTLSTransport.Role, lastFlight: [[UInt8]], closeNotify: [[UInt8]]
    ) {
        let keyCount = Int(SSL_CIPHER_get_bits(SSL_get_current_cipher(session), nil)) / 8
        var block = [UInt8](repeating: 0, count: 2 * (keyCount + Self.saltCount))
        defer { OPENSSL_cleanse(&block, block.count) }
        guard shim_SSL_key_block(session, &block, block.count) == 1 else { return nil }
        let (keyStart, saltStart) = role == .server ? (0, 0) : (keyCount, Self.saltCount)
        self.init(
            key: Array(block.dropFirst(keyStart).prefix(keyCount)),
            salt: Array(block.dropFirst(2 * keyCount + saltStart).prefix(Self.saltCount)),
            lastFlight: lastFlight, closeNotify: closeNotify)
    }

    deinit {
        OPENSSL_cleanse(&key, key.count)
        OPENSSL_cleanse(&salt, salt.count)
    }

    /// Reads the records of a datagram, as ``DTLSRecord/acceptable(in:)`` returns them.
    func read(_ records: [UInt8]) -> Event {
        var event = Event.nothing
        var rest = records[...]
        while let next = DTLSRecord.first(of: rest) {
            rest = rest.dropFirst(next.count)
            let record = Array(next)
            guard isExpected(record) else { continue }
            // One record that isn't the peer's shows that none is. A forged datagram costs no more than one decryption.
            guard let content = open(record) else { break }
            if record[0] == DTLSRecord.handshake {
                if content.first == Self.finished { event = .repeatedFlight }
            } else if content.count == 2 {
                if content[1] == Self.closeNotifyAlert { return .closed }
                if content[0] == Self.fatalLevel { return .failed(alert: content[1]) }
            }
        }
        return event
    }

    /// Whether `record` is an alert or a handshake message with the keys of the handshake, newer than those before.
    private func isExpected(_ record: [UInt8]) -> Bool {
        guard record.count > DTLSRecord.headerCount + DTLSContext.encryptionOverhead,
            record[0] == DTLSRecord.alert || record[0] == DTLSRecord.handshake,
            // The epoch of the handshake's keys.
            record[3] == 0, record[4] == 1
        else { return false }
        return Self.number(of: record) >= nextNumber
    }

    /// The sequence number of `record`, of 48 bits.
    private static func number(of record: [UInt8]) -> UInt64 {
        record[5..<11].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// The content of `record`, which is expected. Nil if it isn't the peer's.
    private func open(_ record: [UInt8]) -> [UInt8]? {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let start = DTLSRecord.headerCount + Self.nonceCount
        let count = record.count - start - Self.tagCount
        let nonce: [UInt8] = salt + record[DTLSRecord.headerCount..<start]
        // Epoch and sequence number, type, version, and length (RFC 6347 section 4.1.2.1, RFC 5246 section 6.2.3.3).
        var clear = Array(record[3..<11])
        clear += record[0..<3]
        clear += [UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
        let sealed = Array(record[start..<start + count])
        var tag = Array(record[(start + count)...])
        var content = [UInt8](repeating: 0, count: count)
        var written: Int32 = 0
        let type = key.count == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm()
        guard EVP_DecryptInit_ex(context, type, nil, key, nonce) == 1,
            shim_EVP_CIPHER_CTX_set_tag(context, &tag, tag.count) == 1,
            EVP_DecryptUpdate(context, nil, &written, clear, Int32(clear.count)) == 1,
            EVP_DecryptUpdate(context, &content, &written, sealed, Int32(sealed.count)) == 1,
            EVP_DecryptFinal_ex(context, &tag, &written) == 1
        else {
            ERR_clear_error()
            return nil
        }
        nextNumber = Self.number(of: record) + 1
        return content
    }
}
