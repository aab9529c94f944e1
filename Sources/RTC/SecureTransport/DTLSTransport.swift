internal import COpenSSL
public import MediaTypes

/// A DTLS 1.2 session, which negotiates the keys for SRTP (RFC 5764). It does no I/O: datagrams go in and come out.
///
/// Not thread-safe: it belongs to the thread that handles its peer's datagrams. Pass it only datagrams from an address
/// that ICE has validated: before the keys are established, DTLS can't tell who sent a record.
///
///     datagrams ──▶ handle(datagram:now:) ─▶ OpenSSL ─▶ takeOutgoing() ──▶ datagrams
///                   handleTimeout(now:)   ─▶         ─▶ state, nextTimeout(now:)
///
/// OpenSSL uses its own clock for retransmission timeouts; the caller's `now` only converts them to the caller's clock.
/// The time limit for the whole handshake follows only `now`. Once the handshake is over, OpenSSL's session is freed,
/// and an `EstablishedDTLS` takes its place.
public final class DTLSTransport {
    /// The side of the handshake, which determines who sends the first message.
    public enum Role: Sendable {
        /// Waits for the ClientHello: `a=setup:passive`.
        case server
        /// Sends the ClientHello: `a=setup:active`.
        case client
    }

    /// The state of a session.
    public enum State: Equatable, Sendable {
        case handshaking
        /// The peer has proved that it is the one in its session description, and these are the keys. A client has them
        /// as soon as it has sent its last flight, before the peer has answered it; see ``isComplete``.
        case connected(SRTPKeys)
        /// The session was closed in an orderly way, by the peer or by us.
        case closed
        case failed(SecureTransportError)
    }

    /// The session's state.
    public private(set) var state = State.handshaking
    /// Whether the handshake is over. If not, ``nextTimeout(now:)`` matters even in the state `connected`.
    public private(set) var isComplete = false
    /// Our role in the handshake.
    public let role: Role

    /// The time limit for the handshake: OpenSSL gives up by itself, with other words, after its thirteenth timeout,
    /// which comes after 21 s.
    public static let handshakeLimit = Interval.seconds(20)
    /// The limit on handshake bytes from the peer. A handshake needs about 4 KB, and parts of that several times on a
    /// bad path.
    private static let handshakeByteLimit = 256 * 1024
    /// The maximum number of datagrams kept until the caller takes them. The oldest one is dropped, as on a full
    /// socket.
    private static let outgoingLimit = 64
    /// The longest datagram accepted. OpenSSL reads a datagram in one call, into a buffer slightly larger than this.
    private static let maxDatagram = 16 * 1024

    private let context: DTLSContext
    /// OpenSSL's session; nil once there is `established`.
    private var session: OpaquePointer?
    private var established: EstablishedDTLS?
    /// The two BIOs, owned by the session.
    private let input: OpaquePointer
    private let output: OpaquePointer
    private let fingerprint: CertificateFingerprint
    private let datagramLimit: Int
    private var outgoing: [[UInt8]] = []
    private var handshakeDeadline: MonotonicTime?
    private var handshakeByteCount = 0

    /// Creates a session that waits for `start(now:)` or for the peer's first datagram.
    ///
    /// - Parameters:
    ///   - context: our certificate and settings.
    ///   - role: our role, which determines who sends the first message.
    ///   - expectedFingerprint: the fingerprint in the peer's session description.
    ///   - mtu: the largest datagram in bytes; at least 256.
    /// - Throws: `opensslFailed`.
    public init(
        context: DTLSContext, role: Role, expectedFingerprint: CertificateFingerprint, mtu: Int = 1200
    ) throws(SecureTransportError) {
        datagramLimit = min(max(mtu, 256), Self.maxDatagram)
        let made = try context.makeSession(role, mtu: datagramLimit)
        self.context = context
        session = made.session
        input = made.input
        output = made.output
        self.role = role
        fingerprint = expectedFingerprint
    }

    deinit {
        SSL_free(session)
    }

    // MARK: Inputs

