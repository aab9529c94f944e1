internal import CSRTP

/// SRTP and SRTCP for one peer in both directions (RFC 3711, RFC 7714), by libsrtp. Not thread-safe.
///
/// Packets are changed in place. The caller's buffer needs room for what protection adds (`rtpRoom`, `rtcpRoom`); with
/// that capacity reserved, nothing is allocated for a packet.
///
/// Sending a packet a second time (an answer to a NACK) may protect it again, and gives the same bytes again. That is
/// safe for a packet that is the same to the last bit, and only for that: two different packets of one SSRC with the
/// same sequence number would be enciphered with the same key stream, which shows their difference, and under GCM
/// even gives away the authentication key (RFC 7714 section 8.1, RFC 3711 section 9.1). Who changes a header extension
/// for a repetition must keep and send the protected packet instead, or use RTX.
public final class SRTPSession {
    /// The most bytes that `protect` adds: GCM's tag.
    public static let rtpRoom = 16
    /// The most bytes that `protectRTCP` adds: GCM's tag and the SRTCP index.
    public static let rtcpRoom = 20

    /// Received packets that are this much older than the newest one are still told from repetitions.
    private static let receiveWindow: UInt = 1_024
    /// Sent packets that are this much older than the newest one can be sent again.
    private static let sendWindow: UInt = 8_192
    /// SSRCs that a peer may send under. libsrtp keeps a state for each until the session ends.
    private static let sourceLimit = 64
    private static let longestPacket = 65_535

    private let outbound: OpaquePointer
    private let inbound: OpaquePointer
    private var sources: Set<UInt32> = []

    /// libsrtp's own state, made once for the process.
    private static let initialization: srtp_err_status_t = srtp_init()

    /// A session with the keys that a handshake agreed on.
    ///
    /// - Throws: `srtpFailed` when the keys don't have the profile's lengths or libsrtp fails.
    public init(keys: SRTPKeys) throws(SecureTransportError) {
        let status = Self.initialization
        guard status == srtp_err_status_ok else { throw .srtpFailed(step: "start", status: status.rawValue) }
        outbound = try Self.makeContext(
            keys.local, profile: keys.profile, sources: ssrc_any_outbound, window: Self.sendWindow)
        do throws(SecureTransportError) {
            inbound = try Self.makeContext(
                keys.remote, profile: keys.profile, sources: ssrc_any_inbound, window: Self.receiveWindow)
        } catch {
            srtp_dealloc(outbound)
            throw error
        }
    }

    deinit {
        srtp_dealloc(outbound)
        srtp_dealloc(inbound)
    }

    private static func makeContext(
        _ master: SRTPMasterKey, profile: SRTPProfile, sources: srtp_ssrc_type_t, window: UInt
    ) throws(SecureTransportError) -> OpaquePointer {
        guard master.key.count == profile.keyCount, master.salt.count == profile.saltCount else {
            throw .srtpFailed(step: "use a key of this length", status: srtp_err_status_bad_param.rawValue)
        }
        var policy = srtp_policy_t()
        switch profile {
        case .aeadAES128GCM:
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
        case .aes128CMHMACSHA1:
            srtp_crypto_policy_set_rtp_default(&policy.rtp)
            srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
        }
        policy.ssrc.type = sources
        policy.window_size = window
        policy.allow_repeat_tx = 1
        var context: OpaquePointer?
        var keyAndSalt = master.key + master.salt
        let status = keyAndSalt.withUnsafeMutableBufferPointer { buffer in
            policy.key = buffer.baseAddress
            return srtp_create(&context, &policy)
        }
        guard status == srtp_err_status_ok, let context else {
            throw .srtpFailed(step: "use the keys", status: status.rawValue)
        }
        return context
    }

    // MARK: Sending

    /// Turns an RTP packet into an SRTP packet.
    ///
    /// - Throws: `malformedPacket`; `replayed` for a sequence number 8192 or more behind the newest sent. What `packet`
    ///   then holds is of no use.
    public func protect(_ packet: inout [UInt8]) throws(SecureTransportError) {
        try transform(&packet, room: Self.rtpRoom) { srtp_protect(outbound, $0, $1) }
    }

