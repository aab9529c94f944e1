public import MediaTypes

/// One session's stream of a track: gives packets their headers and writes them into the caller's buffer.
///
/// A packet's bytes are a function of its `SentPacket`, the access unit and this stream's constants, and of nothing else. So a
/// packet sent again without RTX has the very same bytes, which it must: under AES-GCM, SSRC and sequence number are
/// the nonce, and two texts under one nonce give the authentication key away.
///
/// Every `write` method empties the buffer first and keeps its capacity: with a buffer used again for each datagram, nothing is
/// allocated. Not thread safe: the session's thread owns it.
public struct RTPStream: Sendable {
    /// Where packets go that are sent again (RFC 4588): a stream of its own beside the first.
    public struct Retransmission: Sendable {
        /// The other stream.
        public var ssrc: SSRC
        /// Where its sequence numbers begin: see `SequenceNumber.first(random:)`.
        public var firstSequenceNumber: SequenceNumber
        /// The retransmission's payload type for each of the media's (SDP's `apt`).
        public var payloadTypes: [PayloadType: PayloadType]

        public init(ssrc: SSRC, firstSequenceNumber: SequenceNumber, payloadTypes: [PayloadType: PayloadType]) {
            self.ssrc = ssrc
            self.firstSequenceNumber = firstSequenceNumber
            self.payloadTypes = payloadTypes
        }
    }

    /// What never changes in a session.
    public struct Configuration: Sendable {
        public var ssrc: SSRC
        /// Where the sequence numbers begin: see `SequenceNumber.first(random:)`.
        public var firstSequenceNumber: SequenceNumber
        /// What is added to media time: 32 random bits.
        public var timestampOffset: UInt32
        /// The header extensions agreed on.
        public var extensions: HeaderExtensionFormat
        /// The host's fixed clock, for capture times.
        public var clock: NTPClock
        /// Nil where the peer takes no retransmission stream.
        public var retransmission: Retransmission?

        public init(
            ssrc: SSRC, firstSequenceNumber: SequenceNumber, timestampOffset: UInt32,
            extensions: HeaderExtensionFormat = .none, clock: NTPClock, retransmission: Retransmission? = nil
        ) {
            self.ssrc = ssrc
            self.firstSequenceNumber = firstSequenceNumber
            self.timestampOffset = timestampOffset
            self.extensions = extensions
            self.clock = clock
            self.retransmission = retransmission
        }
    }

    public let configuration: Configuration
    /// What was sent under which number.
    public internal(set) var sent = SentMap()
    /// What a sender report of the stream says.
    public private(set) var statistics = SenderStatistics()
    /// The same of the retransmission stream.
    public private(set) var retransmissionStatistics = SenderStatistics()
    /// The number of the last packet sent; nil before the first.
    public private(set) var lastSequenceNumber: SequenceNumber?

    private var nextSequenceNumber: SequenceNumber
    private var nextRetransmissionNumber: SequenceNumber

