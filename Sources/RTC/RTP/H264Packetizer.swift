public import MediaTypes

/// An access unit and how it goes into packets: made once for a track and shared by all its sessions, which add
/// their own headers.
public struct PacketizedAccessUnit: Sendable {
    /// The access unit whose bytes the packets are made of.
    public let unit: AccessUnit
    /// The payloads in sending order; the last one's packet has the marker. Empty only for an access unit without NAL units.
    public let packets: [RTPPayload]
    /// When it is to be shown, on the track's timeline.
    public let mediaTime: MediaTime
    /// What a decoder must be able to: `yuv444` where the stream is of a 4:4:4 profile just then.
    public let chroma: ChromaFormat
    /// What all payloads take together.
    public let payloadByteCount: Int

    /// Whether decoding can begin here.
    public var isIDR: Bool { unit.isIDR }
    /// When the picture was taken; nil where the source doesn't know.
    public var captureTime: MonotonicTime? { unit.captureTime }
}

/// Describes an access unit as packets in RFC 6184's non-interleaved mode (packetization-mode=1): small NAL units that follow
/// each other go together, large ones in parts of about equal size.
public struct H264Packetizer: Sendable {
    /// The largest UDP payload that we send: below what any path of the Internet is known to break (IPv6's 1280).
    public static let maximumDatagramByteCount = 1200

    /// What is left of a datagram for a payload after the RTP header (12), all header extensions that we ever send (32),
    /// AEAD_AES_128_GCM's tag (16; HMAC-SHA1's is shorter) and a retransmission's original sequence number (2): 1138.
    /// An access unit is packetised once, so all sessions have the room of the narrowest.
    public static let defaultMaximumPayloadByteCount =
        maximumDatagramByteCount - RTPPacketHeader.byteCount - HeaderExtensionFormat.maximumByteCount - 16 - 2

    /// The most that a payload takes.
    public let maximumPayloadByteCount: Int

    /// A packetizer of payloads of at most `maximumPayloadByteCount` bytes; kept between 16 and 65535.
    public init(maximumPayloadByteCount: Int = Self.defaultMaximumPayloadByteCount) {
        self.maximumPayloadByteCount = min(max(maximumPayloadByteCount, 16), 65535)
    }

    /// The packets of `unit`. Access unit delimiters and filler data don't go out (a receiver needs neither), nor do NAL
    /// units without bytes or of types that RFC 6184 uses for itself.
    public func packetize(
        _ unit: AccessUnit, at mediaTime: MediaTime, chroma: ChromaFormat = .yuv420
    ) -> PacketizedAccessUnit {
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

        for range in unit.nalUnits where isSent(range, of: unit.bytes) {
            if waitingByteCount + 2 + range.count > maximumPayloadByteCount { sendWaiting() }
            if range.count > maximumPayloadByteCount {
                appendFragments(of: range, header: unit.bytes[range.lowerBound], to: &packets)
            } else {
                waiting.append(range)
                waitingByteCount += 2 + range.count
            }
        }
        sendWaiting()
        return PacketizedAccessUnit(
            unit: unit, packets: packets, mediaTime: mediaTime, chroma: chroma,
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

    /// Parts of about equal size: a last packet of a few bytes would cost as much as a full one.
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