    /// Turns an RTP packet of `count` bytes at the start of `buffer` into an SRTP packet and gives its length.
    ///
    /// For a packet that is to lie among others in memory that is not an array.
    ///
    /// - Throws: as for an array, and `malformedPacket` when `buffer` has less room than `count` + `rtpRoom`.
    public func protect(
        _ buffer: UnsafeMutableRawBufferPointer, count: Int
    ) throws(SecureTransportError) -> Int {
        try transform(buffer, count: count, room: Self.rtpRoom) { srtp_protect(outbound, $0, $1) }
    }

    /// Turns an RTCP packet, which may be a compound one, into an SRTCP packet.
    ///
    /// - Throws: `malformedPacket`, `srtpFailed`.
    public func protectRTCP(_ packet: inout [UInt8]) throws(SecureTransportError) {
        try transform(&packet, room: Self.rtcpRoom) { srtp_protect_rtcp(outbound, $0, $1) }
    }

    // MARK: Receiving

    /// Turns an SRTP packet into an RTP packet.
    ///
    /// - Throws: `authenticationFailed`, `replayed`, `malformedPacket`, `tooManySources`. What `packet` then holds is of
    ///   no use.
    public func unprotect(_ packet: inout [UInt8]) throws(SecureTransportError) {
        let source = try admittedSource(of: packet, at: 8)
        try transform(&packet, room: 0) { srtp_unprotect(inbound, $0, $1) }
        sources.insert(source)
    }

    /// Turns an SRTCP packet into an RTCP packet.
    ///
    /// - Throws: as `unprotect`.
    public func unprotectRTCP(_ packet: inout [UInt8]) throws(SecureTransportError) {
        let source = try admittedSource(of: packet, at: 4)
        try transform(&packet, room: 0) { srtp_unprotect_rtcp(inbound, $0, $1) }
        sources.insert(source)
    }

    /// The SSRC at `offset`, if it is a known one or there may be one more.
    private func admittedSource(of packet: [UInt8], at offset: Int) throws(SecureTransportError) -> UInt32 {
        guard packet.count >= offset + 4 else { throw .malformedPacket(length: packet.count) }
        let source = packet[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        guard sources.count < Self.sourceLimit || sources.contains(source) else {
            throw .tooManySources(limit: Self.sourceLimit)
        }
        return source
    }

    // MARK: Calling libsrtp

    private typealias Operation = (UnsafeMutableRawPointer, UnsafeMutablePointer<Int32>) -> srtp_err_status_t

    private func transform(_ packet: inout [UInt8], room: Int, _ operation: Operation) throws(SecureTransportError) {
        let count = packet.count
        packet.append(contentsOf: repeatElement(0, count: room))
        // `withUnsafeMutableBytes` does not take a closure with typed throws.
        let result = packet.withUnsafeMutableBytes { buffer in
            Result { () throws(SecureTransportError) in
                try transform(buffer, count: count, room: room, operation)
            }
        }
        let written = try result.get()
        packet.removeLast(packet.count - written)
    }

    private func transform(
        _ buffer: UnsafeMutableRawBufferPointer, count: Int, room: Int, _ operation: Operation
    ) throws(SecureTransportError) -> Int {
        // libsrtp looks at the fixed header before it looks at the length: 12 bytes for RTP, 8 for RTCP.
        let shortest = room == Self.rtcpRoom ? 8 : 12
        guard let start = buffer.baseAddress, count >= shortest, count <= Self.longestPacket,
            buffer.count - count >= room
        else { throw .malformedPacket(length: count) }
        var length = Int32(count)
        let status = operation(start, &length)
        switch status {
        case srtp_err_status_ok where length >= 0 && length <= buffer.count: return Int(length)
        case srtp_err_status_auth_fail: throw .authenticationFailed
        case srtp_err_status_replay_fail, srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: throw .replayed
        case srtp_err_status_bad_param, srtp_err_status_parse_err: throw .malformedPacket(length: count)
        default: throw .srtpFailed(step: "handle a packet", status: status.rawValue)
        }
    }
}
