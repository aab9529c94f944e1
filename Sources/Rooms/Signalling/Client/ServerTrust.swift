package import CGLib
import Glibc

/// Which certificates our clients of TLS accept: those for the host's name, from an authority of the system's store or
/// of the file that SSL_CERT_FILE names, as with OpenSSL.
package final class ServerTrust {
    /// Why there is none.
    package static let unreadable = "the file that SSL_CERT_FILE names can't be read"

    /// The authorities of that file; nil for the system's.
    private let database: UnsafeMutablePointer<GTlsDatabase>?

    /// Reads the file that SSL_CERT_FILE names, if it names one. Nil if that can't be read.
    package init?() {
        guard let file = getenv("SSL_CERT_FILE"), file.pointee != 0 else {
            database = nil
            return
        }
        let path = g_canonicalize_filename(file, nil)
        defer { g_free(path) }
        guard let read = g_tls_file_database_new(path, nil) else { return nil }
        database = read
    }

    deinit {
        if let database { g_object_unref(UnsafeMutableRawPointer(database)) }
    }

    /// Makes the session's connections accept only these certificates.
    package func check(_ session: UnsafeMutablePointer<SoupSession>) {
        if let database { soup_session_set_tls_database(session, database) }
    }

    /// Makes one connection accept only these certificates; called before its handshake.
    package func check(_ connection: UnsafeMutablePointer<GTlsConnection>) {
        if let database { g_tls_connection_set_database(connection, database) }
    }

    /// A description of the fault of a certificate that wasn't accepted.
    package static func fault(_ errors: GTlsCertificateFlags) -> String {
        func has(_ flag: GTlsCertificateFlags) -> Bool { errors.rawValue & flag.rawValue != 0 }
        // The certificate's own statements are worthless if no known authority vouches for it.
        if !has(G_TLS_CERTIFICATE_UNKNOWN_CA) {
            if has(G_TLS_CERTIFICATE_BAD_IDENTITY) { return "its certificate is for another name" }
            if has(G_TLS_CERTIFICATE_EXPIRED) { return "its certificate has expired" }
        }
        return "its certificate is not trusted"
    }
}

/// A server's numeric address, which our clients give to GLib as such.
///
/// To a host in text, GLib before 2.80 sends its name over TLS (SNI), even if it is an address, which it must not be
/// (RFC 6066 section 3): servers with GnuTLS refuse IPv6 addresses. Certificates are checked for the address.
package final class NumericPlace {
    package let pointer: OpaquePointer

    /// Nil if `host`, as a URL has it, is a name.
    package init?(_ host: String, port: UInt16) {
        guard let pointer = shim_numeric_place(host.filter { $0 != "[" && $0 != "]" }, port) else { return nil }
        self.pointer = pointer
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
}
