/// Base64 (RFC 4648 section 4), as SDP and HTTP's Basic authentication have it.
enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encoded(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let group = rest.prefix(3)
            var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            bits <<= UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let letter = letters[Int(bits >> UInt32(18 - 6 * place)) & 0x3F]
                text.append(place <= group.count ? letter : UInt8(ascii: "="))
            }
            rest = rest.dropFirst(3)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text; nil if it has other characters, or an incomplete group that no padding completes.
    static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        let utf8 = Array(text.utf8)
        guard utf8.count.isMultiple(of: 4) else { return nil }
        let padding = utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        for (place, letter) in utf8.dropLast(padding).enumerated() {
            guard let value = letters.firstIndex(of: letter) else { return nil }
            bits = bits << 6 | UInt32(value)
            if place % 4 > 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(6 - 2 * (place % 4)))) }
        }
        return bytes
    }
}
