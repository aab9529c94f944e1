import CLibAV
import Glibc
import LibAVMessages

/// How libavformat is made to check the certificates of other machines.
///
/// libavformat's own RTSP passes none of this on: with `rtsps`, any certificate is accepted.
enum Certificates {
    /// Adds the options by which a certificate must be for the host's name, and come from an authority of the system's
    /// store or of the file that SSL_CERT_FILE names, as with OpenSSL.
    static func check(in options: inout OpaquePointer?) {
        // By itself libavformat accepts any certificate.
        av_dict_set(&options, "tls_verify", "1", 0)
        if let file = getenv("SSL_CERT_FILE"), file.pointee != 0 { av_dict_set(&options, "ca_file", file, 0) }
    }
}

extension MediaFileError {
    /// The error of an attempt to connect, before which this thread's message was cleared: only that message has the
    /// fault of a certificate, and the answer of an RTMP server.
    init(connecting code: Int32) {
        if LibAVMessage.tells(of: "certificate failed verification")
            || LibAVMessage.tells(of: "Unable to verify peer certificate")
        {
            self = .rejected(reason: "its certificate is not trusted")
        } else if LibAVMessage.tells(of: "certificate's owner does not match") {
            self = .rejected(reason: "its certificate is for another name")
        } else if LibAVMessage.tells(of: "Error while reading file") {
            self = .rejected(reason: "the file that SSL_CERT_FILE names can't be read")
        } else if LibAVMessage.tells(of: "Server error: Already publishing") {
            // The answer of nginx's module for RTMP.
            self = .nameInUse
        } else {
            self.init(code)
        }
    }
}
