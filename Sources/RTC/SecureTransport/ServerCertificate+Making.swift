internal import COpenSSL

extension ServerCertificate {
    /// How long a certificate that is made here is valid, in days. Browsers accept at most 398 of certificates that an
    /// authority vouches for.
    public static let daysOfLife = 397

    /// Makes a self-signed ECDSA P-256 certificate for these DNS names and numeric addresses, with the key of an
    /// earlier one or a new key. Names that are none are left out.
    ///
    /// It is no authority's certificate (`CA:FALSE`): a client that trusts it trusts only this machine.
    ///
    /// - Throws: `opensslFailed`.
    public static func made(
        names: [String], addresses: [String], keeping earlier: ServerCertificate? = nil
    ) throws(SecureTransportError) -> ServerCertificate {
        guard let key = earlier.flatMap({ parseKey(Array($0.pem.utf8)) }) ?? shim_EVP_EC_gen_p256() else {
            throw .openssl("make a P-256 key")
        }
        defer { EVP_PKEY_free(key) }
        guard let certificate = X509_new() else { throw .openssl("make a certificate") }
        defer { X509_free(certificate) }
        let subjects =
            names.filter(isName).map { "DNS:" + $0 } + addresses.filter(isAddress).map { "IP:" + $0 }
        var extensions: [(kind: Int32, text: String)] = [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth"),
        ]
        if !subjects.isEmpty { extensions.append((NID_subject_alt_name, subjects.joined(separator: ","))) }
        // It begins a day ago, since clocks differ.
        guard Certificate.fill(certificate, key: key, days: daysOfLife - 1, extensions: extensions),
            let text = pem(of: certificate, key)
        else { throw .openssl("sign a certificate") }
        do throws(ServerCertificateError) {
            return try ServerCertificate(kept: text, in: "a new certificate")
        } catch {
            throw .opensslFailed(step: "make a certificate", reason: error.description)
        }
    }

    private static func pem(of certificate: OpaquePointer, _ key: OpaquePointer) -> [UInt8]? {
        guard let memory = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(memory) }
        guard PEM_write_bio_X509(memory, certificate) == 1,
            PEM_write_bio_PrivateKey(memory, key, nil, nil, 0, nil, nil) == 1
        else { return nil }
        var text: UnsafeMutablePointer<CChar>?
        let count = shim_BIO_get_mem_data(memory, &text)
        guard let text, count > 0 else { return nil }
        return Array(UnsafeRawBufferPointer(start: text, count: count))
    }

    /// Whether the text is a DNS name, and can't be taken for something else in OpenSSL's list of subjects.
    private static func isName(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."): true
                default: false
                }
            }
    }

    private static func isAddress(_ text: String) -> Bool {
        guard let octets = a2i_IPADDRESS(text) else { return false }
        ASN1_OCTET_STRING_free(octets)
        return true
    }
}
