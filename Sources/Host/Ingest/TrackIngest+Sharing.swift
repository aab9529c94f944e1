public import CaptureLink
import Synchronization
import TrackHub

/// The sharer's pause: what it does to what is published, and who is told.
extension TrackIngest {
    /// The sharer pauses, or goes on. When this returns nothing is published any more that was taken before; who joins from
    /// then on sees nothing of the screen, nor does a snapshot.
    ///
    /// - Parameter order: counts up with each such order to several tracks; one that comes behind a later one does nothing, so that
    ///   all tracks end up with the last. nil always counts.
    public func hold(_ isHeld: Bool, order: UInt64? = nil) {
        hold(order: order) { _ in isHeld }
    }

    /// Pauses, or goes on where the sharer has paused, here or at the source; whether it pauses.
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
            // Within the lock: of two that come at once the source hears the same last word as the gate.
            source?.setHeld(isHeld)
            return (isHeld, needsIDR)
        }
        if needsIDR { keyFrameWanted() }
        announceState()
        return isHeld
    }

    /// `source` says whether it shows the screen; what it sends next is an IDR picture.
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
            // What the sharer said to the host holds until it is taken back there.
            if way.gate.isHeld, sharing == .live { source.setHeld(true) }
        }
        announceState()
    }

    /// Tells what the source does, one thread at a time and outside the locks: the last word is always the right one.
    func announceState() {
        let isOurs = attachment.withLock { attachment in
            defer { attachment.isAnnouncing = true }
            return !attachment.isAnnouncing
        }
        guard isOurs else { return }
        while let (state, pointer) = nextAnnouncement() {
            // Who watches must not see where the pointer goes while the sharer pauses.
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
