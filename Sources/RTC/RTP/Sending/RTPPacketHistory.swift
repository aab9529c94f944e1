import MediaTypes

/// A packet that a session has sent: all that is needed, together with the track's history, to reproduce its bytes.
public struct SentPacket: Hashable, Sendable {
    /// The content after the packet's header.
    public enum Content: Hashable, Sendable {
        /// The packet with the index `packet` of the frame with the number `frame`.
        case media(frame: FrameNumber, packet: Int)
        /// The only packet of the frame with the number `frame`, and the packet of the frame before it (``REDFormat``).
        case red(frame: FrameNumber)
        /// Only this many bytes of padding.
        case padding(UInt8)
    }

    // A session remembers up to 2048 packets. In this order, the properties take 24 bytes.

    /// The low 42 bits of the frame's number, or the number of padding bytes; then the packet's index, or one of the
    /// constants below.
    private let place: UInt64
    /// The packet's RTP timestamp.
    public let timestamp: RTPTimestamp
    /// The packet's sequence number in the session's stream.
    public let sequenceNumber: SequenceNumber
    /// The value of playout-delay, if `extensions` has it.
    public let playoutDelay: PlayoutDelay
    private let wireTransportNumber: UInt16
    private let wireByteCount: UInt16
    /// The marker bit and the payload type, as in the header.
    private let markerAndType: UInt8
    /// The header extensions that the packet actually had.
    public let extensions: HeaderExtensionSet

    private static let indexBits = 22
    /// Stored instead of an index; no frame has so many packets.
    private static let red: UInt64 = 1 << indexBits - 1
    private static let padding = red - 1
    /// The place of a packet that can't be sent again.
    private static let nowhere = UInt64.max << indexBits

    /// A packet that has been sent once, of at most 65535 bytes. `transportNumber` must be given if `extensions` has
    /// it.
    public init(
        sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, payloadType: PayloadType, marker: Bool,
        extensions: HeaderExtensionSet, transportNumber: UInt16? = nil, content: Content, byteCount: Int,
        playoutDelay: PlayoutDelay = .none
    ) {
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.extensions = extensions
        self.playoutDelay = playoutDelay
        markerAndType = (marker ? 0x80 : 0) | payloadType.rawValue
        wireTransportNumber = transportNumber ?? 0
        wireByteCount = UInt16(clamping: byteCount)
        place =
            switch content {
            case .media(let frame, let packet):
                packet < Self.padding ? frame.rawValue << Self.indexBits | UInt64(packet) : Self.nowhere
            case .red(let frame): frame.rawValue << Self.indexBits | Self.red
            case .padding(let count): UInt64(count) << Self.indexBits | Self.padding
            }
    }

    /// The packet's payload type.
    public var payloadType: PayloadType { PayloadType(markerAndType) }
    /// The packet's marker bit.
    public var marker: Bool { markerAndType & 0x80 != 0 }
    /// The transport-wide sequence number that the packet was first sent with; nil if it had none.
    public var transportNumber: UInt16? { extensions.contains(.transportNumber) ? wireTransportNumber : nil }
    /// The packet's size in bytes, without SRTP's tag.
    public var byteCount: Int { Int(wireByteCount) }

    /// What follows the packet's header.
    public var content: Content {
        let number = place >> Self.indexBits
        let index = place & Self.red
        switch index {
        case Self.red: return .red(frame: FrameNumber(number))
        case Self.padding: return .padding(UInt8(truncatingIfNeeded: number))
        default: return .media(frame: FrameNumber(number), packet: Int(index))
        }
    }
}

/// The packets that a session sent last: those of the last five seconds and often more, but at most 2048.
///
/// Memory grows with what is sent: a thousand viewers of a few packets a second need little.
public struct RTPPacketHistory: Sendable {
    /// The most packets that are remembered.
    public static let capacity = 2048
    /// A packet is not forgotten within so many ticks of its stream's clock, unless ``capacity`` is reached: five
    /// seconds of pictures, nine of sound.
    private static let ticks = 450_000

    /// A power of two of places, so that a place is the low bits of the sequence number.
    private var ring = [SentPacket](repeating: Self.empty, count: 64)
    /// A place without a packet. An optional would need 8 more bytes for each.
    private static let empty = SentPacket(
        sequenceNumber: SequenceNumber(0), timestamp: RTPTimestamp(0), payloadType: PayloadType(0), marker: false,
        extensions: [], content: .padding(0), byteCount: 0)

    /// An empty history.
    public init() {}

    /// Remembers `packet`, and forgets one that was sent so long ago that nobody asks for it any more.
    public mutating func insert(_ packet: SentPacket) {
        let oldest = ring[slot(packet.sequenceNumber)]
        if ring.count < Self.capacity, oldest.byteCount > 0,
            oldest.timestamp.distance(to: packet.timestamp) < Self.ticks
        {
            grow()
        }
        ring[slot(packet.sequenceNumber)] = packet
    }

    private mutating func grow() {
        let packets = ring
        ring = Array(repeating: Self.empty, count: packets.count * 2)
        for packet in packets where packet.byteCount > 0 { ring[slot(packet.sequenceNumber)] = packet }
    }

    /// The packet sent with `number`; nil if it is too old or was never sent.
    public func packet(_ number: SequenceNumber) -> SentPacket? {
        let packet = ring[slot(number)]
        return packet.sequenceNumber == number && packet.byteCount > 0 ? packet : nil
    }

    private func slot(_ number: SequenceNumber) -> Int { Int(number.rawValue) & (ring.count - 1) }
}
