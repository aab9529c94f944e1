public import MediaTypes

/// The payload types of RFC 6184's packetization modes 0 and 1 (section 5.2), besides those of a single whole NAL unit,
/// which goes unchanged (section 5.6).
enum H264PayloadType {
    /// Several whole NAL units with the same timestamp: a STAP-A (section 5.7.1).
    ///
    ///     +---------------+-------------------+----------+-------------------+----------+---
    ///     |F|NRI|type 24  | size, 16 bits     | NAL unit | size, 16 bits     | NAL unit | ...
    ///     +---------------+-------------------+----------+-------------------+----------+---
    static let aggregate: UInt8 = 24

    /// A part of one NAL unit: an FU-A (section 5.8). It leaves out the NAL unit's own first byte, which the receiver
    /// reconstructs from the two header bytes.
    ///
    ///     +---------------+---------------+---------------
    ///     |F|NRI|type 28  |S|E|R|  type   | part of the NAL unit ...
    ///     +---------------+---------------+---------------
    static let fragment: UInt8 = 28
}

/// Divides access units into packets in RFC 6184's non-interleaved mode (packetization-mode=1). Small consecutive NAL
/// units share a packet; large ones are split into fragments of equal size, but for the last.
public struct H264Packetizer: FramePacketizer {
    /// The largest payload in bytes.
    public let maxPayloadByteCount: Int

    /// A packetizer for payloads of at most `maxPayloadByteCount` bytes, which is clamped to 16...65535.
    public init(maxPayloadByteCount: Int = RTPPayload.maxByteCount) {
        self.maxPayloadByteCount = min(max(maxPayloadByteCount, 16), 65535)
    }

    /// Divides `frame` into packets. Access unit delimiters and filler data are not sent, since a receiver needs
    /// neither. Empty NAL units and those of types that RFC 6184 reserves for itself are not sent either.
    public func packetize(
        _ frame: CodedFrame, at mediaTime: MediaTime, format: TrackFormat = TrackFormat(codec: .h264)
    ) -> PacketizedFrame {
        var packets: [RTPPayload] = []
        var waiting: [RTPPayload.Part] = []
        var waitingByteCount = 1
        // The header of an aggregate of what waits: F is set if any NAL unit has it set, and NRI is the maximum of all
        // (section 5.7).
        var forbidden: UInt8 = 0
        var importance: UInt8 = 0

        func sendWaiting() {
            if waiting.count == 1 {
                packets.append(.part(RTPPayload.Part(waiting[0].range)))
            } else if waiting.count > 1 {
                let header = forbidden | importance | H264PayloadType.aggregate
                waiting[0] = sized(waiting[0].range, after: header)
                packets.append(.parts(waiting))
            }
            waiting.removeAll()
            waitingByteCount = 1
            (forbidden, importance) = (0, 0)
        }

        for range in frame.units where isSent(range, of: frame.bytes) {
            if waitingByteCount + 2 + range.count > maxPayloadByteCount { sendWaiting() }
            let header = frame.bytes[range.lowerBound]
            if range.count > maxPayloadByteCount {
                appendFragments(of: range, header: header, to: &packets)
            } else {
                waiting.append(sized(range))
                waitingByteCount += 2 + range.count
                forbidden |= header & 0x80
                importance = max(importance, header & 0x60)
            }
        }
        sendWaiting()
        return PacketizedFrame(
            coded: frame, packets: packets, mediaTime: mediaTime, format: format,
            payloadByteCount: packets.reduce(0) { $0 + $1.byteCount })
    }

    private func isSent(_ range: Range<Int>, of bytes: [UInt8]) -> Bool {
        guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= bytes.count else { return false }
        let type = bytes[range.lowerBound] & 0x1F
        return (1...23).contains(type) && type != 9 && type != 12
    }

    /// A NAL unit of an aggregate, after its size; the first one also follows the aggregate's header.
    private func sized(_ range: Range<Int>, after header: UInt8? = nil) -> RTPPayload.Part {
        RTPPayload.Part(
            prefix: UInt64(header ?? 0) << 16 | UInt64(range.count), prefixByteCount: header == nil ? 2 : 3, range)
    }

    /// The last packet of a picture has larger header extensions than the others, by up to this many bytes: it carries
    /// the capture time.
    private static let lastExtensionByteCount = 20

    /// Splits a NAL unit into fragments of equal size, of which the last one is shorter by what its packet has more of
    /// header. So it is no longer than the others, and the kernel can divide one buffer into all of them (UDP GSO). A
    /// last packet of a few bytes would cost as much as a full one.
    private func appendFragments(of range: Range<Int>, header: UInt8, to packets: inout [RTPPayload]) {
        let body = (range.lowerBound + 1)..<range.upperBound
        let room = maxPayloadByteCount - 2
        let count = (body.count + room - 1) / room
        let size = min(room, (body.count + Self.lastExtensionByteCount + count - 1) / count)
        let indicator = header & 0xE0 | H264PayloadType.fragment
        var start = body.lowerBound
        while start < body.upperBound {
            let end = min(start + size, body.upperBound)
            let flags: UInt8 =
                (start == body.lowerBound ? 0x80 : 0) | (end == body.upperBound ? 0x40 : 0)
            let prefix = UInt64(indicator) << 8 | UInt64(flags | header & 0x1F)
            packets.append(.part(RTPPayload.Part(prefix: prefix, prefixByteCount: 2, start..<end)))
            start = end
        }
    }
}
