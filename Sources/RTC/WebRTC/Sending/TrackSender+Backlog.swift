import MediaTypes
import RTP

/// The frames from before a viewer joined, and the frames that wait.
extension TrackSender {
    /// Has the frames that are there already shown a millisecond apart, up to the newest one at its own time.
    ///
    /// From the times of the first frames a browser learns when to show the following ones. If the first ones arrived
    /// all at once with the times of many seconds, it would be wrong about that for many seconds, and pictures would
    /// not be held back for their sound.
    mutating func beginBacklog(at start: FrameNumber) {
        guard let newest = feed.history.frame(FrameNumber(feed.history.next.rawValue &- 1)) else { return }
        showBacklog(from: start, at: newest.mediaTime)
    }

    /// Has the frames that are there, which a server gets again, shown as if they had just arrived: it may pass them on
    /// with their times to viewers who have seen all earlier frames.
    mutating func showBacklog(at time: MediaTime) {
        guard let start = feed.startFrame else { return }
        showBacklog(from: start, at: time)
    }

    private mutating func showBacklog(from start: FrameNumber, at time: MediaTime) {
        times.showBacklog(start..<feed.history.next, until: time)
    }

    /// Whether the frame waits until the viewer knows that the pointer is drawn into it, or no longer is.
    ///
    /// A frame that arrived after the beginning waits even if it isn't the newest: on a busy machine, this thread gets
    /// several at once.
    mutating func isHeldByPointer(
        _ frame: PacketizedFrame, _ number: FrameNumber, shownAt time: MediaTime, now: MonotonicTime
    ) -> Bool {
        let isNewest = number.next == feed.history.next
        let wasThere = feed.history.time(of: number).map { $0 < beganAt } ?? false
        return pointer.holds(
            frame.coded.isPointerDrawn, at: RTPTimestamp(time, offset: stream.configuration.timestampOffset),
            isBacklog: wasThere && !isNewest, now: now)
    }

    var nextFrame: FrameNumber? { position.frame }

    func wait(target: BitRate, now: MonotonicTime) -> Interval {
        Interval(nanoseconds: Int64(waitingBytes) * 8_000_000_000 / Int64(max(1, target.bitsPerSecond)))
    }

    mutating func restartForgettingSent() {
        stream.forgetSent()
        layers.skippedEnd = nil
        position = .waiting(askedAt: nil)
    }

    /// Goes on for a viewer that was away. Restarts if the frames that wait would take a path of this rate longer than
    /// half a second, or if some have been forgotten: otherwise the viewer would see them all, late, or would be taken
    /// for one on a slow path.
    mutating func skipBacklog(at estimate: BitRate, now: MonotonicTime) {
        // How long frames have waited for the viewer says nothing of the host.
        beganAt = now
        // Nor do the frames that it has missed say anything of its path.
        layers.skippedEnd = nil
        guard let number = position.frame else { return }
        if number < feed.history.oldest || feed.isLate(number, at: estimate) { restart() }
    }
}
