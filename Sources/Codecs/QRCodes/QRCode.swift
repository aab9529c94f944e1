import CQREncode

/// A QR code (ISO/IEC 18004): a text as a square of light and dark modules, made by libqrencode.
public struct QRCode: Sendable, Equatable {
    /// Modules on each side, without the quiet zone.
    public let side: Int
    /// Whether each is dark, row by row.
    private let modules: [Bool]

    /// The smallest code that holds the text's UTF-8 bytes and can be read with up to 15 % of it unreadable; nil where the text
    /// is empty, has a NUL in it, or is longer than any code holds (2,331 bytes).
    public init?(_ text: String) {
        guard !text.isEmpty, !text.utf8.contains(0), text.utf8.count <= 2331 else { return nil }
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(code) }
        let side = Int(code.pointee.width)
        guard side > 0, let data = code.pointee.data else { return nil }
        self.side = side
        // Of each byte the lowest bit is the module.
        modules = (0..<side * side).map { data[$0] & 1 == 1 }
    }

    /// Whether the module is dark; those beyond the edges are light.
    public func isDark(_ x: Int, _ y: Int) -> Bool {
        (0..<side).contains(x) && (0..<side).contains(y) && modules[y * side + x]
    }
}
