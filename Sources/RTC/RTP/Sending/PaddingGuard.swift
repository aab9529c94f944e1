import MediaTypes

/// Keeps padding from triggering two rules of libwebrtc by which a viewer would show nothing until the next key frame.
///
/// 1. libwebrtc counts a stream's packets from its last key frame, and starts again with the first packet after
///    `countedPackets` (`RtpSeqNumOnlyRefFinder`). If that packet is padding, and a picture before it is still missing,
///    that picture comes to be older than the key frame. So no padding is sent around that number: not before a picture
///    has come that can be the first, nor until that picture should have been repaired if it was lost.
/// 2. libwebrtc forgets padding from behind a gap that is 100 packets older than other padding (`kMaxPaddingAge`), or
///    128 older than any packet (`received_padding_` of its `PacketBuffer`). So none is sent for a while after a
///    request, whose sender knows of its gap, and after a large picture: the gap should be repaired before so many
///    packets have come.
struct PaddingGuard {
    static let countedPackets = 10_000
    private static let allowed = 40...countedPackets - TailLossProbe.packetsInMotion
    private static let pauseAfterRequest = Interval.milliseconds(60)
    private static let pauseAfterLargePicture = Interval.milliseconds(300)

    /// The last packet of the picture that libwebrtc counts from.
    private var countsFrom: SequenceNumber?
    /// When that picture was sent if it is no key frame: then it may still be missing.
    private var recountedAt: MonotonicTime?
    /// The number of packets from there to the last picture's last one.
    private var count = 0
    private var pausedUntil = MonotonicTime.zero

    /// Notes that the last packet of a picture was sent.
    mutating func pictureSent(
        lastSequenceNumber: SequenceNumber, isLarge: Bool, isKeyFrame: Bool, at now: MonotonicTime
    ) {
        count = countsFrom?.distance(to: lastSequenceNumber) ?? 0
        if isKeyFrame || !(1...Self.countedPackets).contains(count) {
            recountedAt = isKeyFrame || countsFrom == nil ? nil : now
            countsFrom = lastSequenceNumber
            count = 0
        }
        if isLarge { pausedUntil = now + Self.pauseAfterLargePicture }
    }

    /// Notes a request of the peer.
    mutating func requested(at now: MonotonicTime) { pausedUntil = max(pausedUntil, now + Self.pauseAfterRequest) }

    /// Whether padding may follow the last picture until the next.
    func allowsPadding(at now: MonotonicTime) -> Bool { Self.allowed.contains(count) && now >= pausedUntil }

    /// The time until which a single padding packet that probes for a loss must wait, or `.distantFuture` if it must
    /// wait for the next picture. Nil if it may be sent.
    func probeHeldUntil(at now: MonotonicTime) -> MonotonicTime? {
        if let recountedAt, recountedAt + Self.pauseAfterLargePicture > now {
            return recountedAt + Self.pauseAfterLargePicture
        }
        return count > Self.allowed.upperBound ? .distantFuture : nil
    }
}
