/// A description of one packet's payload: which bytes of a frame it takes, and which bytes precede them. It holds no
/// bytes of the frame itself, so all sessions share them.
public enum RTPPayload: Hashable, Sendable {
    /// A single part.
    case part(Part)
    /// Several parts, one after the other.
    case parts([Part])

    /// A range of a frame's bytes, after up to eight bytes of the packetizer's own: a payload header, a size, or both.
    public struct Part: Hashable, Sendable {
        /// The bytes before the range; the last one is in the low bits.
        private let prefix: UInt64
        private let prefixByteCount: UInt8
        /// The offsets of the frame's bytes.
        public let range: Range<Int>

        /// A part that consists of the low `prefixByteCount` bytes of `prefix`, at most eight, the most significant one
        /// first, and of the frame's bytes in `range`.
        public init(prefix: UInt64 = 0, prefixByteCount: UInt8 = 0, _ range: Range<Int>) {
            self.prefix = prefix
            self.prefixByteCount = min(prefixByteCount, 8)
            self.range = range
        }

        /// The size of the prefix and the range together.
        var byteCount: Int { Int(prefixByteCount) + range.count }

        func append(to buffer: inout [UInt8], from frame: [UInt8]) {
            for index in (0..<prefixByteCount).reversed() {
                buffer.append(UInt8(truncatingIfNeeded: prefix >> (8 * UInt64(index))))
            }
            // A slice would be retained and released, once per packet and viewer.
            unsafe frame.withUnsafeBufferPointer {
                unsafe buffer.append(contentsOf: UnsafeBufferPointer(rebasing: $0[range]))
            }
        }
    }

    /// The room that a datagram leaves for a payload: 1138 bytes, after the RTP header (12), all header extensions that
    /// we ever send (32), AEAD_AES_128_GCM's tag (16; HMAC-SHA1's is shorter) and a retransmission's original sequence
    /// number (2). A frame is packetized once, so every session gets the room of the most constrained one.
    public static let maxByteCount =
        RTPPacket.maxDatagramByteCount - RTPPacketHeader.byteCount - HeaderExtensionFormat.maxByteCount - 16 - 2

    /// The payload's size in a packet, in bytes.
    public var byteCount: Int {
        switch self {
        case .part(let part): part.byteCount
        case .parts(let parts): parts.reduce(0) { $0 + $1.byteCount }
        }
    }

    /// Appends the payload, with bytes from `frame`, the frame that the payload was made for.
    public func append(to buffer: inout [UInt8], from frame: [UInt8]) {
        switch self {
        case .part(let part): part.append(to: &buffer, from: frame)
        case .parts(let parts): for part in parts { part.append(to: &buffer, from: frame) }
        }
    }
}
