import COpenSSL
import Glibc

/// TLS over a connected, non-blocking socket, whose descriptor it uses but doesn't own.
///
/// It never blocks and has no queue: bytes that the socket doesn't accept have to be written again. The end of the
/// socket's stream is the end of the connection, with or without TLS's `close_notify`, because each of the link's
/// messages contains its length.
///
/// Not thread-safe.
final class EncryptedStream {
    /// This process's end of the connection.
    enum End {
        case host, capture
    }

    /// The result of a call that continues the handshake.
    enum Progress {
        /// The handshake is complete: the peer has the same token, if there is one.
        case done
        /// Use poll(2).
        case wouldBlock
        /// The peer has closed its end or is gone.
        case ended
    }

    /// The most content that a record has (RFC 8446 section 5.1). A read of this many bytes leaves none in OpenSSL's
    /// memory, where poll(2) couldn't see it.
    static let maxRecord = 1 << 14
    /// The first byte of a client that begins with a handshake (RFC 8446 section 5.1).
    static let handshakeType: UInt8 = 22

    private let encryption: SocketEncryption
    /// SSL, owned.
    private let session: OpaquePointer
    private let socket: Int32
    private let end: End
    private let remote: String
    /// Whether the handshake is complete, in which the peer has proved that it has the token, if there is one.
    private(set) var isEstablished = false
    /// Whether the last call waits until the socket is writable.
    private(set) var wantsWrite = false
    /// The first byte that the peer has sent; nil before it has arrived.
    private(set) var firstByte: UInt8?
    /// Whether the socket's stream has ended during the current call.
    private var hasEnded = false
    /// The errno of the socket's failure during the current call, or 0.
    private var fault: Int32 = 0

    /// - Parameter remote: the peer's address, for errors.
    init(_ encryption: SocketEncryption, on socket: Int32, _ end: End, remote: String) throws(SocketError) {
        guard let session = SSL_new(encryption.context) else { throw SocketEncryption.failure() }
        guard let method = socketMethod, let bio = BIO_new(method) else {
            SSL_free(session)
            throw SocketEncryption.failure()
        }
        self.encryption = encryption
        self.session = session
        self.socket = socket
        self.end = end
        self.remote = remote
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        // The session owns the BIO from here on.
        SSL_set_bio(session, bio, bio)
        switch end {
        case .host: SSL_set_accept_state(session)
        case .capture:
            // No certificate is accepted instead of the key.
            SSL_set_verify(session, SSL_VERIFY_PEER) { _, _ in 0 }
            SSL_set_connect_state(session)
        }
    }

    deinit {
        SSL_free(session)
    }

    /// Continues the handshake.
    ///
    /// - Throws: `tokenRefused` if the peer doesn't have the token.
    func handshake() throws(SocketError) -> Progress {
        if isEstablished { return .done }
        begin()
        let result = SSL_do_handshake(session)
        guard result == 1 else { return try outcome(of: result, isHandshake: true) }
        guard encryption.hasCertificate || SSL_session_reused(session) == 1 else { throw refusal(reason: 0) }
        isEstablished = true
        return .done
    }

