import CSRTP
import SecureTransport

/// A sender that uses libsrtp2.
final class LibsrtpSender: PacketSender {
    private struct Failure: Error {
        let status: UInt32
    }

    private static let initialization: srtp_err_status_t = srtp_init()

    private let context: OpaquePointer

    init(_ keys: SRTPKeys) throws {
        guard Self.initialization == srtp_err_status_ok else { throw Failure(status: Self.initialization.rawValue) }
        var policy = srtp_policy_t()
        switch keys.profile {
        case .aeadAES128GCM:
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
        case .aes128CMHMACSHA1:
            srtp_crypto_policy_set_rtp_default(&policy.rtp)
            srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
        }
        policy.ssrc.type = ssrc_any_outbound
        policy.window_size = 8_192
        policy.allow_repeat_tx = 1
        var context: OpaquePointer?
        var keyAndSalt = keys.local.key + keys.local.salt
        let status = keyAndSalt.withUnsafeMutableBufferPointer { buffer in
            policy.key = buffer.baseAddress
            return srtp_create(&context, &policy)
        }
        guard status == srtp_err_status_ok, let context else { throw Failure(status: status.rawValue) }
        self.context = context
    }

    deinit { srtp_dealloc(context) }

    func protect(_ packet: inout [UInt8]) throws {
        var length = Int32(packet.count)
        packet.append(contentsOf: repeatElement(0, count: SRTPSession.rtpRoom))
        let status = packet.withUnsafeMutableBytes { srtp_protect(context, $0.baseAddress, &length) }
        guard status == srtp_err_status_ok else { throw Failure(status: status.rawValue) }
        packet.removeLast(packet.count - Int(length))
    }
}
