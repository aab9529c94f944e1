import CGLib

enum Compression {
    /// Returns `bytes` compressed by gzip (RFC 1952) as far as zlib can; nil if that fails or makes them no smaller.
    static func gzip(_ bytes: [UInt8]) -> [UInt8]? {
        guard let compressor = g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, 9) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(compressor)) }
        // With all of the input and enough room, one call does it.
        var compressed = [UInt8](repeating: 0, count: bytes.count)
        var read: gsize = 0
        var written: gsize = 0
        let result = g_converter_convert(
            compressor, bytes, gsize(bytes.count), &compressed, gsize(compressed.count),
            G_CONVERTER_INPUT_AT_END, &read, &written, nil)
        guard result == G_CONVERTER_FINISHED else { return nil }
        return Array(compressed.prefix(Int(written)))
    }
}