    /// Starts the handshake's time limit and, as client, the handshake. Further calls do nothing.
    ///
    /// - Throws: the error of `state`, if the start made it `failed`.
    public func start(now: MonotonicTime) throws(SecureTransportError) {
        guard state == .handshaking, handshakeDeadline == nil else { return }
        handshakeDeadline = now + Self.handshakeLimit
        if role == .client { try advance() }
    }

    /// Handles a datagram from the peer. Data that is not DTLS, is malformed, or arrives after the end is ignored.
    ///
    /// - Throws: the error of `state`, if this datagram made it `failed`.
    public func handle(datagram: ArraySlice<UInt8>, now: MonotonicTime) throws(SecureTransportError) {
        guard !isOver, datagram.count <= Self.maxDatagram else { return }
        let records = DTLSRecord.acceptable(in: datagram)
        guard !records.isEmpty else { return }
        if let established { return try follow(established.read(records), of: established) }
        try start(now: now)
        handshakeByteCount += records.count
        guard handshakeByteCount <= Self.handshakeByteLimit else {
            throw fail(.tooMuchHandshakeData(limit: Self.handshakeByteLimit))
        }
        // Whatever OpenSSL left of the previous datagram must not run into this one.
        _ = shim_BIO_reset(input)
        BIO_write(input, records, Int32(records.count))
        try advance()
    }

    /// The time at which to call `handleTimeout(now:)` at the latest; nil if there is nothing to wait for.
    public func nextTimeout(now: MonotonicTime) -> MonotonicTime? {
        guard isShakingHands, let handshakeDeadline else { return nil }
        var remaining = timeval()
        guard shim_DTLSv1_get_timeout(session, &remaining) == 1 else { return handshakeDeadline }
        let wait = Interval.seconds(Int64(remaining.tv_sec)) + .microseconds(Int64(remaining.tv_usec))
        return min(handshakeDeadline, now + wait)
    }

    /// Retransmits the last flight if it is due. May be called at any time.
    ///
    /// - Throws: the error of `state`, if this made it `failed`.
    public func handleTimeout(now: MonotonicTime) throws(SecureTransportError) {
        guard isShakingHands, let handshakeDeadline else { return }
        guard now < handshakeDeadline else {
            throw fail(.handshakeTimedOut(seconds: Self.handshakeLimit.nanoseconds / 1_000_000_000))
        }
        ERR_clear_error()
        let status = shim_DTLSv1_handle_timeout(session)
        keep(takeOutput())
        guard status >= 0 else {
            throw fail(.handshakeFailed(reason: SecureTransportError.takeOpenSSLReason() ?? "no answer"))
        }
    }

    /// Sends the peer a close_notify, if the handshake is over, and makes `state` `closed`. Further calls do nothing.
    public func close() {
        guard !isOver else { return }
        state = .closed
        if let established { keep(established.closeNotify) }
    }

    // MARK: Outputs

    /// Returns the datagrams to send to the peer, in order, and empties the queue.
    public func takeOutgoing() -> [[UInt8]] {
        defer { outgoing.removeAll() }
        return outgoing
    }

    // MARK: OpenSSL

    private func advance() throws(SecureTransportError) {
        defer { keep(takeOutput()) }
        try shakeHands()
        guard isComplete else { return }
        try read()
        if case .connected = state { try establish() }
    }

    private var isOver: Bool {
        switch state {
        case .handshaking, .connected: false
        case .closed, .failed: true
        }
    }

    private var isShakingHands: Bool { !isOver && !isComplete }

    private func shakeHands() throws(SecureTransportError) {
        ERR_clear_error()
        let status = SSL_do_handshake(session)
        if status == 1 {
            isComplete = true
            return try connect()
        }
        let error = SSL_get_error(session, status)
        if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE {
            // Without a common profile, the peer finds that out as well when the handshake is complete.
            let canBegin = SSL_get_state(session) == TLS_ST_CW_FINISHED
            if canBegin, SSL_get_selected_srtp_profile(session) != nil { try connect() }
            return
        }
        throw fail(.handshakeFailed(reason: SecureTransportError.takeOpenSSLReason() ?? "error \(error)"))
    }

