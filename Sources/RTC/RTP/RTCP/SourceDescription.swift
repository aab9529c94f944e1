import ByteCoding

/// A source description, which names sources (RFC 3550 section 6.5). Only the canonical name, which ties a peer's
/// streams together, is kept.
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |V=2|P|    SC   |  PT=SDES=202  |             length            |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                             SSRC                              |
///     |    CNAME=1    |     length    | name ...                  | 0 |   SC times, each to a whole word
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct SourceDescription: Hashable, Sendable {
    static let packetType: UInt8 = 202

    /// One source and its name.
    public struct Chunk: Hashable, Sendable {
        /// The SSRC of the source.
        public var ssrc: SSRC
        /// The name; nil if the chunk has none.
        public var canonicalName: String?
    }

    /// The sources described; at most 31 are written.
    public var chunks: [Chunk]

    /// The description of one source.
    public init(ssrc: SSRC, canonicalName: String) {
        chunks = [Chunk(ssrc: ssrc, canonicalName: canonicalName)]
    }

    init(reading reader: inout ByteReader, count: UInt8) throws(RTPError) {
        chunks = []
        for _ in 0..<count {
            guard let ssrc = reader.uint32() else {
                throw .truncated(part: "a source description", needed: 4, available: reader.count)
            }
            var name: String?
            var chunkByteCount = 4
            while true {
                guard let type = reader.uint8() else {
                    throw .truncated(part: "a source description", needed: 1, available: 0)
                }
                chunkByteCount += 1
                if type == 0 { break }
                guard let length = reader.uint8(), let text = reader.bytes(Int(length)) else {
                    throw .invalidLength(part: "an item of a source description", length: reader.count)
                }
                chunkByteCount += 1 + text.count
                if type == 1 { name = String(decoding: text, as: UTF8.self) }
            }
            // The list of items ends with at least one zero and is padded with zeros to a whole word.
            _ = reader.bytes(min((4 - chunkByteCount % 4) % 4, reader.count))
            chunks.append(Chunk(ssrc: SSRC(ssrc), canonicalName: name))
        }
    }

    /// Appends the description; a name is cut to 255 bytes.
    public func write(into buffer: inout [UInt8]) {
        let written = chunks.prefix(31)
        buffer.appendRTCP(type: Self.packetType, count: written.count) { buffer in
            for chunk in written {
                let start = buffer.count
                buffer.appendUInt32(chunk.ssrc.rawValue)
                if let canonicalName = chunk.canonicalName {
                    let name = canonicalName.utf8.prefix(255)
                    buffer.append(1)
                    buffer.append(UInt8(truncatingIfNeeded: name.count))
                    buffer.append(contentsOf: name)
                }
                repeat { buffer.append(0) } while (buffer.count - start) % 4 != 0
            }
        }
    }
}