    /// A stream that has sent nothing.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        nextSequenceNumber = configuration.firstSequenceNumber
        nextRetransmissionNumber = configuration.retransmission?.firstSequenceNumber ?? SequenceNumber(0)
    }

    /// Whether packets are sent again on a stream of their own.
    public var hasRetransmission: Bool { configuration.retransmission != nil }

    /// Writes the packet with index `index` of `unit` under the next sequence number.
    ///
    /// - Parameters:
    ///   - number: the unit's number in the track's history.
    ///   - mediaTime: where the unit is shown instead of at its own time: a unit that is sent anew to a viewer who lost it
    ///     must not run back on that viewer's timeline.
    ///   - extensions: what the packet should carry: those that the session hasn't agreed on, and a capture time that isn't
    ///     known, are left out.
    /// - Returns: what was sent; nil, and an empty buffer, where the unit has no such packet.
    public mutating func write(
        packet index: Int, of unit: PacketizedAccessUnit, number: UnitNumber, payloadType: PayloadType,
        extensions: HeaderExtensionSet = [], shownAt mediaTime: MediaTime? = nil, at now: MonotonicTime,
        into buffer: inout [UInt8]
    ) -> SentPacket? {
        buffer.removeAll(keepingCapacity: true)
        guard unit.packets.indices.contains(index) else { return nil }
        var written = extensions.intersection(configuration.extensions.available)
        if unit.captureTime == nil { written.remove(.captureTime) }
        let payload = unit.packets[index]
        let packet = SentPacket(
            sequenceNumber: nextSequenceNumber,
            timestamp: RTPTimestamp(mediaTime ?? unit.mediaTime, offset: configuration.timestampOffset),
            payloadType: payloadType,
            marker: index == unit.packets.count - 1, extensions: written, content: .media(unit: number, packet: index),
            byteCount: RTPPacketHeader.byteCount + configuration.extensions.byteCount(of: written) + payload.byteCount)
        assemble(packet, unit: unit, into: &buffer)
        note(packet)
        statistics.notePacket(payloadByteCount: payload.byteCount)
        if let captureTime = unit.captureTime, mediaTime.map({ $0 == unit.mediaTime }) ?? true {
            statistics.noteClock(packet.timestamp, at: captureTime)
        }
        return packet
    }

    /// Notes that the track's timeline is at `mediaTime` at `moment`: what a report says of a source that gives no times.
    public mutating func noteClock(_ mediaTime: MediaTime, at moment: MonotonicTime) {
        statistics.noteClock(RTPTimestamp(mediaTime, offset: configuration.timestampOffset), at: moment)
    }

    /// Writes a packet of nothing but `count` bytes of padding under the next sequence number, after a picture's last packet
    /// and with its time stamp: a receiver that missed the end of the picture sees the gap.
    ///
    /// - Returns: what was sent; nil, and an empty buffer, where nothing was sent before it.
    public mutating func writePadding(_ count: UInt8 = 1, into buffer: inout [UInt8]) -> SentPacket? {
        buffer.removeAll(keepingCapacity: true)
        guard let lastSequenceNumber, let last = sent.packet(lastSequenceNumber) else { return nil }
        let padding = max(count, 1)
        let extensions = last.extensions.intersection(.mid)
        let packet = SentPacket(
            sequenceNumber: nextSequenceNumber, timestamp: last.timestamp, payloadType: last.payloadType, marker: false,
            extensions: extensions, content: .padding(padding),
            byteCount: RTPPacketHeader.byteCount + configuration.extensions.byteCount(of: extensions) + Int(padding))
        assemble(packet, unit: nil, into: &buffer)
        note(packet)
        statistics.notePacket(payloadByteCount: 0)
        return packet
    }

    /// Writes `packet` again: as a retransmission (RFC 4588) where the peer takes those, else bit for bit as it was.
    ///
    ///     +-----------------------------------------------------+-----------------+------------------+
    ///     | RTP header: SSRC, number and payload type of its own| original number | original payload |
    ///     |             time stamp, marker, extensions as before|     16 bits     |                  |
    ///     +-----------------------------------------------------+-----------------+------------------+
    ///
    /// - Returns: whether it could be written; false, and an empty buffer, where the track's history no longer has the unit,
    ///   or the peer takes retransmissions, but none of that payload type.
    public mutating func writeAgain(
        _ packet: SentPacket, from history: TrackHistory, into buffer: inout [UInt8]
    ) -> Bool {
        buffer.removeAll(keepingCapacity: true)
        var unit: PacketizedAccessUnit?
        if case .media(let number, let index) = packet.content {
            guard let found = history.unit(number), found.packets.indices.contains(index) else { return false }
            unit = found
        }
        guard let retransmission = configuration.retransmission else {
            assemble(packet, unit: unit, into: &buffer)
            statistics.notePacket(payloadByteCount: payloadByteCount(of: packet, unit: unit))
            return true
        }
        guard let payloadType = retransmission.payloadTypes[packet.payloadType] else { return false }
        RTPPacketHeader(
            marker: packet.marker, payloadType: payloadType, sequenceNumber: nextRetransmissionNumber,
            timestamp: packet.timestamp, ssrc: retransmission.ssrc
        ).write(into: &buffer, hasExtension: !packet.extensions.isEmpty)
        writeExtensions(of: packet, unit: unit, into: &buffer)
        buffer.appendUInt16(packet.sequenceNumber.rawValue)
        // Padding isn't payload: a padding packet goes again as its number alone.
        writePayload(of: packet, unit: unit, into: &buffer)
        nextRetransmissionNumber = nextRetransmissionNumber.next
        retransmissionStatistics.notePacket(payloadByteCount: 2 + payloadByteCount(of: packet, unit: unit))
        return true
    }

    private mutating func note(_ packet: SentPacket) {
        sent.insert(packet)
        lastSequenceNumber = packet.sequenceNumber
        nextSequenceNumber = packet.sequenceNumber.next
    }

    /// The one place where a packet of the stream gets its bytes, the first time and each time again.
    private func assemble(_ packet: SentPacket, unit: PacketizedAccessUnit?, into buffer: inout [UInt8]) {
        var padding: UInt8 = 0
        if case .padding(let count) = packet.content { padding = count }
        RTPPacketHeader(
            marker: packet.marker, payloadType: packet.payloadType, sequenceNumber: packet.sequenceNumber,
            timestamp: packet.timestamp, ssrc: configuration.ssrc
        ).write(into: &buffer, hasExtension: !packet.extensions.isEmpty, hasPadding: padding > 0)
        writeExtensions(of: packet, unit: unit, into: &buffer)
        writePayload(of: packet, unit: unit, into: &buffer)
        if padding > 0 {
            for _ in 1..<padding { buffer.append(0) }
            buffer.append(padding)
        }
    }

    private func writeExtensions(of packet: SentPacket, unit: PacketizedAccessUnit?, into buffer: inout [UInt8]) {
        guard !packet.extensions.isEmpty else { return }
        let captureTime = unit?.captureTime.map { configuration.clock.time(at: $0) } ?? NTPTime(0)
        configuration.extensions.write(packet.extensions, captureTime: captureTime, into: &buffer)
    }

    private func writePayload(of packet: SentPacket, unit: PacketizedAccessUnit?, into buffer: inout [UInt8]) {
        guard case .media(_, let index) = packet.content, let unit else { return }
        unit.packets[index].append(to: &buffer, from: unit.unit.bytes)
    }

    private func payloadByteCount(of packet: SentPacket, unit: PacketizedAccessUnit?) -> Int {
        guard case .media(_, let index) = packet.content, let unit else { return 0 }
        return unit.packets[index].byteCount
    }
}
