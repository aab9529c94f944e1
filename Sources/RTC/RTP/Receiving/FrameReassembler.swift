public import MediaTypes

/// A frame reassembled from packets.
public struct ReceivedFrame: Hashable, Sendable {
    /// The timestamp of its packets.
    public let timestamp: RTPTimestamp
    /// What it consists of; nil if there was a gap in the sequence before or inside it, or a malformed payload.
    public let contents: FrameContents?
}

/// Reassembles frames from packets that arrive in sequence order. Packets with one timestamp belong to one frame, which
/// the marker ends; of sound, each packet is a frame.
///
/// It does no reordering: a packet from before the last one is dropped, and a skipped sequence number is a gap. No
/// input can make it trap or use more than a small multiple of `maxByteCount` for a frame.
public struct FrameReassembler: Sendable {
    /// The largest frame in bytes of payload. One that exceeds it is dropped.
    public static let maxByteCount = 8 << 20
    private static let maxPacketCount = 1 << 15

    private let depacketizer: any FrameDepacketizer
    private let hasFrameInEachPacket: Bool
    private var unwrapper = SequenceUnwrapper()
    private var last: ExtendedSequenceNumber?
    private var timestamp: RTPTimestamp?
    /// The payloads of the current frame, and where each ends.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var isDamaged = false

    /// A reassembler for frames of `codec` that has seen no packet yet.
    public init(_ codec: TrackFormat.Codec) {
        depacketizer = codec.depacketizer
        hasFrameInEachPacket = codec.hasFrameInEachPacket
    }

    /// Takes the next packet and returns the frames that it completes or cuts off: none, one, or two if a marker was
    /// lost.
    public mutating func receive(_ header: RTPPacketHeader, payload: ArraySlice<UInt8>) -> [ReceivedFrame] {
        let number = unwrapper.unwrap(header.sequenceNumber)
        var gap: Int64 = 0
        if let last {
            guard number > last else { return [] }
            gap = number.rawValue - last.rawValue - 1
        }
        last = number
        // The end of the current frame may have been lost, and so may the beginning of the next one.
        if gap > 0, !hasFrameInEachPacket { isDamaged = true }
        // A padding-only packet takes a sequence number and belongs to no frame.
        if payload.isEmpty { return [] }

        var finished: [ReceivedFrame] = []
        if let timestamp, timestamp != header.timestamp {
            finished.append(finish(timestamp))
            isDamaged = gap > 0 && !hasFrameInEachPacket
        }
        timestamp = header.timestamp
        if bytes.count + payload.count > Self.maxByteCount || ends.count == Self.maxPacketCount { isDamaged = true }
        if !isDamaged {
            bytes.append(contentsOf: payload)
            ends.append(bytes.count)
        }
        if header.marker || hasFrameInEachPacket { finished.append(finish(header.timestamp)) }
        return finished
    }

    private mutating func finish(_ timestamp: RTPTimestamp) -> ReceivedFrame {
        var contents: FrameContents?
        if !isDamaged { contents = depacketizer.contents(of: zip([0] + ends, ends).map { bytes[$0..<$1] }) }
        self.timestamp = nil
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        isDamaged = false
        return ReceivedFrame(timestamp: timestamp, contents: contents)
    }
}
