public import MediaTypes

/// Divides access units into packets in RFC 6184's non-interleaved mode (packetization-mode=1). Small consecutive NAL
/// units share a packet; large ones are split into fragments of about equal size.
public struct H264Packetizer: FramePacketizer {
    /// The largest UDP payload that we send. It fits IPv6's minimum MTU (1280), which every path on the Internet
    /// supports.
    public static let maximumDatagramByteCount = 1200

    /// The room that a datagram leaves for a payload: 1138 bytes, after the RTP header (12), all header extensions that
    /// we ever send (32), AEAD_AES_128_GCM's tag (16; HMAC-SHA1's is shorter) and a retransmission's original sequence
    /// number (2). An access unit is packetized once, so every session gets the room of the most constrained one.
    public static let defaultMaximumPayloadByteCount =
        maximumDatagramByteCount - RTPPacketHeader.byteCount - HeaderExtensionFormat.maximumByteCount - 16 - 2

    /// The largest payload in bytes.
    public let maximumPayloadByteCount: Int

    /// A packetizer for payloads of at most `maximumPayloadByteCount` bytes, which is clamped to 16...65535.
    public init(maximumPayloadByteCount: Int = Self.defaultMaximumPayloadByteCount) {
        self.maximumPayloadByteCount = min(max(maximumPayloadByteCount, 16), 65535)
    }

    /// Divides `frame` into packets. Access unit delimiters and filler data are not sent, since a receiver needs
    /// neither. Empty NAL units and those of types that RFC 6184 reserves for itself are not sent either.
    public func packetize(
        _ frame: CodedFrame, at mediaTime: MediaTime, format: TrackFormat = TrackFormat(codec: .h264)
    ) -> PacketizedFrame {
        var packets: [RTPPayload] = []
        var waiting: [Range<Int>] = []
        var waitingByteCount = 1

        func sendWaiting() {
            if waiting.count == 1 {
                packets.append(.singleNALUnit(waiting[0]))
            } else if waiting.count > 1 {
                packets.append(.aggregate(waiting))
            }
            waiting.removeAll()
            waitingByteCount = 1
        }

        for range in frame.units where isSent(range, of: frame.bytes) {
            if waitingByteCount + 2 + range.count > maximumPayloadByteCount { sendWaiting() }
            if range.count > maximumPayloadByteCount {
                appendFragments(of: range, header: frame.bytes[range.lowerBound], to: &packets)
            } else {
                waiting.append(range)
                waitingByteCount += 2 + range.count
            }
        }
        sendWaiting()
        return PacketizedFrame(
            coded: frame, packets: packets, mediaTime: mediaTime, format: format,
            payloadByteCount: packets.reduce(0) { $0 + $1.byteCount })
    }

    private func isSent(_ range: Range<Int>, of bytes: [UInt8]) -> Bool {
        guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= bytes.count else { return false }
        switch bytes[range.lowerBound] & 0x1F {
        case 9, 12: return false
        case 1...23: return true
        default: return false
        }
    }

    /// Splits a NAL unit into fragments of about equal size, because a last packet of a few bytes would cost as much as
    /// a full one.
    private func appendFragments(of range: Range<Int>, header: UInt8, to packets: inout [RTPPayload]) {
        let body = (range.lowerBound + 1)..<range.upperBound
        let room = maximumPayloadByteCount - 2
        let count = (body.count + room - 1) / room
        let (size, larger) = body.count.quotientAndRemainder(dividingBy: count)
        var start = body.lowerBound
        for index in 0..<count {
            let end = start + size + (index < larger ? 1 : 0)
            let flags: UInt8 = (index == 0 ? 0x80 : 0) | (index == count - 1 ? 0x40 : 0)
            packets.append(
                .fragment(
                    indicator: header & 0xE0 | RTPPayload.fragmentType, header: flags | header & 0x1F, start..<end))
            start = end
        }
    }
}
