import MediaTypes

/// The form of packets that carry the frame before as well as their own (RED, RFC 2198), so that who has lost the
/// packet before gets its frame with the next one. It is for sound, each of whose frames is one packet.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |1| type before |     timestamp offset      |   block length    |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |0|  its type   | the frame before: as many bytes as its length |
///     +-+-+-+-+-+-+-+-+-----------------------------------------------+
///     |                     the packet's own frame                    |
///     +---------------------------------------------------------------+
///
/// The packet's timestamp and marker are those of its own frame. The frame before is earlier by the offset.
public struct REDFormat: Hashable, Sendable {
    /// The payload type of such packets.
    public let payloadType: PayloadType
    /// The payload type of the frames in them.
    public let framePayloadType: PayloadType

    /// The form that a session has negotiated, with these payload types.
    public init(payloadType: PayloadType, framePayloadType: PayloadType) {
        self.payloadType = payloadType
        self.framePayloadType = framePayloadType
    }

    /// The size in bytes of the payload with `frame` and the one before it. Nil if they can't be in one packet: because
    /// one of them isn't exactly one packet, is too long, or is too far from the other.
    func byteCount(of frame: PacketizedFrame, after previous: PacketizedFrame) -> Int? {
        guard frame.packets.count == 1, previous.packets.count == 1,
            (1...0x3FFF).contains(frame.mediaTime.ticks &- previous.mediaTime.ticks)
        else { return nil }
        let previousByteCount = previous.packets[0].byteCount
        let byteCount = 5 + previousByteCount + frame.packets[0].byteCount
        return previousByteCount <= 0x3FF && byteCount <= RTPPayload.maxByteCount ? byteCount : nil
    }

    /// Appends the payload with `frame` and the one before it; nothing if they can't be in one packet.
    func write(_ frame: PacketizedFrame, after previous: PacketizedFrame, into buffer: inout [UInt8]) {
        guard byteCount(of: frame, after: previous) != nil else { return }
        let offset = UInt32(truncatingIfNeeded: frame.mediaTime.ticks &- previous.mediaTime.ticks)
        buffer.append(0x80 | framePayloadType.rawValue)
        buffer.appendUInt24(offset << 10 | UInt32(truncatingIfNeeded: previous.packets[0].byteCount))
        buffer.append(framePayloadType.rawValue)
        previous.packets[0].append(to: &buffer, from: previous.coded.bytes)
        frame.packets[0].append(to: &buffer, from: frame.coded.bytes)
    }
}
