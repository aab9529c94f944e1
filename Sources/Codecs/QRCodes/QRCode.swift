import CQREncode

/// A QR code (ISO/IEC 18004): a text encoded as a square of light and dark modules. libqrencode makes it.
public struct QRCode: Sendable, Equatable {
    /// The number of modules on each side, without the quiet zone.
    public let side: Int
    /// Whether each module is dark, row by row.
    private let modules: [Bool]

    /// Creates the smallest code that holds the text's UTF-8 bytes and stays readable with up to 15 % of it damaged.
    ///
    /// Nil if the text is empty, contains NUL, or has more than the 2,331 bytes that the largest code holds.
    public init?(_ text: String) {
        guard !text.isEmpty, !text.utf8.contains(0), text.utf8.count <= 2331 else { return nil }
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(code) }
        let side = Int(code.pointee.width)
        guard side > 0, let data = code.pointee.data else { return nil }
        self.side = side
        // The lowest bit of each byte is the module.
        modules = (0..<side * side).map { data[$0] & 1 == 1 }
    }

    /// Whether the module is dark. Modules outside the code are light.
    public func isDark(_ x: Int, _ y: Int) -> Bool {
        (0..<side).contains(x) && (0..<side).contains(y) && modules[y * side + x]
    }
}
