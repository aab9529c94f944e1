/// Several packets of Engine.IO in the body of a polling request, or of its answer.
///
///     version 3    "96:0{…}2:40"                 lengths in UTF-16 code units, as JavaScript counts
///                  00 09 06 FF "0{…}" 00 …       or, from a client: 0 (text) or 1 (binary), the length in bytes, a digit a
///                                                byte, FF
///     version 4    "0{…}" 1E "40"                packets apart by a record separator
///
/// Packets with binary contents are passed over: nothing in these rooms has any.
public enum EnginePayload {
    /// What a payload may have.
    public struct Limits: Sendable {
        /// Bytes in all.
        public var bytes = 1_000_000
        public var packets = 64

        public init() {}
    }

    /// Writes packets, whose texts are to be ASCII: clients of version 3 don't agree on what a length counts beyond it.
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

    /// Reads a payload of at least one packet.
    public static func decode(
        _ bytes: [UInt8], _ version: EngineVersion, limits: Limits = Limits()
    ) throws(OneToOneError) -> [EnginePacket] {
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

/// Takes a payload apart. Its end, and each length, are looked at before anything is taken.
private struct PayloadReader {
    let bytes: [UInt8]
    let packetLimit: Int
    var packets: [EnginePacket] = []
    private var offset = 0
    private var count = 0

    init(bytes: [UInt8], packetLimit: Int) {
        self.bytes = bytes
        self.packetLimit = packetLimit
    }

    mutating func readSeparated() throws(OneToOneError) {
        while true {
            let end = bytes[offset...].firstIndex(of: 0x1E) ?? bytes.count
            let start = offset
            offset = end
            try take(start..<end)
            guard end < bytes.count else { return }
            offset = end + 1
        }
    }

    mutating func readCounted() throws(OneToOneError) {
        while offset < bytes.count {
            let units = try length(endingIn: UInt8(ascii: ":"), zero: UInt8(ascii: "0"))
            let start = offset
            try skip(units: units)
            try take(start..<offset)
        }
    }

    mutating func readBinaryForm() throws(OneToOneError) {
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

    /// Reads decimal digits, `zero` being the first of the ten, and what ends them.
    private mutating func length(endingIn end: UInt8, zero: UInt8) throws(OneToOneError) -> Int {
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

    /// Goes on by as many UTF-16 code units of text in UTF-8.
    private mutating func skip(units: Int) throws(OneToOneError) {
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
            // What is beyond the basic plane counts twice, and isn't cut in the middle.
            left -= size == 4 ? 2 : 1
            guard size > 0, left >= 0, size <= bytes.count - offset else { throw .malformedPayload(offset: offset) }
            offset += size
        }
    }

    private mutating func take(_ range: Range<Int>, isBinary: Bool = false) throws(OneToOneError) {
        count += 1
        guard count <= packetLimit else { throw .tooManyPackets(limit: packetLimit) }
        let packet = bytes[range]
        // "b4…" is version 3's base64, "b…" version 4's.
        if isBinary || packet.first == UInt8(ascii: "b") { return }
        guard let text = String(validating: packet, as: UTF8.self), let read = EnginePacket(parsing: text) else {
            throw .malformedPayload(offset: range.lowerBound)
        }
        packets.append(read)
    }
}