    /// Exports the keys. The handshake has proved that the peer has its certificate's private key; the certificate
    /// itself is checked here.
    ///
    /// A client needn't wait for the peer's last flight (False Start, RFC 7918), which saves a round trip. The peer has
    /// signed its key share and our random value by then, so no third party can have these keys. That flight only
    /// proves that the list of algorithms in our ClientHello, which contains nothing weak, was not changed.
    private func connect() throws(SecureTransportError) {
        guard state == .handshaking else { return }
        guard let certificate = SSL_get1_peer_certificate(session) else { throw fail(.noPeerCertificate) }
        defer { X509_free(certificate) }
        guard fingerprint.matches(certificate) else {
            writeCloseNotify()
            throw fail(.fingerprintMismatch(algorithm: fingerprint.algorithm.rawValue))
        }
        guard let selected = SSL_get_selected_srtp_profile(session),
            let profile = SRTPProfile(identifier: UInt(selected.pointee.id))
        else {
            writeCloseNotify()
            throw fail(.noSRTPProfile)
        }
        var exported = [UInt8](repeating: 0, count: SRTPKeys.exportedCount(for: profile))
        defer { OPENSSL_cleanse(&exported, exported.count) }
        let label = SRTPKeys.exporterLabel
        let status = SSL_export_keying_material(session, &exported, exported.count, label, label.utf8.count, nil, 0, 0)
        guard status == 1, let keys = SRTPKeys(profile: profile, exported: exported, role: role) else {
            throw fail(.openssl("export the SRTP keys"))
        }
        state = .connected(keys)
    }

    /// Reads the records that have come with the peer's last flight, or before it: perhaps a close_notify or an alert.
    /// Application data is discarded.
    private func read() throws(SecureTransportError) {
        var scratch = [UInt8](repeating: 0, count: 2_048)
        while true {
            ERR_clear_error()
            let count = SSL_read(session, &scratch, Int32(scratch.count))
            if count > 0 { continue }
            switch SSL_get_error(session, count) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
                return
            case SSL_ERROR_ZERO_RETURN:
                writeCloseNotify()
                state = .closed
                return
            case let error:
                throw fail(.connectionFailed(reason: SecureTransportError.takeOpenSSLReason() ?? "error \(error)"))
            }
        }
    }

    /// Makes what may still be needed of OpenSSL's session, and frees it.
    private func establish() throws(SecureTransportError) {
        let flight = takeOutput()
        keep(flight)
        writeCloseNotify()
        guard let session,
            let established = EstablishedDTLS(
                of: session, role: role, lastFlight: role == .server ? DTLSRecord.lastFlight(in: flight) : [],
                closeNotify: takeOutput())
        else { throw fail(.openssl("derive the keys of DTLS")) }
        self.established = established
        SSL_free(session)
        self.session = nil
    }

    /// Acts on what the peer has sent after the handshake.
    private func follow(_ event: EstablishedDTLS.Event, of established: EstablishedDTLS) throws(SecureTransportError) {
        switch event {
        case .nothing: break
        case .repeatedFlight: keep(established.lastFlight)
        case .closed: close()
        case .failed(let alert): throw fail(.connectionFailed(reason: "alert \(alert)"))
        }
    }

    private func writeCloseNotify() {
        ERR_clear_error()
        _ = SSL_shutdown(session)
        ERR_clear_error()
    }

    private func fail(_ error: SecureTransportError) -> SecureTransportError {
        keep(takeOutput())  // Perhaps an alert that tells the peer.
        state = .failed(error)
        return error
    }

    /// Keeps datagrams for the caller to take.
    private func keep(_ datagrams: [[UInt8]]) {
        outgoing += datagrams
        if outgoing.count > Self.outgoingLimit { outgoing.removeFirst(outgoing.count - Self.outgoingLimit) }
    }

    /// The records that OpenSSL has written, in datagrams.
    private func takeOutput() -> [[UInt8]] {
        let count = session == nil ? 0 : BIO_ctrl_pending(output)
        guard count > 0 else { return [] }
        var records = [UInt8](repeating: 0, count: count)
        let read = BIO_read(output, &records, Int32(clamping: count))
        guard read > 0 else { return [] }
        return DTLSRecord.datagrams(of: Array(records.prefix(Int(read))), limit: datagramLimit)
    }
}
