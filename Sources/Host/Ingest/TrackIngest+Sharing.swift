public import CaptureLink
import MediaTypes
import Synchronization
import TrackHub

/// The sharer's pause: its effect on what is published, and who is told of it.
extension TrackIngest {
    /// Pauses, or goes on, for the sharer. Once a pause returns, nothing is published that was captured before it: a
    /// viewer who joins from then on sees nothing of the screen, and neither does a snapshot.
    ///
    /// - Parameter order: the number of an order that goes to several tracks; it increases with each order. One that
    ///   arrives after a later one does nothing, so that all tracks end up with the last. An order without a number
    ///   always counts.
    public func hold(_ isHeld: Bool, order: UInt64? = nil) {
        hold(order: order) { _ in isHeld }
    }

    /// Pauses, or goes on if the sharer has paused here or at the source. Returns whether it pauses.
    @discardableResult
    public func toggleHold() -> Bool {
        hold { $0 != .sharer }
    }

    @discardableResult
    private func hold(order: UInt64? = nil, _ decide: (PauseReason?) -> Bool) -> Bool {
        let (isHeld, needsIDR) = way.withLock { way in
            if let order {
                guard order > way.lastHold else { return (way.gate.isHeld, false) }
                way.lastHold = order
            }
            let isHeld = decide(way.gate.pause)
            let needsIDR = way.gate.hold(isHeld)
            if isHeld { hub.forgetCache() }
            let source = attachment.withLock { attachment in
                attachment.pause = way.gate.pause
                return attachment.source
            }
            // This is within the lock so that, of two calls at the same time, the source hears the same one last as the
            // gate.
            source?.setSharerPaused(isHeld)
            return (isHeld, needsIDR)
        }
        if needsIDR { keyFrameWanted() }
        announceState()
        return isHeld
    }

    /// Takes the report of `source` on whether it shows the screen; the next thing that it sends is an IDR picture.
    public func sharingChanged(of source: any PictureSource, to sharing: SharingState) {
        way.withLock { way in
            let isAttached = attachment.withLock { attachment in
                guard attachment.source === source else { return false }
                way.gate.sourceSays(sharing)
                attachment.pause = way.gate.pause
                return true
            }
            guard isAttached else { return }
            if !way.gate.isOpen { hub.forgetCache() }
            // A hold that was set at the host lasts until it is lifted there.
            if way.gate.isHeld, sharing == .live { source.setSharerPaused(true) }
        }
        announceState()
    }

    /// Reports the source's state, on one thread at a time and outside the locks, so that the last report is always the
    /// right one.
    func announceState() {
        let isOurs = attachment.withLock { attachment in
            defer { attachment.isAnnouncing = true }
            return !attachment.isAnnouncing
        }
        guard isOurs else { return }
        while let (state, pointer) = nextAnnouncement() {
            // Viewers must not see where the pointer goes while the sharer pauses.
            if case .paused = state { onPointer(.lost) }
            onStateChange(state)
            if state == .live, let pointer { onPointer(pointer) }
        }
    }

    private func nextAnnouncement() -> (SourceState, PointerReport?)? {
        attachment.withLock { attachment in
            guard attachment.announced != attachment.state else {
                attachment.isAnnouncing = false
                return nil
            }
            attachment.announced = attachment.state
            return (attachment.state, attachment.pointer)
        }
    }
}
