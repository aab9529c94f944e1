public import MediaTypes

/// One session's RTP stream of a track: gives packets their headers and writes them into the caller's buffer.
///
/// A packet's bytes depend only on its `SentPacket`, its frames and this stream's constants. So a packet that is sent
/// again without RTX has exactly the same bytes. It must: under AES-GCM, the SSRC and the sequence number form the
/// nonce, and encrypting two different plaintexts with one nonce reveals the authentication key.
///
/// Every `write` method empties the buffer first and keeps its capacity, so nothing is allocated if the buffer is
/// reused for each datagram. Not thread-safe: the session's thread owns the stream.
public struct RTPStream: Sendable {
    /// The parameters that the stream was created with.
    public let configuration: Configuration
    /// How long the peer may hold back the pictures that follow, where it understands that.
    public var playoutDelay = PlayoutDelay.none
    /// The packets sent, by sequence number.
    public private(set) var sent = RTPPacketHistory()
    /// The statistics for the stream's sender reports.
    public private(set) var statistics = SenderStatistics()
    /// The statistics of the retransmission stream.
    public private(set) var retransmissionStatistics = SenderStatistics()
    /// The sequence number of the last packet sent; nil before the first.
    public var lastSequenceNumber: SequenceNumber? { last?.sequenceNumber }
    private var last: SentPacket?
    private var samplePlaces = SamplePlaces()

    private var nextSequenceNumber: SequenceNumber
    private var nextRetransmissionNumber: SequenceNumber

