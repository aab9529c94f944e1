public import MediaTypes

/// Probes for the loss of a picture's last packets when no later picture follows.
///
/// If the last packets are lost and nothing follows, no later packet shows the receiver the gap, and with damage-driven
/// capture the next picture may be seconds away. So max(20 ms, RTT/2) after the last packet, we send a packet that
/// reveals the gap. A second probe follows after twice that time, and then no more.
///
/// While pictures follow each other regularly, the next picture is the best probe, so the first probe waits for one and
/// a half times their interval. Otherwise every small picture of a motion at 30 pictures per second would be sent
/// twice. Only where losses come in bursts, padding follows each picture, evenly up to the next one: a burst may take
/// one picture and the next, and the sooner something arrives, the sooner the receiver sees the gap.
public struct TailProbe: Sendable {
    /// The kind of probe to send.
    public enum Action: Hashable, Sendable {
        /// All packets of the picture again, on the retransmission stream. They repair the loss directly.
        case retransmitPicture
        /// A padding packet with the next sequence number. It reveals the gap, and the receiver requests what it is
        /// missing.
        case padding
        /// The picture's last packet, bit for bit the same. Nothing else is allowed without a retransmission stream.
        case repeatLastPacket
    }

    /// The minimum delay from the last packet to the first probe.
    public static let minimumDelay = Interval.milliseconds(20)
    /// Pictures at most this far apart count as motion, so the next one is expected soon.
    public static let motionSpacing = Interval.milliseconds(50)
    /// The largest picture, in packets, that is sent again as a whole.
    public static let smallPictureLimit = 3
    /// The maximum number of probes for one picture that nothing follows.
    public static let maximumProbeCount = 2
    /// The number of packets from one picture of a motion to the next where losses come in bursts: those of the
    /// picture, and padding for the rest. Fewer show a gap later, and a burst that is counted in packets then takes
    /// more pictures.
    static let packetsInMotion = 12
    /// libwebrtc counts a stream's packets from its last key frame, and starts again with the first one after so many
    /// (`RtpSeqNumOnlyRefFinder`). If that is padding, and a picture before it is still missing, that picture comes to
    /// be older than the key frame, and nothing is shown until there is another one. So none is sent around that
    /// number: not before a picture has come that can be the first, nor until that should have been repaired if it was
    /// lost.
    static let countedPackets = 10_000
    private static let withPadding = 40...countedPackets - packetsInMotion
    /// How long no padding is sent after a request, whose sender knows of its gap, and after a picture of more packets
    /// than that. libwebrtc forgets padding from behind a gap that is 100 packets older than other padding
    /// (`kMaxPaddingAge`), or 128 older than any packet (`received_padding_` of its `PacketBuffer`), and then nothing
    /// is shown either. So a gap should be repaired before there has been so much.
    static let pause = (afterRequest: Interval.milliseconds(60), afterLargePicture: Interval.milliseconds(300))
    private static let leastPaddingSpacing = Interval.milliseconds(2)
    /// Losses come in bursts where so many of the requested packets follow another requested one, and they are at least
    /// half of all: of losses that are independent of each other, their share is that of the losses. It is forgotten
    /// after a while.
    static let burst = (leastPairs: 2, isRecentFor: Interval.seconds(10))
    /// When so many packets have been requested, they count for half.
    private static let manyRequests = 64

    /// The time at which to call `poll`; nil if there is nothing to probe for.
    public private(set) var deadline: MonotonicTime?
    /// The number of probes sent so far.
    public private(set) var sentProbes = 0

    private let hasRetransmission: Bool
    private var lastSequenceNumber = SequenceNumber(0)
    private var packetCount = 1
    private var delay = Self.minimumDelay
    private var remaining = 0
    /// The number of padding packets that are still to be sent between this picture and the next, and their distance.
    private var paddingLeft = 0
    private var pausedUntil = MonotonicTime.zero
    private var lastBurstAt: MonotonicTime?
    /// What was requested lately: how many packets, and how many of them follow another one.
    private var requests = (packets: 0, pairs: 0)
    private var lastRequestAt = MonotonicTime.zero
    private var lastCounted: SequenceNumber?
    private var paddingSpacing = Interval.zero
    private var lastPictureAt: MonotonicTime?
    /// The last packet of the picture that libwebrtc counts from, and when it was sent if it is no key frame: then it
    /// may still be missing, and no padding may come before it is repaired.
    private var countsFrom: SequenceNumber?
    private var recountedAt: MonotonicTime?

