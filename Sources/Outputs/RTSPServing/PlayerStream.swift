import LinkTransport
import MediaTypes
import RTP
import RTSP
import STUN
import SecureTransport

/// One stream of packets to a player: their numbers, the reports on them, and the way that they go (RFC 3550).
struct PlayerStream {
    /// How packets go.
    enum Way {
        /// Over the connection of the requests, on these channels.
        case connection(rtp: UInt8, rtcp: UInt8)
        case datagrams(rtp: TransportAddress, rtcp: TransportAddress)

        /// The way of a transport of the client at an address.
        init(_ transport: RTSPTransport, of peer: TransportAddress) {
            switch transport {
            case .interleaved(let rtp, let rtcp): self = .connection(rtp: rtp, rtcp: rtcp)
            case .udp(let rtp, let rtcp): self = .datagrams(rtp: peer.with(port: rtp), rtcp: peer.with(port: rtcp))
            }
        }
    }

    /// So many datagrams go at once, and the next ones after a pause: a player's socket holds few, and a key frame has
    /// hundreds.
    private static let burst = 16
    private static let pause = Interval.milliseconds(2)
    /// The bytes before each packet that is interleaved with the requests.
    private static let interleavedHeader = 4
    /// It tells a player that the streams belong together.
    private static let canonicalName = "screenrelay"

    let media: RTSPMedia
    let ssrc = SSRC(SecureRandom.uint32())
    private let way: Way
    private let origin: MonotonicTime
    private let clock: NTPClock
    private let timestampOffset = SecureRandom.uint32()
    private var nextNumber = SequenceNumber.first(random: UInt16(truncatingIfNeeded: SecureRandom.uint32()))
    private var statistics = SenderStatistics()
    private var reports: ReportSchedule
    /// The packets that the player has reported lost so far.
    private var lostPackets: Int32 = 0
    /// A report is due that hasn't been sent.
    private var owesReport = false
    private var datagrams: [[UInt8]] = []
    private var datagramsFrom = MonotonicTime.zero

    /// A stream that has sent nothing.
    ///
    /// - Parameters:
    ///   - origin: when the stream's clock is at zero. The streams of a player have the same, so that it can keep them
    ///     together.
    ///   - clock: the clock of the reports, which the streams of a player share.
    init(_ media: RTSPMedia, _ way: Way, origin: MonotonicTime, clock: NTPClock, now: MonotonicTime) {
        self.media = media
        self.way = way
        self.origin = origin
        self.clock = clock
        reports = ReportSchedule(start: now)
    }

    /// The time of `moment` on the stream's clock.
    func mediaTime(at moment: MonotonicTime) -> MediaTime {
        MediaTime(ticks: media.clockRate.ticks(in: moment - origin))
    }

    /// The number of the next packet, and the timestamp of `moment`.
    func first(at moment: MonotonicTime) -> (sequenceNumber: UInt16, timestamp: UInt32) {
        (nextNumber.rawValue, timestamp(of: mediaTime(at: moment)).rawValue)
    }

    private func timestamp(of time: MediaTime) -> RTPTimestamp { RTPTimestamp(time, offset: timestampOffset) }

    /// When ``flush(over:_:now:)`` has something to do.
    var deadline: MonotonicTime {
        min(
            datagrams.isEmpty ? .distantFuture : datagramsFrom,
            // There is nothing to report before the first packet.
            statistics.packetCount > 0 ? reports.deadline : .distantFuture)
    }

    /// Whether more can be sent now. What has to wait stays in the track's queue, which is bounded.
    func hasRoom(on connection: SocketConnection) -> Bool { !connection.hasPending && datagrams.count < Self.burst }

