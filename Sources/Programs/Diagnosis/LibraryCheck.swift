import SecureTransport
import Signalling

/// A fault of a range of versions of a library.
struct LibraryFault: Sendable {
    let library: String
    /// The first version that has it, and the first that hasn't it any more.
    let first: [Int]
    let fixed: [Int]
    let what: String

    func isIn(_ version: [Int]) -> Bool {
        !version.lexicographicallyPrecedes(first) && version.lexicographicallyPrecedes(fixed)
    }

    /// Only faults that a version number tells: distributions repair others without changing it.
    static let known = [
        LibraryFault(
            library: "OpenSSL", first: [3, 0, 0], fixed: [3, 0, 7],
            what: "a peer's certificate can make it write past its memory (CVE-2022-3602, CVE-2022-3786)")
    ]
}

/// Whether the libraries that run have faults that are known, or parts that are missing.
struct LibraryCheck {
    let needsTLS: Bool
    /// By name, as they are at run time.
    var versions = ["OpenSSL": OpenSSLVersion.running]
    var hasTLS = GLibTypes.haveTLS

    func findings() -> [Finding] {
        var findings = LibraryFault.known.compactMap { fault -> Finding? in
            guard let version = versions[fault.library], fault.isIn(version) else { return nil }
            return Finding(
                "library", "\(fault.library) \(Self.text(version)) has a known fault: \(fault.what)",
                todo: "update it to \(Self.text(fault.fixed)) or later")
        }
        if needsTLS, !hasTLS {
            findings.append(
                Finding(
                    "library", "GLib has no TLS here: neither https nor turns: works",
                    todo: "install the package glib-networking"))
        }
        return findings
    }

    private static func text(_ version: [Int]) -> String { version.map(String.init).joined(separator: ".") }
}
