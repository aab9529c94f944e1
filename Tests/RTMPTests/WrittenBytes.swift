/// Bytes from pairs of hexadecimal digits, and ASCII texts between apostrophes. Spaces and line breaks don't count.
func bytes(_ text: String) -> [UInt8] {
    var found: [UInt8] = []
    var high: UInt8?
    var isText = false
    for character in text {
        if character == "'" {
            isText.toggle()
        } else if isText {
            found += character.utf8
        } else if let digit = character.hexDigitValue {
            let digit = UInt8(digit)
            if let first = high { found.append(first << 4 | digit) }
            high = high == nil ? digit : nil
        }
    }
    return found
}

/// A number with the most significant byte first.
func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

/// A message in chunks of `size`, the first one with a whole header.
func message(
    _ type: UInt8, on chunkStream: UInt8 = 4, at time: UInt32 = 0, stream: UInt8 = 1, size: Int = 128,
    _ payload: [UInt8]
) -> [UInt8] {
    let isExtended = time >= 0xFF_FFFF
    let extended = isExtended ? bigEndian(Int(time), 4) : []
    var written = [chunkStream]
    written += bigEndian(isExtended ? 0xFF_FFFF : Int(time), 3)
    written += bigEndian(payload.count, 3)
    written += [type, stream, 0, 0, 0]
    written += extended
    var rest = payload[...]
    while true {
        written += rest.prefix(size)
        rest = rest.dropFirst(size)
        if rest.isEmpty { return written }
        written.append(0xC0 | chunkStream)
        written += extended
    }
}

/// The client's part of the handshake: C0 and C1, and C2.
let greeting = [3] + bytes("00000000 09007C02") + [UInt8](repeating: 0xAB, count: 1528)
let secondGreeting = [UInt8](repeating: 0xCD, count: 1536)