    /// - Parameter hasRetransmission: whether the peer supports a retransmission stream.
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
        var count = countsFrom?.distance(to: lastSequenceNumber) ?? 0
        if isKeyFrame || !(1...Self.countedPackets).contains(count) {
            recountedAt = isKeyFrame || countsFrom == nil ? nil : now
            countsFrom = lastSequenceNumber
            count = 0
        }
        self.packetCount = max(packetCount, 1)
        if packetCount > Self.packetsInMotion { pausedUntil = now + Self.pause.afterLargePicture }
        delay = max(Self.minimumDelay, (roundTripTime ?? .zero) / 2)
        paddingLeft = 0
        if let lastPictureAt, now - lastPictureAt <= Self.motionSpacing {
            let interval = now - lastPictureAt
            delay = max(delay, interval * 3 / 2)
            if let lastBurstAt, now - lastBurstAt < Self.burst.isRecentFor, hasRetransmission,
                Self.withPadding.contains(count), now >= pausedUntil
            {
                let room = Int64(paddingRoom) * interval.milliseconds / 1000
                paddingLeft = max(0, min(Self.packetsInMotion - packetCount, Int(room)))
                paddingSpacing = max(interval / Int64(paddingLeft + 1), Self.leastPaddingSpacing)
            }
        }
        lastPictureAt = now
        remaining = Self.maximumProbeCount
        deadline = now + (paddingLeft > 0 ? paddingSpacing : delay)
    }

    /// Notes the packets that the peer requests, in the order of a NACK.
    public mutating func requested(_ numbers: [SequenceNumber], at now: MonotonicTime) {
        pausedUntil = max(pausedUntil, now + Self.pause.afterRequest)
        if paddingLeft > 0, deadline != nil, let lastPictureAt { deadline = lastPictureAt + delay }
        paddingLeft = 0
        if now - lastRequestAt > Self.burst.isRecentFor { (requests, lastCounted) = ((0, 0), nil) }
        lastRequestAt = now
        // What is requested again isn't lost again.
        let new = numbers.filter { number in lastCounted.map { $0.distance(to: number) > 0 } ?? true }
        let pairs = zip(new, new.dropFirst()).count { $0.next == $1 }
        requests = (requests.packets + new.count, requests.pairs + pairs)
        lastCounted = new.last ?? lastCounted
        if pairs > 0, requests.pairs >= Self.burst.leastPairs, requests.pairs * 2 >= requests.packets {
            lastBurstAt = now
        }
        if requests.packets > Self.manyRequests { requests = (requests.packets / 2, requests.pairs / 2) }
    }

    /// Notes the highest sequence number in a reception report of the stream. If it is the picture's last packet or a
    /// later one, the receiver sees every gap by itself.
    public mutating func receiverReported(highest: SequenceNumber) {
        if highest.distance(to: lastSequenceNumber) <= 0 { deadline = nil }
    }

    /// The sequence numbers of the picture's packets in order, for `retransmitPicture`. The last one is for
    /// `repeatLastPacket`.
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
        if hasRetransmission, isPadding {
            let count = countsFrom?.distance(to: lastSequenceNumber) ?? 0
            let repaired = recountedAt.map { $0 + Self.pause.afterLargePicture } ?? now
            if count > Self.withPadding.upperBound || repaired > now {
                self.deadline = repaired > now ? repaired : nil
                return nil
            }
        }
        remaining -= 1
        sentProbes += 1
        delay = delay * 2
        self.deadline = remaining > 0 ? now + delay : nil
        if !hasRetransmission { return .repeatLastPacket }
        // The first probe repairs a small picture directly. But a receiver requests nothing before a packet that came
        // as a retransmission, because that packet wasn't late but lost. If the picture before was lost as well, only
        // padding reveals it.
        return isPadding ? .padding : .retransmitPicture
    }
}
