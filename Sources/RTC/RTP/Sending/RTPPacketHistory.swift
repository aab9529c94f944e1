public import MediaTypes

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

    /// The packet's sequence number in the session's stream.
    public let sequenceNumber: SequenceNumber
    /// The packet's RTP timestamp.
    public let timestamp: RTPTimestamp
    /// The packet's payload type.
    public let payloadType: PayloadType
    /// The packet's marker bit.
    public let marker: Bool
    /// The header extensions that the packet actually had.
    public let extensions: HeaderExtensionSet
    /// The transport-wide sequence number that the packet was first sent with; nil if it had none.
    public let transportNumber: UInt16?
    /// What follows the packet's header.
    public let content: Content
    /// The packet's size in bytes, without SRTP's tag.
    public let byteCount: Int
    /// The time at which it was last sent again; nil if it was sent only once.
    public internal(set) var resentAt: MonotonicTime?
    /// The value of playout-delay, if `extensions` has it.
    public let playoutDelay: PlayoutDelay

    /// A packet that has been sent once.
    public init(
        sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, payloadType: PayloadType, marker: Bool,
        extensions: HeaderExtensionSet, transportNumber: UInt16? = nil, content: Content, byteCount: Int,
        playoutDelay: PlayoutDelay = .none
    ) {
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.payloadType = payloadType
        self.marker = marker
        self.extensions = extensions
        self.transportNumber = transportNumber
        self.content = content
        self.byteCount = byteCount
        self.playoutDelay = playoutDelay
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
    private var ring: [SentPacket?] = Array(repeating: nil, count: 64)

    /// An empty history.
    public init() {}

    /// Remembers `packet`, and forgets one that was sent so long ago that nobody asks for it any more.
    public mutating func insert(_ packet: SentPacket) {
        if ring.count < Self.capacity, let oldest = ring[slot(packet.sequenceNumber)],
            oldest.timestamp.distance(to: packet.timestamp) < Self.ticks
        {
            grow()
        }
        ring[slot(packet.sequenceNumber)] = packet
    }

    private mutating func grow() {
        let packets = ring.compactMap(\.self)
        ring = Array(repeating: nil, count: ring.count * 2)
        for packet in packets { ring[slot(packet.sequenceNumber)] = packet }
    }

    /// The packet sent with `number`; nil if it is too old or was never sent.
    public func packet(_ number: SequenceNumber) -> SentPacket? {
        guard let packet = ring[slot(number)], packet.sequenceNumber == number else { return nil }
        return packet
    }

    /// Records that the packet `number` is sent again at `time`.
    public mutating func markResent(_ number: SequenceNumber, at time: MonotonicTime) {
        guard ring[slot(number)]?.sequenceNumber == number else { return }
        ring[slot(number)]?.resentAt = time
    }

    private func slot(_ number: SequenceNumber) -> Int { Int(number.rawValue) & (ring.count - 1) }
}
