import CLibAV
import LibAVMessages

/// A small file of this machine or of a web server, which is read as a whole.
public enum SmallDocument {
    /// Reads `address`, which is `file:` and a path, or a URL of HTTP or HTTPS. Blocks for as long as `connection`
    /// allows. A redirection is followed, but what HTTPS was asked for must come by HTTPS.
    ///
    /// - Throws: ``MediaFileError``, also if there are more than `limit` bytes.
    public static func read(
        _ address: String, limit: Int, connection: MediaConnection
    ) throws(MediaFileError) -> [UInt8] {
        _ = LibAVMessage.isKept
        LibAVMessage.clear()
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        Certificates.check(in: &options)
        // Else a part of the document would be asked for.
        av_dict_set(&options, "seekable", "0", 0)
        var callback = connection.callback
        var context: UnsafeMutablePointer<AVIOContext>?
        let code = avio_open2(&context, address, AVIO_FLAG_READ, &callback, &options)
        guard code >= 0, let opened = context else { throw MediaFileError(connecting: code) }
        defer { avio_closep(&context) }
        guard !address.hasPrefix("https:") || place(of: opened)?.hasPrefix("https:") == true else {
            throw .rejected(reason: "it is redirected to an address without TLS")
        }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        let count = avio_read(opened, &bytes, Int32(clamping: limit + 1))
        if count == shim_AVERROR_EOF { return [] }
        if count < 0 { throw MediaFileError(count) }
        if opened.pointee.error < 0 { throw MediaFileError(opened.pointee.error) }
        guard count <= limit else { throw .rejected(reason: "it has more than \(limit) bytes") }
        return Array(bytes[..<Int(count)])
    }

    /// Where the document really is, after redirections.
    private static func place(of opened: UnsafeMutablePointer<AVIOContext>) -> String? {
        var text: UnsafeMutablePointer<UInt8>?
        guard av_opt_get(opened, "location", AV_OPT_SEARCH_CHILDREN, &text) >= 0, let text else { return nil }
        defer { av_free(text) }
        return String(cString: text)
    }
}
