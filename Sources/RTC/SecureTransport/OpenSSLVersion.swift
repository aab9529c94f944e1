internal import COpenSSL

/// The version of OpenSSL.
public enum OpenSSLVersion {
    /// The version of the library that runs, which may be another one than this program was built with: major, minor
    /// and patch.
    public static var running: [Int] {
        [Int(OPENSSL_version_major()), Int(OPENSSL_version_minor()), Int(OPENSSL_version_patch())]
    }
}
