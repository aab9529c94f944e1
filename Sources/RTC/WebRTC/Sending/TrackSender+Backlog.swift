import MediaTypes
import RTP

/// The frames that were there before a viewer.
extension TrackSender {
    /// Has the frames that are there already shown a millisecond apart, up to the newest one at its own time.
    ///
    /// From the times of the first frames a browser learns when it is to show those that follow. If the first ones came
    /// all at once with the times of many seconds, it would be wrong about that for many seconds, and pictures would
    /// not be held back for their sound.
    mutating func beginBacklog(at start: UnitNumber) {
        backlogEnd = feed.history.next
        guard let newest = feed.history.unit(UnitNumber(backlogEnd.rawValue &- 1)) else { return }
        lastTicks = newest.mediaTime.ticks - backlogStep * Int64(clamping: backlogEnd.rawValue &- start.rawValue)
    }

    var backlogStep: Int64 { formats.clockRate.ticks(in: .milliseconds(1)) }
}
