import CaptureLink
import Clocks
import Glibc
import HostConnection
import LoginSession
import MediaTypes
import Threading

/// Signals from outside that tell a running agent to end or to pause. The caller keeps ownership of the descriptors.
public struct AgentSignals {
    /// Becomes readable when capture has to end.
    public var stopDescriptor: Int32
    /// Becomes readable when the sharer wants to pause or to resume; -1 if there is none.
    public var pauseDescriptor: Int32
    /// Returns whether the pause state has to change; called after `pauseDescriptor` became readable.
    public var takePauseToggle: () -> Bool

    /// Creates the signals; by default there is no way to pause.
    public init(
        stopDescriptor: Int32, pauseDescriptor: Int32 = -1, takePauseToggle: @escaping () -> Bool = { false }
    ) {
        self.stopDescriptor = stopDescriptor
        self.pauseDescriptor = pauseDescriptor
        self.takePauseToggle = takePauseToggle
    }
}

extension CaptureAgent {
    /// Tells the screen whether pictures of it are needed, if that has changed.
    func tellNeed() {
        let isNeeded = link.hasReader && !isPaused && sharing == .live
        if isNeeded == isScreenNeeded { return }
        isScreenNeeded = isNeeded
        log.debug(isNeeded ? "pictures of the screen are needed again" : "no pictures of the screen are needed")
        screen.setNeeded(isNeeded)
    }

    /// Sleeps until something happens or is due, or only looks; returns true if capture has to end.
    func waitForEvents(atOnce: Bool) throws(CaptureError) -> Bool {
        // Events that came with a reply don't make the display's descriptor readable, so nothing would report them
        // again.
        let hasQueued = screen.pollQueuedEvents()
        let host = link.host
        var due = min(host.nextAttempt, host.stallDeadline, screen.nextCheck, session?.deadline ?? .distantFuture)
        if link.hasReader, !isPaused, !screen.isOutdated {
            // No picture is due until the host has taken the last one.
            if link.isReady {
                due = min(due, schedule.due(reasons), wantsKeyFrame ? .distantFuture : scheduledKeyFrames.due)
            }
            if sharing == .live { due = min(due, pointer.due) }
        }
        var watched = [
            pollfd(signals.stopDescriptor), pollfd(screen.fileDescriptor), pollfd(host.descriptor, Int32(host.events)),
            pollfd(signals.pauseDescriptor), pollfd(screen.pointerDescriptor),
            pollfd(session?.descriptor ?? -1, session?.events ?? 0),
        ]
        let count = Threading.waitForEvents(&watched, until: atOnce || hasQueued ? .zero : due)
        if count < 0, errno != EINTR { throw .system(call: "ppoll", code: errno) }
        isDisplayReadable = watched[1].isReady
        // These events are read even if nobody needs the pointer, because unread ones would pile up in the server.
        isPointerReadable = watched[4].isReady
        if let session, watched[5].isReady || session.deadline <= .now() { session.process() }
        if count <= 0 { return false }
        if watched[0].isReady { return true }
        if watched[3].isReady, signals.takePauseToggle() { isSharerPaused.toggle() }
        let now = MonotonicTime.now()
        if Int32(watched[2].revents) & POLLOUT != 0 { host.flush(now) }
        // Also read after an error or a hang-up: the result of reading tells which of the two it was.
        if Int32(watched[2].revents) & ~POLLOUT != 0 { link.receive(now, size: pictureSize) { handle($0) } }
        return false
    }
}
