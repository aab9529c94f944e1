internal import COpenSSL

/// An error in certificates, the DTLS handshake, or SRTP.
public enum SecureTransportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// OpenSSL failed to create our key or certificate, or a context or session with it, or to process a packet.
    case opensslFailed(step: String, reason: String)
    /// An `a=fingerprint` line names a hash function other than sha-256, sha-384 and sha-512.
    case unknownFingerprintAlgorithm(String)
    /// An `a=fingerprint` line has a value of the wrong length for its hash function.
    case wrongFingerprintLength(algorithm: String, expected: Int, got: Int)
    /// The DTLS handshake ended with an error or an alert from the peer.
    case handshakeFailed(reason: String)
    /// The DTLS handshake was not completed within the time limit.
    case handshakeTimedOut(seconds: Int64)
    /// The peer sent more data than any handshake needs.
    case tooMuchHandshakeData(limit: Int)
    /// The peer presented no certificate.
    case noPeerCertificate
    /// The peer's certificate does not match the fingerprint in its session description (RFC 8122 section 6.2).
    case fingerprintMismatch(algorithm: String)
    /// The peer supports none of our SRTP protection profiles.
    case noSRTPProfile
    /// An established connection was ended by an error or by an alert from the peer.
    case connectionFailed(reason: String)
    /// An SRTP master key or its salt has the wrong length for the profile.
    case wrongKeyLength(key: Int, salt: Int)
    /// A packet to protect or unprotect is not an RTP or RTCP packet of a supported length.
    case malformedPacket(length: Int)
    /// A packet's authentication tag is wrong: the packet was changed on its way, or protected with another key.
    case authenticationFailed
    /// A received packet is a duplicate, or too old to tell; or a packet to be sent is too old.
    case replayed
    /// The session's SRTP keys have protected as many packets as they may (RFC 3711 section 9.2).
    case keyLifetimeReached
    /// The peer uses more SSRCs than any well-behaved peer does.
    case tooManySources(limit: Int)

    public var description: String {
        switch self {
        case .opensslFailed(let step, let reason):
            "OpenSSL could not \(step): \(reason)"
        case .unknownFingerprintAlgorithm(let name):
            "the fingerprint's hash function \"\(name)\" is not supported; use sha-256, sha-384 or sha-512"
        case .wrongFingerprintLength(let algorithm, let expected, let got):
            "a \(algorithm) fingerprint has \(expected) bytes, not \(got)"
        case .handshakeFailed(let reason):
            "the DTLS handshake failed: \(reason)"
        case .handshakeTimedOut(let seconds):
            "the DTLS handshake was not done after \(seconds) s"
        case .tooMuchHandshakeData(let limit):
            "the peer sent more than \(limit) bytes without completing the DTLS handshake"
        case .noPeerCertificate:
            "the peer showed no certificate"
        case .fingerprintMismatch(let algorithm):
            "the peer's certificate does not have the \(algorithm) fingerprint of its session description"
        case .noSRTPProfile:
            "the peer supports neither SRTP_AEAD_AES_128_GCM nor SRTP_AES128_CM_HMAC_SHA1_80"
        case .connectionFailed(let reason):
            "the DTLS connection failed: \(reason)"
        case .wrongKeyLength(let key, let salt):
            "an SRTP master key of \(key) bytes with a salt of \(salt) does not fit the profile"
        case .malformedPacket(let length):
            "\(length) bytes are not an RTP or RTCP packet that can be protected or unprotected"
        case .authenticationFailed:
            "the packet's authentication tag is wrong"
        case .replayed:
            "the packet was received before, or is too old to tell"
        case .keyLifetimeReached:
            "the SRTP keys have protected as many packets as they may"
        case .tooManySources(let limit):
            "the peer sends under more than \(limit) SSRCs"
        }
    }
}

extension SecureTransportError {
    /// The error for the OpenSSL call that just failed; empties this thread's error queue.
    static func openssl(_ step: String) -> SecureTransportError {
        .opensslFailed(step: step, reason: takeOpenSSLReason() ?? "unknown reason")
    }

    /// The reason of the oldest error in this thread's OpenSSL error queue, if any; empties the queue.
    static func takeOpenSSLReason() -> String? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        guard let reason = ERR_reason_error_string(code) else { return "error \(String(code, radix: 16))" }
        return String(cString: reason)
    }
}
