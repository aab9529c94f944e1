internal import COpenSSL
internal import Glibc

/// A certificate and its key for HTTPS: read from the two PEM files that a certificate authority's tools write, or made
/// here. May be used on any thread.
public struct ServerCertificate: Sendable {
    /// The content of both files: the certificates, then the key.
    public let pem: String
    /// The DNS names that the certificate is valid for (RFC 5280 section 4.2.1.6), without wildcards. Empty for one
    /// that was made here: no authority says that its names are this machine's.
    public let names: [String]
    /// The SHA-256 fingerprint of a certificate that was made here, for people to compare: "AB:CD:…". Nil for any
    /// other, which an authority vouches for.
    public let fingerprint: String?
    /// Whether the certificate has expired.
    public let isExpired: Bool
    /// Whether the time from which on the certificate is valid is still to come.
    public let isNotYetValid: Bool

    private let certificate: [UInt8]
    private static let limit = 1 << 20

    /// Reads both files, and checks that they hold a certificate and a key that belong together.
    ///
    /// - Throws: ``ServerCertificateError`` that names the file.
    public init(certificateFile: String, keyFile: String) throws(ServerCertificateError) {
        let certificate = try Self.read(certificateFile, isSecret: false)
        let key = try Self.read(keyFile, isSecret: true)
        try self.init(certificate, from: certificateFile, key: key, from: keyFile, isMadeHere: false)
    }

    /// Reads the text of a certificate that ``made(names:addresses:keeping:)`` has made: the ``pem`` of that one.
    ///
    /// - Parameter path: the file that it comes from, for errors.
    /// - Throws: ``ServerCertificateError`` if the text holds no certificate with its key.
    public init(kept text: [UInt8], in path: String) throws(ServerCertificateError) {
        try self.init(text, from: path, key: text, from: path, isMadeHere: true)
    }

    private init(
        _ certificate: [UInt8], from certificateFile: String, key: [UInt8], from keyFile: String, isMadeHere: Bool
    ) throws(ServerCertificateError) {
        defer { ERR_clear_error() }
        guard let parsed = Self.parseCertificate(certificate) else {
            throw .noCertificate(path: certificateFile)
        }
        defer { X509_free(parsed) }
        guard let parsedKey = Self.parseKey(key) else {
            let isEncrypted = String(decoding: key, as: UTF8.self).contains("ENCRYPTED")
            throw isEncrypted ? .encryptedKey(path: keyFile) : .noKey(path: keyFile)
        }
        defer { EVP_PKEY_free(parsedKey) }
        guard X509_check_private_key(parsed, parsedKey) == 1 else {
            throw .mismatch(certificate: certificateFile, key: keyFile)
        }
        self.certificate = certificate
        let text = String(decoding: certificate, as: UTF8.self)
        pem = isMadeHere ? text : text + "\n" + String(decoding: key, as: UTF8.self) + "\n"
        names = isMadeHere ? [] : Self.dnsNames(parsed)
        fingerprint = isMadeHere ? CertificateFingerprint(of: parsed, algorithm: .sha256)?.hexadecimal : nil
        isExpired = X509_cmp_current_time(X509_get0_notAfter(parsed)) < 0
        isNotYetValid = X509_cmp_current_time(X509_get0_notBefore(parsed)) > 0
    }

    /// Whether the certificate is valid for a literal IP address.
    public func covers(address: String) -> Bool {
        guard let parsed = Self.parseCertificate(certificate) else { return false }
        defer { X509_free(parsed) }
        return X509_check_ip_asc(parsed, address, 0) == 1
    }

    /// The name by which clients have to call a server at this address: the address if the certificate is valid for it
    /// or has no ``names``, otherwise the first of them.
    public func name(at address: String) -> String {
        covers(address: address) ? address : names.first ?? address
    }

    /// Whether the certificate ends in at most that many seconds.
    public func ends(withinSeconds seconds: Int) -> Bool {
        guard let parsed = Self.parseCertificate(certificate) else { return true }
        defer { X509_free(parsed) }
        var limit = time(nil) + seconds
        return X509_cmp_time(X509_get0_notAfter(parsed), &limit) <= 0
    }

    private static func read(_ path: String, isSecret: Bool) throws(ServerCertificateError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw .notReadable(path: path, errno: errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .notReadable(path: path, errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
        guard !isSecret || status.st_mode & 0o007 == 0 else { throw .notPrivate(path: path) }
        guard status.st_size <= limit else { throw .tooLarge(path: path) }
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < bytes.count {
            let taken = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if taken < 0, errno == EINTR { continue }
            guard taken >= 0 else { throw .notReadable(path: path, errno: errno) }
            if taken == 0 { break }
            count += taken
        }
        return Array(bytes.prefix(count))
    }

    private static func parseCertificate(_ bytes: [UInt8]) -> OpaquePointer? {
        parse(bytes) { PEM_read_bio_X509($0, nil, nil, nil) }
    }

    static func parseKey(_ bytes: [UInt8]) -> OpaquePointer? {
        // By default, OpenSSL asks on the terminal for the password of an encrypted key.
        parse(bytes) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    }

    private static func parse(_ bytes: [UInt8], by read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        bytes.withUnsafeBytes { bytes in
            guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(memory) }
            return read(memory)
        }
    }

    private static func dnsNames(_ certificate: OpaquePointer) -> [String] {
        var names: [String] = []
        while names.count < 100, let name = shim_X509_dns_name(certificate, Int32(names.count)) {
            names.append(String(cString: name))
            shim_OPENSSL_free(name)
        }
        return names.filter { !$0.isEmpty && !$0.contains("*") }
    }
}

/// The reason that a certificate can't be used, in one line that names the file.
public enum ServerCertificateError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file can't be opened or read.
    case notReadable(path: String, errno: Int32)
    /// The file is a folder, a device or the like.
    case notAFile(path: String)
    /// The file is larger than any certificate or key.
    case tooLarge(path: String)
    /// Every user on this machine can read the key file.
    case notPrivate(path: String)
    /// The file holds no certificate in PEM format.
    case noCertificate(path: String)
    /// The file holds no private key in PEM format.
    case noKey(path: String)
    /// The key is encrypted with a password.
    case encryptedKey(path: String)
    /// The key does not belong to the certificate.
    case mismatch(certificate: String, key: String)

    public var description: String {
        switch self {
        case .notReadable(let path, let code): "\(path) can't be read: \(String(cString: strerror(code)))"
        case .notAFile(let path): "\(path) is no file"
        case .tooLarge(let path): "\(path) is larger than 1 MiB"
        case .notPrivate(let path): "\(path) can be read by all users; run chmod 600 on it"
        case .noCertificate(let path): "\(path) has no certificate in it (PEM, '-----BEGIN CERTIFICATE-----')"
        case .noKey(let path): "\(path) has no private key in it (PEM, '-----BEGIN PRIVATE KEY-----')"
        case .encryptedKey(let path):
            "\(path) is encrypted; write it without a password: openssl pkey -in \(path) -out NEW"
        case .mismatch(let certificate, let key): "\(key) is not the key of the certificate in \(certificate)"
        }
    }
}
