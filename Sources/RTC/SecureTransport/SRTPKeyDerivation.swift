internal import COpenSSL

/// Derives session keys from a master key (RFC 3711 section 4.3, RFC 7714 section 11), with a key derivation rate of 0.
enum SRTPKeyDerivation {
    /// The protocol that a key is for. RTP and RTCP have separate keys.
    enum Use { case rtp, rtcp }

    /// The keys for one direction's RTP or RTCP.
    ///
    /// - Throws: `wrongKeyLength`, `opensslFailed`.
    static func sessionKeys(
        of master: SRTPMasterKey, _ profile: SRTPProfile, for use: Use
    ) throws(SecureTransportError) -> SRTPSessionKeys {
        guard master.key.count == profile.keyCount, master.salt.count == profile.saltCount else {
            throw .wrongKeyLength(key: master.key.count, salt: master.salt.count)
        }
        // The labels of RFC 3711 sections 4.3.1 and 4.3.2.
        let first: UInt8 = use == .rtp ? 0 : 3
        return SRTPSessionKeys(
            encryption: try derive(label: first, count: profile.keyCount, from: master),
            authentication: profile == .aeadAES128GCM
                ? nil : try derive(label: first + 1, count: PacketCipher.authenticationKeyCount, from: master),
            salt: try derive(label: first + 2, count: profile.saltCount, from: master))
    }

    /// The first `count` bytes of the key with this label: the AES key stream in counter mode, starting from the master
    /// salt with the label in byte 7.
    static func derive(
        label: UInt8, count: Int, from master: SRTPMasterKey
    ) throws(SecureTransportError) -> [UInt8] {
        var counter = master.salt + [UInt8](repeating: 0, count: max(0, 16 - master.salt.count))
        counter[7] ^= label
        guard let context = EVP_CIPHER_CTX_new() else { throw .openssl("derive the SRTP keys") }
        defer { EVP_CIPHER_CTX_free(context) }
        var key = [UInt8](repeating: 0, count: count)
        var written: Int32 = 0
        guard EVP_EncryptInit_ex(context, EVP_aes_128_ctr(), nil, master.key, counter) == 1,
            EVP_EncryptUpdate(context, &key, &written, [UInt8](repeating: 0, count: count), Int32(count)) == 1
        else { throw .openssl("derive the SRTP keys") }
        return key
    }
}

/// The keys for RTP or RTCP in one direction, which exist only between the derivation and the creation of a
/// `PacketCipher`.
struct SRTPSessionKeys {
    /// The encryption key, 16 bytes.
    var encryption: [UInt8]
    /// The authentication key: 20 bytes for counter mode, nil for GCM.
    var authentication: [UInt8]?
    /// The salt: 12 bytes for GCM, 14 for counter mode.
    var salt: [UInt8]

    /// Overwrites the keys, which can't be used afterwards.
    mutating func wipe() {
        OPENSSL_cleanse(&encryption, encryption.count)
        OPENSSL_cleanse(&salt, salt.count)
        if var authentication = authentication.take() { OPENSSL_cleanse(&authentication, authentication.count) }
    }
}
