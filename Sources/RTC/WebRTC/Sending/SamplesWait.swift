import MediaTypes
import RTP

/// Holds back the last packet of a picture until its samples are known, for a viewer that checks its pictures; and
/// samples whose place the viewer can't know.
///
/// Pure: belongs to its caller.
struct SamplesWait: Sendable {
    /// How long a packet waits. The host decodes a frame within milliseconds of its arrival, unless it is behind.
    private static let timeout = Interval.milliseconds(100)
    /// How often to look for the samples.
    private static let interval = Interval.milliseconds(2)

    /// When to look for the samples again; nil if no packet waits for any.
    private(set) var heldUntil: MonotonicTime?
    private let viewerChecks: Bool
    /// Since when a packet waits; nil if none does.
    private var since: MonotonicTime?
    /// The transport-wide number of the packet that had the last samples with their whole place.
    private var placeNumber: UInt16?

    /// Holds nothing back unless `viewerChecks` is true.
    init(viewerChecks: Bool) { self.viewerChecks = viewerChecks }

    /// Whether the last packet of a picture with this check must wait until ``heldUntil``.
    mutating func holds(_ check: PictureCheck?, now: MonotonicTime) -> Bool {
        let isAwaited = check.map { $0.samples == nil } ?? false
        let since = since ?? now
        guard isAwaited, viewerChecks, now - since < Self.timeout else {
            self.since = nil
            heldUntil = nil
            return false
        }
        self.since = since
        heldUntil = now + Self.interval
        return true
    }

    /// Notes that `packet` of `frame` was sent.
    mutating func noteSent(_ packet: SentPacket, of frame: PacketizedFrame) {
        guard packet.extensions.contains(.samples), frame.coded.check?.samples?.isAbsolute == true else { return }
        placeNumber = packet.transportNumber
    }

    /// Whether the viewer knows the place of the samples in `check`; `hasArrived` tells of a transport-wide number
    /// whether that packet has. libwebrtc counts places as packets arrive, so relative ones must not come before the
    /// absolute one that they follow.
    func knowsPlace(of check: PictureCheck?, hasArrived: (UInt16) -> Bool) -> Bool {
        guard let samples = check?.samples, !samples.isAbsolute else { return true }
        return placeNumber.map(hasArrived) ?? false
    }
}
