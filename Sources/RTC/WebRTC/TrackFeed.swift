import CongestionControl
import MediaTypes
import RTP
import TrackHub

/// One track inside the media thread: its access units packetised once, kept once, for all sessions that watch it.
///
/// Belongs to the media thread.
final class TrackFeed {
    /// What the sessions read from and send again from. It always holds at least what a session begins with: its bounds
    /// are wider than the cache's, and than the largest picture (8 MiB on the link), which takes a second to be sent.
    private(set) var history = TrackHistory(
        maximumUnitCount: 512, maximumByteCount: 12 << 20, maximumAge: Interval(nanoseconds: .max))
    /// The IDR that a session begins with; nil while there is none that it could begin with.
    private(set) var start: UnitNumber?
    /// What a decoder of `start` must be able to.
    private(set) var startChroma = ChromaFormat.yuv420
    /// The same of the last unit.
    private var chroma = ChromaFormat.yuv420
    /// How many sessions watch.
    var sessionCount = 0
    /// How many of them don't decode 4:4:4.
    var limitedSessionCount = 0

    let hub: TrackHub
    private var lastTarget = LossBasedRate.highest
    private var lostUnits: UInt64 = 0
    private var reader: TrackReader?
    private let wake: @Sendable () -> Void
    private let packetizer = H264Packetizer()
    private let limits = CacheLimits()
    /// What has a lower number on the track is not here any more.
    private var firstShown: UInt64 = 0
    private var bytesSinceStart = 0
    private var unitsSinceStart = 0

    /// A feed that reads `hub` once it has a session; `wake` wakes the media thread.
    init(hub: TrackHub, wake: @escaping @Sendable () -> Void) {
        self.hub = hub
        self.wake = wake
    }

    /// Takes what the track has got since the last call; true where that is something.
    func update(now: MonotonicTime) -> Bool {
        guard sessionCount > 0 else {
            // Nobody watches: read nothing, keep nothing; the hub's cache is there for who comes next.
            reader = nil
            start = nil
            // Nor has the source to keep to what the last viewer's path could carry.
            adaptRate(to: [LossBasedRate.highest])
            return false
        }
        let reader = self.reader ?? hub.subscribe(wake: wake)
        self.reader = reader
        let units = reader.take()
        // Before anything new comes, so that all that is here is old; and what was let go of while it waited for us isn't taken.
        forgetHidden()
        for unit in units where unit.number >= firstShown { append(unit, now: now) }
        let lostUnits = reader.lostUnits
        if units.isEmpty, lostUnits != self.lostUnits {
            // We were so slow that pictures were lost to us, and the hub has nothing to go on with before an IDR.
            start = nil
            requestKeyFrame(now: now)
        }
        self.lostUnits = lostUnits
        return !units.isEmpty
    }

    /// Lets go of what the track has let go of: the sharer has paused, say, and nobody is to see what was there before, neither who comes
    /// now, nor who has not got all of it yet. Called before anything is sent.
    func forgetHidden() {
        guard hub.firstStart > firstShown else { return }
        firstShown = hub.firstStart
        history.removeAll()
        start = nil
    }

    /// Asks the source for an IDR to begin with; the hub bounds how often, and knows whether one is on its way to us.
    func requestKeyFrame(now: MonotonicTime) {
        if start != nil, !hub.hasSource {
            // A picture is there, in a format that not all decode, and no source to mend that: the host's own encoder does.
            hub.requestKeyFrame(now: now)
        } else {
            hub.requestStart(now: now)
        }
    }

    /// Whether sessions without 4:4:4 have to go, since the track is in it and its source knows nothing else.
    var excludesLimitedSessions: Bool {
        limitedSessionCount > 0 && chroma == .yuv444 && hub.excludes(viewerDecoding: .yuv420)
    }

    /// Asks the source for a picture of what stands still.
    func requestPicture() {
        hub.requestPicture()
    }

    /// Tells the source what its viewers' paths carry, where that changed by more than a twentieth.
    func adaptRate(to targets: [BitRate]) {
        guard let target = sharedTarget(of: targets) else { return }
        let change = abs(target.bitsPerSecond - lastTarget.bitsPerSecond)
        guard change > lastTarget.bitsPerSecond / 20 else { return }
        lastTarget = target
        hub.changeTargetBitRate(to: target)
    }

    private func append(_ unit: TrackUnit, now: MonotonicTime) {
        let number = history.append(packetizer.packetize(unit.unit, at: unit.time, chroma: unit.chroma), at: now)
        chroma = unit.chroma
        if unit.unit.isIDR {
            start = number
            startChroma = unit.chroma
            bytesSinceStart = 0
            unitsSinceStart = 0
        }
        bytesSinceStart += unit.unit.bytes.count
        unitsSinceStart += 1
        let isPastLimits = bytesSinceStart > limits.bytes || unitsSinceStart > limits.units
        if !unit.unit.isIDR, isPastLimits { start = nil }
    }
}
