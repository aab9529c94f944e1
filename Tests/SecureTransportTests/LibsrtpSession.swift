import CSRTP
import SecureTransport

/// libsrtp's SRTP and SRTCP with the windows that `SRTPSession` has, to compare with.
final class LibsrtpSession {
    private static let initialization: srtp_err_status_t = srtp_init()

    private let outbound: OpaquePointer
    private let inbound: OpaquePointer

    /// Nil where libsrtp refuses the keys.
    init?(keys: SRTPKeys) {
        guard Self.initialization == srtp_err_status_ok,
            let outbound = Self.context(keys.local, keys.profile, ssrc_any_outbound, window: 8_192),
            let inbound = Self.context(keys.remote, keys.profile, ssrc_any_inbound, window: 1_024)
        else { return nil }
        self.outbound = outbound
        self.inbound = inbound
    }

    deinit {
        srtp_dealloc(outbound)
        srtp_dealloc(inbound)
    }

    private static func context(
        _ master: SRTPMasterKey, _ profile: SRTPProfile, _ sources: srtp_ssrc_type_t, window: UInt
    ) -> OpaquePointer? {
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
        var keyAndSalt = master.key + master.salt
        var context: OpaquePointer?
        let status = keyAndSalt.withUnsafeMutableBufferPointer { buffer in
            policy.key = buffer.baseAddress
            return srtp_create(&context, &policy)
        }
        return status == srtp_err_status_ok ? context : nil
    }

    /// Each gives the other form of `packet`, or nil where libsrtp refuses it.
    func protect(_ packet: [UInt8]) -> [UInt8]? { transform(packet) { srtp_protect(outbound, $0, $1) } }
    func protectRTCP(_ packet: [UInt8]) -> [UInt8]? { transform(packet) { srtp_protect_rtcp(outbound, $0, $1) } }
    func unprotect(_ packet: [UInt8]) -> [UInt8]? { transform(packet) { srtp_unprotect(inbound, $0, $1) } }
    func unprotectRTCP(_ packet: [UInt8]) -> [UInt8]? { transform(packet) { srtp_unprotect_rtcp(inbound, $0, $1) } }

    private func transform(
        _ packet: [UInt8], _ operation: (UnsafeMutableRawPointer, UnsafeMutablePointer<Int32>) -> srtp_err_status_t
    ) -> [UInt8]? {
        // libsrtp reads the fixed header before it looks at the length.
        guard packet.count >= 12 else { return nil }
        var length = Int32(packet.count)
        var buffer = packet + [UInt8](repeating: 0, count: SRTPSession.rtcpRoom)
        let status = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { operation($0, &length) } ?? srtp_err_status_bad_param
        }
        return status == srtp_err_status_ok ? Array(buffer.prefix(Int(length))) : nil
    }
}
