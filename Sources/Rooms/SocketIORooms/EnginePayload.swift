/// Several packets of Engine.IO in the body of a polling request or its response.
///
///     version 3    "96:0{…}2:40"                 lengths in UTF-16 code units, as JavaScript counts
///                  00 09 06 FF "0{…}" 00 …       or, from a client: 0 (text) or 1 (binary), the length in bytes with
///                                                one digit in each byte, FF
///     version 4    "0{…}" 1E "40"                packets divided by a record separator
///
/// Packets with binary content are skipped, because nothing in these rooms uses any.
public enum EnginePayload {
    /// Limits for one payload.
    public struct Limits: Sendable {
        /// The total size in bytes.
        public var bytes = 1_000_000
        /// The number of packets.
        public var packets = 64

        public init() {}
    }

    /// Encodes packets. Their text must be ASCII, because clients of version 3 disagree on what a length counts
    /// otherwise.
    public static func encode(_ packets: [EnginePacket], _ version: EngineVersion) -> String {
        switch version {
        case .three:
            packets.map { packet in
                let text = packet.encoded
                return "\(text.utf16.count):\(text)"
            }.joined()
        case .four: packets.map(\.encoded).joined(separator: "\u{1E}")
        }
    }

    /// Decodes a payload of at least one packet. Throws ``SocketIORoomsError`` if a limit is exceeded, or with the
    /// offset of the first byte that is wrong.
    public static func decode(
        _ bytes: [UInt8], _ version: EngineVersion, limits: Limits = Limits()
    ) throws(SocketIORoomsError) -> [EnginePacket] {
        guard bytes.count <= limits.bytes else { throw .tooLarge(bytes: bytes.count, limit: limits.bytes) }
        guard let first = bytes.first else { throw .malformedPayload(offset: 0) }
        var reader = PayloadReader(bytes: bytes, packetLimit: limits.packets)
        switch version {
        case .four: try reader.readSeparated()
        case .three where first <= 1: try reader.readBinaryForm()
        case .three: try reader.readCounted()
        }
        return reader.packets
    }
}

/// Parses a payload. It checks every length against the end of the payload before it takes any bytes.
private struct PayloadReader {
    let bytes: [UInt8]
    let packetLimit: Int
    var packets: [EnginePacket] = []
    var offset = 0
    var count = 0

    mutating func readSeparated() throws(SocketIORoomsError) {
        while true {
            let end = bytes[offset...].firstIndex(of: 0x1E) ?? bytes.count
            let start = offset
            offset = end
            try take(start..<end)
            guard end < bytes.count else { return }
            offset = end + 1
        }
    }

    mutating func readCounted() throws(SocketIORoomsError) {
        while offset < bytes.count {
            let units = try length(endingIn: UInt8(ascii: ":"), zero: UInt8(ascii: "0"))
            let start = offset
            try skip(units: units)
            try take(start..<offset)
        }
    }

    mutating func readBinaryForm() throws(SocketIORoomsError) {
        while offset < bytes.count {
            let kind = bytes[offset]
            guard kind <= 1 else { throw .malformedPayload(offset: offset) }
            offset += 1
            let length = try length(endingIn: 0xFF, zero: 0)
            guard length <= bytes.count - offset else { throw .malformedPayload(offset: offset) }
            let start = offset
            offset += length
            try take(start..<offset, isBinary: kind == 1)
        }
    }

    /// Reads decimal digits and the byte that ends them. `zero` is the byte for the digit 0.
    private mutating func length(endingIn end: UInt8, zero: UInt8) throws(SocketIORoomsError) -> Int {
        var length = 0
        var digits = 0
        while offset < bytes.count, bytes[offset] != end {
            let byte = bytes[offset]
            guard byte >= zero, byte - zero <= 9, digits < 8 else { throw .malformedPayload(offset: offset) }
            length = length * 10 + Int(byte - zero)
            digits += 1
            offset += 1
        }
        guard offset < bytes.count, digits > 0 else { throw .malformedPayload(offset: offset) }
        offset += 1
        return length
    }

    /// Skips `units` UTF-16 code units of text that is encoded in UTF-8.
    private mutating func skip(units: Int) throws(SocketIORoomsError) {
        var left = units
        while left > 0 {
            guard offset < bytes.count else { throw .malformedPayload(offset: offset) }
            let size =
                switch bytes[offset] {
                case 0x00...0x7F: 1
                case 0xC2...0xDF: 2
                case 0xE0...0xEF: 3
                case 0xF0...0xF4: 4
                default: 0
                }
            // A character beyond the basic multilingual plane counts as two units and must not be split.
            left -= size == 4 ? 2 : 1
            guard size > 0, left >= 0, size <= bytes.count - offset else { throw .malformedPayload(offset: offset) }
            offset += size
        }
    }

    private mutating func take(_ range: Range<Int>, isBinary: Bool = false) throws(SocketIORoomsError) {
        count += 1
        guard count <= packetLimit else { throw .tooManyPackets(limit: packetLimit) }
        let packet = bytes[range]
        // Base64 starts with "b4" in version 3 and with "b" in version 4.
        if isBinary || packet.first == UInt8(ascii: "b") { return }
        guard let text = String(validating: packet, as: UTF8.self), let read = EnginePacket(parsing: text) else {
            throw .malformedPayload(offset: range.lowerBound)
        }
        packets.append(read)
    }
}
