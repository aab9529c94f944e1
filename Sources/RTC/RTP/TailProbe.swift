public import MediaTypes

/// Watches for a picture that nothing follows: if its last packets are lost, no later packet shows the receiver the gap,
/// and with damage-driven capture the next picture may be seconds away. Within max(20 ms, RTT/2) of the last packet we
/// send something that shows it; once more after twice that time; then no more.
///
/// While pictures come regularly the next one is the best probe: then we wait for one and a half of their distance. Without
/// that, motion at 30 pictures a second would send every small picture twice.
public struct TailProbe: Sendable {
    /// What to send.
    public enum Action: Hashable, Sendable {
        /// All packets of the picture, again, on the retransmission stream: they repair by themselves.
        case retransmitPicture
        /// A packet of padding under the next sequence number: shows the gap, and the receiver asks for what it misses.
        case padding
        /// The picture's last packet, bit for bit the same: all that may be done without a retransmission stream.
        case repeatLastPacket
    }

    /// The least time from the last packet to the first probe.
    public static let minimumDelay = Interval.milliseconds(20)
    /// Pictures that are no further apart than this are in motion: the next one is expected.
    public static let motionSpacing = Interval.milliseconds(50)
    /// Up to how many packets a picture is sent again as a whole.
    public static let smallPictureLimit = 3
    /// How often one picture is probed for.
    public static let maximumProbeCount = 2

    /// When to call `poll`; nil while there is nothing to probe for.
    public private(set) var deadline: MonotonicTime?
    /// Probes sent so far.
    public private(set) var sentProbes = 0

    private let hasRetransmission: Bool
    private var lastSequenceNumber = SequenceNumber(0)
    private var packetCount = 1
    private var delay = Self.minimumDelay
    private var remaining = 0
    private var lastPictureAt: MonotonicTime?

    /// - Parameter hasRetransmission: whether the peer takes a retransmission stream.
    public init(hasRetransmission: Bool) {
        self.hasRetransmission = hasRetransmission
    }

    /// The last of a picture's `packetCount` packets has been sent under `lastSequenceNumber`. Puts an end to probing for the
    /// picture before: this one's packets show its gap.
    public mutating func pictureSent(
        lastSequenceNumber: SequenceNumber, packetCount: Int, roundTripTime: Interval?, at now: MonotonicTime
    ) {
        self.lastSequenceNumber = lastSequenceNumber
        self.packetCount = max(packetCount, 1)
        delay = max(Self.minimumDelay, (roundTripTime ?? .zero) / 2)
        if let lastPictureAt, now - lastPictureAt <= Self.motionSpacing {
            delay = max(delay, (now - lastPictureAt) * 3 / 2)
        }
        lastPictureAt = now
        remaining = Self.maximumProbeCount
        deadline = now + delay
    }

    /// A reception report of the stream says which packet was the highest; if that is the picture's last one or a later
    /// one, the receiver sees every gap by itself.
    public mutating func receiverReported(highest: SequenceNumber) {
        if highest.distance(to: lastSequenceNumber) <= 0 { deadline = nil }
    }

    /// The sequence numbers of the picture's packets, in order: what `retransmitPicture` is about. Its last is what
    /// `repeatLastPacket` is about.
    public var pictureSequenceNumbers: [SequenceNumber] {
        (0..<packetCount).map { lastSequenceNumber.advanced(by: $0 - packetCount + 1) }
    }

    /// What to send now, if anything; the caller then waits for the new `deadline`.
    public mutating func poll(at now: MonotonicTime) -> Action? {
        guard let deadline, now >= deadline, remaining > 0 else { return nil }
        remaining -= 1
        sentProbes += 1
        delay = delay * 2
        self.deadline = remaining > 0 ? now + delay : nil
        if !hasRetransmission { return .repeatLastPacket }
        // The first repairs a small picture by itself. But a receiver asks for nothing in front of a packet that came by
        // retransmission (it wasn't late, it was lost): where the picture before was lost as well, only padding shows that.
        return packetCount <= Self.smallPictureLimit && remaining > 0 ? .retransmitPicture : .padding
    }
}