    /// Sends the packets of one frame, which is shown or heard at `time` on the stream's clock; datagrams once they are
    /// flushed.
    ///
    /// - Parameters:
    ///   - bytes: what the payloads are parts of.
    ///   - marked: the index of the packet that has the marker; nil for none.
    mutating func send(
        _ payloads: [RTPPayload], of bytes: [UInt8], at time: MediaTime, marked: Int?, over connection: SocketConnection
    ) throws(SocketError) {
        // All packets of a frame leave with one call. Their payloads are copied once: sendmsg(2) with a piece for each
        // header and payload took longer.
        var interleaved: [UInt8] = []
        if case .connection = way {
            let header = Self.interleavedHeader + RTPPacketHeader.byteCount
            interleaved.reserveCapacity(payloads.reduce(0) { $0 + header + $1.byteCount })
        }
        for (index, payload) in payloads.enumerated() {
            let header = RTPPacketHeader(
                marker: index == marked, payloadType: PayloadType(media.payloadType), sequenceNumber: nextNumber,
                timestamp: timestamp(of: time), ssrc: ssrc)
            let byteCount = RTPPacketHeader.byteCount + payload.byteCount
            nextNumber = nextNumber.next
            statistics.notePacket(payloadByteCount: payload.byteCount)
            switch way {
            case .connection(let channel, _):
                Self.beginPacket(of: byteCount, on: channel, in: &interleaved)
                header.write(into: &interleaved)
                payload.append(to: &interleaved, from: bytes)
            case .datagrams:
                var datagram: [UInt8] = []
                datagram.reserveCapacity(byteCount)
                header.write(into: &datagram)
                payload.append(to: &datagram, from: bytes)
                datagrams.append(datagram)
            }
        }
        if !interleaved.isEmpty { try connection.enqueue(header: interleaved) }
    }

    /// Sends the datagrams that wait, as far as it is time for them, and a report if one is due.
    mutating func flush(
        over connection: SocketConnection, _ ports: RTSPPorts, now: MonotonicTime
    ) throws(SocketError) {
        sendDatagrams(ports, now: now)
        guard statistics.packetCount > 0 else { return }
        if reports.isDue(at: now) { owesReport = true }
        if owesReport { try sendReport(over: connection, ports, now: now) }
    }

    /// Takes a report. Returns whether it is of this stream and tells of more lost packets than the one before.
    mutating func takeReport(_ report: ReceptionReport) -> Bool {
        guard report.ssrc == ssrc else { return false }
        defer { lostPackets = report.cumulativeLost }
        return report.cumulativeLost > lostPackets
    }

    /// Forgets what waits.
    mutating func forgetWaiting() {
        datagrams = []
    }

    private mutating func sendDatagrams(_ ports: RTSPPorts, now: MonotonicTime) {
        guard case .datagrams(let peer, _) = way, !datagrams.isEmpty, now >= datagramsFrom else { return }
        let count = ports.sendMedia(datagrams.prefix(Self.burst), to: peer)
        datagrams.removeFirst(count)
        datagramsFrom = now + Self.pause
    }

    private mutating func sendReport(
        over connection: SocketConnection, _ ports: RTSPPorts, now: MonotonicTime
    ) throws(SocketError) {
        if case .connection = way, connection.hasPending { return }
        statistics.noteClock(timestamp(of: mediaTime(at: now)), at: now)
        guard let report = statistics.report(ssrc: ssrc, at: now, clock: clock, rate: media.clockRate) else { return }
        owesReport = false
        var packet: [UInt8] = []
        report.writeCompound(canonicalName: Self.canonicalName, into: &packet)
        switch way {
        case .connection(_, let channel):
            var interleaved: [UInt8] = []
            Self.beginPacket(of: packet.count, on: channel, in: &interleaved)
            try connection.enqueue(header: interleaved + packet)
        case .datagrams(_, let peer): ports.sendReport(packet, to: peer)
        }
    }

    /// Appends what precedes a packet of `byteCount` bytes: `$`, the channel, the length in two bytes (RFC 2326 section
    /// 10.12).
    static func beginPacket(of byteCount: Int, on channel: UInt8, in bytes: inout [UInt8]) {
        bytes.append(0x24)
        bytes.append(channel)
        bytes.append(UInt8(truncatingIfNeeded: byteCount >> 8))
        bytes.append(UInt8(truncatingIfNeeded: byteCount))
    }
}
