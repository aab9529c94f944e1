import Glibc
import LinkTransport
import STUN
public import SecureTransport
import WebRTC

/// The certificate that a host makes for itself, in a file that only its user can read: the certificate, then its key.
///
/// No authority vouches for it, so its users compare its fingerprint, and it stays the same for as long as possible:
/// for all hosts of this user, and also when the machine's addresses change. A new one is made in the last 30 days,
/// with the same key.
public struct CertificateFile: Sendable {
    /// The file's path.
    public let path: String

    /// How long before its end a certificate is replaced.
    private static let secondsOfRenewal = 30 * 24 * 60 * 60
    private static let limit = 64 << 10
    /// The most addresses in a certificate. Machines with containers have many.
    private static let addressLimit = 32

    /// The file `self-signed.pem` beside the rooms' tokens: see ``TokenFile``. Nil if there is no home.
    public init?(environment: (String) -> String? = TokenFile.variable) {
        guard let folder = StateFolder.path(environment) else { return nil }
        path = folder + "/self-signed.pem"
    }

    /// Returns the certificate in the file. If there is none, or it ends soon, writes a new one to it.
    ///
    /// - Parameter addresses: numeric addresses for which a new one is made, besides this machine's own.
    /// - Throws: `file` if the file can't be read or written, `certificate` if its content can't be used, or `notMade`.
    ///   A kept certificate that has not expired is returned even if a new one can't be written.
    public func certificate(for addresses: [String] = []) throws(CertificateFileError) -> ServerCertificate {
        if let kept = try kept(), !isNearItsEnd(kept) { return kept }
        let file = PrivateFile(path: path)
        StateFolder.makeFolders(of: path)
        // Of hosts that start at once, one makes it. The others find it here.
        let lock = file.lock()
        defer { lock?.release() }
        let kept = try kept()
        if let kept, !isNearItsEnd(kept) { return kept }
        let new = try Self.unkept(for: addresses, keeping: kept)
        do throws(TokenFileError) {
            try file.write(new.pem)
        } catch {
            if let kept, !kept.isExpired { return kept }
            throw .file(error)
        }
        return new
    }

    /// Makes a certificate without keeping it, with the key of an earlier one or a new key.
    ///
    /// - Throws: `notMade` if OpenSSL can't make a key or the certificate.
    public static func unkept(
        for addresses: [String] = [], keeping earlier: ServerCertificate? = nil
    ) throws(CertificateFileError) -> ServerCertificate {
        var buffer = [CChar](repeating: 0, count: 256)
        // The last byte stays a NUL.
        let hasName = gethostname(&buffer, buffer.count - 1) == 0
        let name = hasName ? buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) } : []
        let all = addresses + ["127.0.0.1", "::1"] + LocalAddresses.reachable(port: 0).map(\.host)
        let machine = String(decoding: name, as: UTF8.self)
        do throws(SecureTransportError) {
            return try ServerCertificate.made(
                names: machine.isEmpty ? ["localhost"] : [machine, machine + ".local", "localhost"],
                addresses: Array(all.prefix(addressLimit)), keeping: earlier)
        } catch {
            throw .notMade(error)
        }
    }

    private func isNearItsEnd(_ certificate: ServerCertificate) -> Bool {
        certificate.ends(withinSeconds: Self.secondsOfRenewal)
    }

    /// The certificate in the file, however long it is still valid; nil if there is no file. Throws `file` or
    /// `certificate`.
    public func kept() throws(CertificateFileError) -> ServerCertificate? {
        let text: [UInt8]?
        do throws(TokenFileError) {
            text = try PrivateFile(path: path).read(limit: Self.limit)
        } catch {
            throw .file(error)
        }
        guard let text else { return nil }
        do throws(ServerCertificateError) {
            return try ServerCertificate(kept: text, in: path)
        } catch {
            throw .certificate(error)
        }
    }
}

/// Why a certificate can't be made, or be kept in its file.
public enum CertificateFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file can't be read or written.
    case file(TokenFileError)
    /// The file's content is no certificate with its key.
    case certificate(ServerCertificateError)
    /// OpenSSL can't make a certificate.
    case notMade(SecureTransportError)

    public var description: String {
        switch self {
        case .file(let error): error.description
        case .certificate(let error): "\(error); remove the file, and a new one is made"
        case .notMade(let error): error.description
        }
    }
}