    /// A stream that has sent nothing.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        nextSequenceNumber = configuration.firstSequenceNumber
        nextRetransmissionNumber = configuration.retransmission?.firstSequenceNumber ?? SequenceNumber(0)
    }

    /// Whether packets are retransmitted on a separate stream.
    public var hasRetransmission: Bool { configuration.retransmission != nil }

    /// Writes the packet at `index` of a frame with the next sequence number.
    ///
    /// - Parameters:
    ///   - frame: the frame, and how this stream sends it.
    ///   - extensions: the header extensions to write. Those that the session has not negotiated are left out, and so
    ///     is an unknown capture time, and so are samples that are not known yet. The transport-wide number is written
    ///     if there is one, whether listed or not.
    ///   - transportNumber: the packet's transport-wide sequence number, which the caller counts across all streams of
    ///     the transport. It is used if and only if the result has it.
    /// - Returns: the packet sent; nil, with an empty buffer, if the frame has no such packet.
    public mutating func write(
        packet index: Int, of frame: Frame, extensions: HeaderExtensionSet = [], transportNumber: UInt16? = nil,
        into buffer: inout [UInt8]
    ) -> SentPacket? {
        buffer.removeAll(keepingCapacity: true)
        guard frame.packetized.packets.indices.contains(index) else { return nil }
        var extensions = extensions
        if frame.packetized.captureTime == nil { extensions.remove(.captureTime) }
        if !extensions.contains(.samples) || !samplePlaces.lead(to: frame.packetized.coded.check) {
            extensions.remove(.samples)
        }
        let written = available(extensions, transportNumber)
        var payloadType = frame.payloadType
        var content = SentPacket.Content.media(frame: frame.number, packet: index)
        var payloadByteCount = frame.packetized.packets[index].byteCount
        if let previous = frame.previous, let redundancy = configuration.redundancy,
            redundancy.framePayloadType == payloadType,
            let byteCount = redundancy.byteCount(of: frame.packetized, after: previous)
        {
            payloadType = redundancy.payloadType
            content = .red(frame: frame.number)
            payloadByteCount = byteCount
        }
        let marker =
            switch frame.packetized.format.kind {
            case .video: index == frame.packetized.packets.count - 1
            case .audio: frame.endsSilence
            }
        let mediaTime = frame.shownAt ?? frame.packetized.mediaTime
        let packet = SentPacket(
            sequenceNumber: nextSequenceNumber,
            timestamp: RTPTimestamp(mediaTime, offset: configuration.timestampOffset),
            payloadType: payloadType, marker: marker, extensions: written,
            transportNumber: written.contains(.transportNumber) ? transportNumber : nil, content: content,
            byteCount: RTPPacketHeader.byteCount + configuration.extensions.byteCount(of: written) + payloadByteCount,
            playoutDelay: playoutDelay)
        assemble(packet, frame: frame.packetized, after: frame.previous, into: &buffer)
        note(packet)
        statistics.notePacket(payloadByteCount: payloadByteCount)
        if let captureTime = frame.packetized.captureTime, mediaTime == frame.packetized.mediaTime {
            statistics.noteClock(packet.timestamp, at: captureTime)
        }
        return packet
    }

    /// Notes that the track's timeline is at `mediaTime` at `moment`. Sender reports use this for a source that gives
    /// no capture times.
    public mutating func noteClock(_ mediaTime: MediaTime, at moment: MonotonicTime) {
        statistics.noteClock(RTPTimestamp(mediaTime, offset: configuration.timestampOffset), at: moment)
    }

    /// Writes a packet with only `count` bytes of padding, with the next sequence number and the timestamp of the last
    /// packet. Sent after a picture, it shows the gap to a receiver that missed the picture's end.
    ///
    /// - Parameter transportNumber: the packet's transport-wide sequence number, as for a packet of a frame.
    /// - Returns: the packet sent; nil, with an empty buffer, if nothing was sent before.
    public mutating func writePadding(
        _ count: UInt8 = 1, transportNumber: UInt16? = nil, into buffer: inout [UInt8]
    ) -> SentPacket? {
        buffer.removeAll(keepingCapacity: true)
        guard let last else { return nil }
        let padding = max(count, 1)
        let extensions = available(last.extensions.intersection(.mid), transportNumber)
        let packet = SentPacket(
            sequenceNumber: nextSequenceNumber, timestamp: last.timestamp, payloadType: last.payloadType, marker: false,
            extensions: extensions, transportNumber: extensions.contains(.transportNumber) ? transportNumber : nil,
            content: .padding(padding),
            byteCount: RTPPacketHeader.byteCount + configuration.extensions.byteCount(of: extensions) + Int(padding))
        assemble(packet, frame: nil, after: nil, into: &buffer)
        note(packet)
        statistics.notePacket(payloadByteCount: 0)
        return packet
    }

    /// Writes `packet` again: as a retransmission (RFC 4588), without samples, if the peer supports them, otherwise
    /// bit for bit as before.
    ///
    ///     +-----------------------------------------------------+-----------------+------------------+
    ///     | RTP header: SSRC, number and payload type of its own| original number | original payload |
    ///     |             time stamp, marker, extensions as before|     16 bits     |                  |
    ///     +-----------------------------------------------------+-----------------+------------------+
    ///
    /// - Parameters:
    ///   - asSent: whether to write it bit for bit, for the stream of the media, even if there is one of
    ///     retransmissions.
    ///   - transportNumber: the transport-wide sequence number of a retransmission on its own stream. Otherwise
    ///     it is not used: the packet keeps its first number, so a report on that number may be about either time that
    ///     the packet was sent.
    /// - Returns: whether the packet could be written. False, with an empty buffer, if the track's history no longer
    ///   has the frame, or the one before in a packet with both, or if the peer supports retransmissions but not for
    ///   that payload type.
    public mutating func writeRetransmission(
        _ packet: SentPacket, from history: TrackHistory, asSent: Bool = false, transportNumber: UInt16? = nil,
        into buffer: inout [UInt8]
    ) -> Bool {
        buffer.removeAll(keepingCapacity: true)
        var frame: PacketizedFrame?
        var previous: PacketizedFrame?
        switch packet.content {
        case .media(let number, let index):
            guard let found = history.frame(number), found.packets.indices.contains(index) else { return false }
            frame = found
        case .red(let number):
            // Without the frame before, the packet would have other bytes than the first time.
            guard let found = history.frame(number), let before = history.frame(FrameNumber(number.rawValue &- 1))
            else { return false }
            frame = found
            previous = before
        case .padding: break
        }
        guard let retransmission = asSent ? nil : configuration.retransmission else {
            assemble(packet, frame: frame, after: previous, into: &buffer)
            statistics.notePacket(payloadByteCount: payloadByteCount(of: packet, frame: frame, after: previous))
            return true
        }
        guard let payloadType = retransmission.payloadTypes[packet.payloadType] else { return false }
        // A receiver counts the places of samples as packets arrive: from those that come late it would count on.
        let extensions = available(packet.extensions.subtracting(.samples), transportNumber)
        RTPPacketHeader(
            marker: packet.marker, payloadType: payloadType, sequenceNumber: nextRetransmissionNumber,
            timestamp: packet.timestamp, ssrc: retransmission.ssrc
        ).write(into: &buffer, hasExtension: !extensions.isEmpty)
        write(extensions, transportNumber, of: packet, frame: frame, into: &buffer)
        buffer.appendUInt16(packet.sequenceNumber.rawValue)
        // Padding is not payload, so a padding packet is retransmitted as its sequence number alone.
        writePayload(of: packet, frame: frame, after: previous, into: &buffer)
        nextRetransmissionNumber = nextRetransmissionNumber.next
        let count = payloadByteCount(of: packet, frame: frame, after: previous)
        retransmissionStatistics.notePacket(payloadByteCount: 2 + count)
        return true
    }

    /// Forgets the packets sent so far: none of them is sent again.
    public mutating func forgetSent() {
        sent = RTPPacketHistory()
        samplePlaces = SamplePlaces()
    }

    private mutating func note(_ packet: SentPacket) {
        sent.insert(packet)
        last = packet
        nextSequenceNumber = packet.sequenceNumber.next
    }

    /// The only place where a packet of the stream is assembled, both the first time and each time it is sent again.
    private func assemble(
        _ packet: SentPacket, frame: PacketizedFrame?, after previous: PacketizedFrame?, into buffer: inout [UInt8]
    ) {
        var padding: UInt8 = 0
        if case .padding(let count) = packet.content { padding = count }
        RTPPacketHeader(
            marker: packet.marker, payloadType: packet.payloadType, sequenceNumber: packet.sequenceNumber,
            timestamp: packet.timestamp, ssrc: configuration.ssrc
        ).write(into: &buffer, hasExtension: !packet.extensions.isEmpty, hasPadding: padding > 0)
        write(packet.extensions, packet.transportNumber, of: packet, frame: frame, into: &buffer)
        writePayload(of: packet, frame: frame, after: previous, into: &buffer)
        if padding > 0 {
            for _ in 1..<padding { buffer.append(0) }
            buffer.append(padding)
        }
    }

    /// The extensions of `set` that the session has negotiated; the transport-wide number if there is one.
    private func available(_ set: HeaderExtensionSet, _ transportNumber: UInt16?) -> HeaderExtensionSet {
        configuration.extensions.written(
            of: transportNumber == nil ? set.subtracting(.transportNumber) : set.union(.transportNumber))
    }

    private func write(
        _ extensions: HeaderExtensionSet, _ transportNumber: UInt16?, of packet: SentPacket, frame: PacketizedFrame?,
        into buffer: inout [UInt8]
    ) {
        guard !extensions.isEmpty else { return }
        let captureTime = frame?.captureTime.map { configuration.clock.time(at: $0) } ?? NTPTime(0)
        configuration.extensions.write(
            extensions, playoutDelay: packet.playoutDelay, captureTime: captureTime,
            transportNumber: transportNumber ?? 0, samples: frame?.coded.check?.samples, into: &buffer)
    }

    private func writePayload(
        of packet: SentPacket, frame: PacketizedFrame?, after previous: PacketizedFrame?, into buffer: inout [UInt8]
    ) {
        guard let frame else { return }
        switch packet.content {
        case .media(_, let index): frame.packets[index].append(to: &buffer, from: frame.coded.bytes)
        case .red:
            if let previous { configuration.redundancy?.write(frame, after: previous, into: &buffer) }
        case .padding: break
        }
    }

    private func payloadByteCount(
        of packet: SentPacket, frame: PacketizedFrame?, after previous: PacketizedFrame?
    ) -> Int {
        guard let frame else { return 0 }
        switch packet.content {
        case .media(_, let index): return frame.packets[index].byteCount
        case .red:
            guard let previous else { return 0 }
            return configuration.redundancy?.byteCount(of: frame, after: previous) ?? 0
        case .padding: return 0
        }
    }
}