    /// Reads what has arrived into the beginning of the buffer.
    ///
    /// A buffer of `maxRecord` bytes or more never leaves bytes behind that poll(2) doesn't report. With a smaller one,
    /// call this until it returns `wouldBlock`.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> SocketConnection.Received {
        var count = 0
        repeat {
            begin()
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let result = SSL_read(session, room.baseAddress, Int32(clamping: room.count))
            if result > 0 {
                count += Int(result)
            } else if count > 0 {
                // If it was an error, it comes again with the next call.
                break
            } else {
                return try outcome(of: result) == .ended ? .closed : .wouldBlock
            }
        } while buffer.count - count >= Self.maxRecord
        return .bytes(count)
    }

    /// Writes as much as the socket accepts now; returns the number of bytes written.
    ///
    /// If some bytes aren't written, the next call must begin with them, because a part of them may already have been
    /// encrypted.
    ///
    /// - Throws: `closed` if the peer is gone.
    func send(_ bytes: UnsafeRawBufferPointer) throws(SocketError) -> Int {
        guard isEstablished else { return 0 }
        var count = 0
        while count < bytes.count {
            begin()
            let rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
            let result = SSL_write(session, rest.baseAddress, Int32(clamping: rest.count))
            if result > 0 {
                count += Int(result)
            } else if try outcome(of: result) == .ended {
                throw .closed
            } else {
                break
            }
        }
        return count
    }

    private func begin() {
        wantsWrite = false
        hasEnded = false
        fault = 0
        ERR_clear_error()
    }

    /// The outcome of an OpenSSL call that returned `result` and so did nothing.
    private func outcome(of result: Int32, isHandshake: Bool = false) throws(SocketError) -> Progress {
        let code = SSL_get_error(session, result)
        wantsWrite = code == SSL_ERROR_WANT_WRITE
        switch code {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: break
        }
        if hasEnded { return .ended }
        if fault != 0 { throw .system(call: "TLS", subject: remote, code: fault) }
        if isHandshake, !encryption.hasCertificate { throw refusal(reason: ERR_GET_REASON(ERR_peek_error())) }
        throw SocketEncryption.failure()
    }

    /// Informs a peer that doesn't encrypt that this end does: writes TLS's `close_notify`, as it is before a handshake
    /// (RFC 8446 section 6.1). To a peer that does encrypt, it is the orderly end of the connection. If the socket
    /// doesn't accept it, nothing happens.
    func tellEncryption() {
        let (number, alert) = (socket, Self.closeNotify)
        _ = retryingInterrupted { Glibc.send(number, alert, alert.count, Int32(MSG_NOSIGNAL)) }
    }

    /// A record of an alert: its kind and version, its length, the alert's level and its number.
    private static let closeNotify: [UInt8] = [0x15, 3, 3, 0, 2, 1, 0]

    /// The error for a handshake with a token that failed because of what the peer sent.
    private func refusal(reason: Int32) -> SocketError {
        ERR_clear_error()
        switch end {
        case .host where firstByte == UInt8(ascii: "&"):
            tellEncryption()
            return .tokenRefused(
                text: "\(remote) is refused: it doesn't encrypt its link: it was started with tcp:, not tls:")
        case .host: return .tokenRefused(text: "\(remote) is refused: it has not proved that it has the capture key")
        // What a host on tcp: sends first is no TLS record.
        case .capture where reason == SSL_R_WRONG_VERSION_NUMBER:
            return .tokenRefused(text: "the host there doesn't encrypt its link: it was started with tcp:, not tls:")
        case .capture: return .tokenRefused(text: "the host there doesn't have the same --capture-key file")
        }
    }

    /// The BIO's read: 0 at the end of the stream, -1 if there is nothing now or after an error.
    fileprivate func take(_ bytes: UnsafeMutableRawPointer?, _ limit: Int32, _ bio: OpaquePointer?) -> Int32 {
        let number = socket
        let (count, code) = retryingInterrupted { recv(number, bytes, Int(max(0, limit)), 0) }
        note(code, bio, retrying: BIO_FLAGS_READ)
        if code == 0, count == 0 { hasEnded = true }
        if count > 0, firstByte == nil { firstByte = bytes?.load(as: UInt8.self) }
        return code == 0 ? Int32(clamping: count) : -1
    }

    /// The BIO's write.
    fileprivate func give(_ bytes: UnsafeRawPointer?, _ count: Int32, _ bio: OpaquePointer?) -> Int32 {
        let number = socket
        let (taken, code) = retryingInterrupted { Glibc.send(number, bytes, Int(max(0, count)), Int32(MSG_NOSIGNAL)) }
        note(code, bio, retrying: BIO_FLAGS_WRITE)
        return code == 0 ? Int32(clamping: taken) : -1
    }

    private func note(_ code: Int32, _ bio: OpaquePointer?, retrying direction: Int32) {
        BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
        switch code {
        case 0: break
        case EAGAIN, EWOULDBLOCK, ENOBUFS: BIO_set_flags(bio, direction | BIO_FLAGS_SHOULD_RETRY)
        case ECONNRESET, EPIPE: hasEnded = true
        default: fault = code
        }
    }

    fileprivate static func of(_ bio: OpaquePointer?) -> EncryptedStream? {
        BIO_get_data(bio).map { Unmanaged<EncryptedStream>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// How OpenSSL reads and writes the socket of an `EncryptedStream`, which is the BIO's data. OpenSSL's own socket BIO
/// uses write(2), which raises SIGPIPE.
///
/// Made once, because OpenSSL has numbers for only some hundred of them, and not changed after that.
private nonisolated(unsafe) let socketMethod: OpaquePointer? = {
    let kind = BIO_get_new_index()
    guard kind >= 0, let method = BIO_meth_new(kind | BIO_TYPE_SOURCE_SINK, "link") else { return nil }
    BIO_meth_set_read(method) { bio, bytes, limit in EncryptedStream.of(bio)?.take(bytes, limit, bio) ?? -1 }
    BIO_meth_set_write(method) { bio, bytes, count in EncryptedStream.of(bio)?.give(bytes, count, bio) ?? -1 }
    // There is nothing to flush; OpenSSL asks for it all the same.
    BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
    return method
}()
