public import MediaTypes

/// Probes for the loss of a picture's last packets when no later picture follows.
///
/// If the last packets are lost and nothing follows, no later packet shows the receiver the gap, and with damage-driven
/// capture the next picture may be seconds away. So max(20 ms, RTT/2) after the last packet, we send a packet that
/// reveals the gap. A second probe follows after twice that time, and then no more.
///
/// While pictures follow each other, the next picture is the best probe, so the first probe waits for one and a half
/// times their longest interval of late. Otherwise every small picture of a motion at 30 pictures per second would be
/// sent twice. Only where losses come in bursts, padding follows each picture, evenly up to the next one: a burst may
/// take one picture and the next, and the sooner something arrives, the sooner the receiver sees the gap.
public struct TailLossProbe: Sendable {
    /// The kind of probe to send.
    public enum Action: Hashable, Sendable {
        /// All packets of the picture again, on the retransmission stream. They repair the loss directly.
        case retransmitPicture
        /// A padding packet with the next sequence number. It reveals the gap, and the receiver requests what it is
        /// missing.
        case padding
        /// The picture's last packet, bit for bit the same on the same stream.
        case retransmitLastPacket
    }

    /// The minimum delay from the last packet to the first probe.
    public static let minDelay = Interval.milliseconds(20)
    /// Pictures at most this far apart count as motion, so the next one is expected soon.
    public static let motionSpacing = Interval.milliseconds(50)
    /// The largest picture, in packets, that is sent again as a whole.
    public static let smallPictureLimit = 3
    /// The maximum number of probes for one picture that nothing follows.
    public static let maxProbeCount = 2
    /// The number of packets from one picture of a motion to the next where losses come in bursts: those of the
    /// picture, and padding for the rest. Fewer show a gap later, and a burst that is counted in packets then takes
    /// more pictures.
    static let packetsInMotion = 12
    private static let minPaddingSpacing = Interval.milliseconds(2)

    /// The time at which to call `poll`; nil if there is nothing to probe for.
    public private(set) var deadline: MonotonicTime?

    private let hasRetransmission: Bool
    private var lastSequenceNumber = SequenceNumber(0)
    private var packetCount = 1
    private var delay = Self.minDelay
    private var remaining = 0
    /// The number of padding packets that are still to be sent between this picture and the next, and their distance.
    private var paddingLeft = 0
    private var paddingSpacing = Interval.zero
    private var lastPictureAt: MonotonicTime?
    /// The longest distance of pictures in this motion, of which each picture forgets an eighth: pictures that come 17
    /// and 50 ms apart in turn are as regular as those that come every 33 ms.
    private var motionInterval = Interval.zero
    private var bursts = BurstDetector()
    private var paddingGuard = PaddingGuard()

    /// - Parameter hasRetransmission: whether the peer supports a retransmission stream, and may get padding. Without,
    ///   nothing is sent but ``Action/retransmitLastPacket``.
    public init(hasRetransmission: Bool) {
        self.hasRetransmission = hasRetransmission
    }

    /// Notes that the last of a picture's `packetCount` packets has been sent with `lastSequenceNumber`. This ends the
    /// probes for the picture before, because this one's packets reveal its gap.
    ///
    /// - Parameters:
    ///   - isKeyFrame: whether the picture is a key frame.
    ///   - paddingRoom: how many padding packets the path has room for in a second; 0 if it is full, so that losses in
    ///     bursts are those of its queue.
    public mutating func pictureSent(
        lastSequenceNumber: SequenceNumber, packetCount: Int, isKeyFrame: Bool = false, roundTripTime: Interval?,
        paddingRoom: Int = 10_000, at now: MonotonicTime
    ) {
        self.lastSequenceNumber = lastSequenceNumber
        self.packetCount = max(packetCount, 1)
        paddingGuard.pictureSent(
            lastSequenceNumber: lastSequenceNumber, isLarge: packetCount > Self.packetsInMotion, isKeyFrame: isKeyFrame,
            at: now)
        delay = max(Self.minDelay, (roundTripTime ?? .zero) / 2)
        paddingLeft = 0
        if let lastPictureAt, now - lastPictureAt <= Self.motionSpacing {
            let interval = now - lastPictureAt
            motionInterval = max(interval, motionInterval * 7 / 8)
            delay = max(delay, motionInterval * 3 / 2)
            if bursts.isBursty(at: now), hasRetransmission, paddingGuard.allowsPadding(at: now) {
                let room = Int64(paddingRoom) * interval.milliseconds / 1000
                paddingLeft = max(0, min(Self.packetsInMotion - packetCount, Int(room)))
                paddingSpacing = max(interval / Int64(paddingLeft + 1), Self.minPaddingSpacing)
            }
        } else {
            motionInterval = .zero
        }
        lastPictureAt = now
        remaining = Self.maxProbeCount
        deadline = now + (paddingLeft > 0 ? paddingSpacing : delay)
    }

    /// Notes the packets that the peer requests, in the order of a NACK.
    public mutating func requested(_ numbers: [SequenceNumber], at now: MonotonicTime) {
        if paddingLeft > 0, deadline != nil, let lastPictureAt { deadline = lastPictureAt + delay }
        paddingLeft = 0
        paddingGuard.requested(at: now)
        bursts.requested(numbers, at: now)
    }

    /// Notes the highest sequence number in a reception report of the stream. If it is the picture's last packet or a
    /// later one, the receiver sees every gap by itself.
    public mutating func receiverReported(highest: SequenceNumber) {
        if highest.distance(to: lastSequenceNumber) <= 0 { deadline = nil }
    }

    /// The sequence numbers of the picture's packets in order, for `retransmitPicture`. The last one is for
    /// `retransmitLastPacket`.
    public var pictureSequenceNumbers: [SequenceNumber] {
        (0..<packetCount).map { lastSequenceNumber.advanced(by: $0 - packetCount + 1) }
    }

    /// The probe to send now, if any; the caller then waits for the new `deadline`.
    public mutating func poll(at now: MonotonicTime) -> Action? {
        guard let deadline, now >= deadline, remaining > 0 else { return nil }
        if paddingLeft > 0 {
            paddingLeft -= 1
            let next = (lastPictureAt ?? now) + delay
            self.deadline = paddingLeft > 0 ? min(now + paddingSpacing, next) : next
            return .padding
        }
        let isPadding = packetCount > Self.smallPictureLimit || remaining == 1
        if hasRetransmission, isPadding, let until = paddingGuard.probeHeldUntil(at: now) {
            self.deadline = until == .distantFuture ? nil : until
            return nil
        }
        remaining -= 1
        delay = delay * 2
        self.deadline = remaining > 0 ? now + delay : nil
        if !hasRetransmission { return .retransmitLastPacket }
        // The first probe repairs a small picture directly. But a receiver requests nothing before a packet that came
        // as a retransmission, because that packet wasn't late but lost. If the picture before was lost as well, only
        // padding reveals it.
        return isPadding ? .padding : .retransmitPicture
    }
}
