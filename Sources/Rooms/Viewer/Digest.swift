import CGLib
import MediaTypes

/// SHA-256 of a text.
enum Digest {
    static func hexadecimal(of text: String) -> String {
        bytes(of: text).hexadecimal()
    }

    /// As in Content-Security-Policy.
    static func base64(of text: String) -> String {
        guard let encoded = g_base64_encode(bytes(of: text), 32) else { return "" }
        defer { g_free(encoded) }
        return String(cString: encoded)
    }

    private static func bytes(of text: String) -> [UInt8] {
        let checksum = g_checksum_new(G_CHECKSUM_SHA256)
        defer { g_checksum_free(checksum) }
        let text = Array(text.utf8)
        g_checksum_update(checksum, text, text.count)
        var digest = [UInt8](repeating: 0, count: 32)
        var count = gsize(digest.count)
        g_checksum_get_digest(checksum, &digest, &count)
        return digest
    }
}
