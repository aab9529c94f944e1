public import MediaTypes

/// A packet that a session sent: all that its bytes are made of, given the track's history.
public struct SentPacket: Hashable, Sendable {
    /// What stood behind the header.
    public enum Content: Hashable, Sendable {
        /// The packet with index `packet` of the unit `unit`.
        case media(unit: UnitNumber, packet: Int)
        /// Nothing but this many bytes of padding.
        case padding(UInt8)
    }

    /// The packet's place in the session's stream.
    public let sequenceNumber: SequenceNumber
    public let timestamp: RTPTimestamp
    public let payloadType: PayloadType
    public let marker: Bool
    /// The header extensions that the packet really had.
    public let extensions: HeaderExtensionSet
    public let content: Content
    /// The packet's size without SRTP's tag.
    public let byteCount: Int
    /// When it was last sent again; nil where it was sent only once.
    public internal(set) var resentAt: MonotonicTime?

    /// A packet sent once.
    public init(
        sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, payloadType: PayloadType, marker: Bool,
        extensions: HeaderExtensionSet, content: Content, byteCount: Int
    ) {
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.payloadType = payloadType
        self.marker = marker
        self.extensions = extensions
        self.content = content
        self.byteCount = byteCount
    }
}

/// A session's map from its own sequence numbers to what it sent under them: the last 2048 packets.
public struct SentMap: Sendable {
    /// How many packets are remembered: a power of two, so that a slot is the number's low bits.
    public static let capacity = 2048

    private var ring: [SentPacket?] = Array(repeating: nil, count: Self.capacity)

    /// An empty map.
    public init() {}

    /// Remembers `packet`; the one that was sent 2048 packets earlier goes.
    public mutating func insert(_ packet: SentPacket) {
        ring[slot(packet.sequenceNumber)] = packet
    }

    /// The packet sent under `number`; nil where it is too long ago, or was never sent.
    public func packet(_ number: SequenceNumber) -> SentPacket? {
        guard let packet = ring[slot(number)], packet.sequenceNumber == number else { return nil }
        return packet
    }

    /// Notes that the packet `number` is sent again at `time`.
    public mutating func markResent(_ number: SequenceNumber, at time: MonotonicTime) {
        guard ring[slot(number)]?.sequenceNumber == number else { return }
        ring[slot(number)]?.resentAt = time
    }

    private func slot(_ number: SequenceNumber) -> Int { Int(number.rawValue) & (Self.capacity - 1) }
}
