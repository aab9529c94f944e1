import CaptureLink
import MediaTypes

/// Decides which of a track's pictures viewers may see while the sharer pauses, and just before and after that.
///
/// A source that can pause reports the pause and sends a slate, which is an IDR picture. If the source can't pause (a
/// legacy sender, an application's own track), the host doesn't pass its pictures on until the sharer goes on. Once a
/// pause begins, nothing passes that was captured before it: neither pictures that are still on their way, nor what the
/// host's own encoder would make from an older picture.
struct SharingGate: Sendable {
    private enum Passage {
        case open
        case closed
        /// Closed until the source's next IDR picture, which is the slate or comes after it.
        case untilSourceIDR
        /// Closed until the next IDR picture, whoever makes it: the sharer goes on, so any picture made now may be
        /// seen.
        case untilIDR
    }

    /// Whether the host was told to hold back the sharer's pictures.
    private(set) var isHeld = false
    /// What the source last reported.
    private(set) var sharing = SharingState.live
    private var passage = Passage.open

    /// Why viewers don't see the screen now; nil if they do.
    var pause: PauseReason? {
        if isHeld { return .sharer }
        return switch sharing {
        case .live: nil
        case .paused: .sharer
        case .locked: .screenLocked
        case .windowHidden: .windowHidden
        }
    }

    /// Whether viewers may see the last picture.
    var isOpen: Bool { passage == .open }

    /// Whether an IDR picture would be of any use now.
    var takesIDR: Bool { passage != .closed }

    /// Holds the pictures back, or lets them pass again. Returns true if viewers need an IDR picture to go on, because
    /// the source didn't pause by itself and its pictures were dropped.
    mutating func hold(_ isHeld: Bool) -> Bool {
        self.isHeld = isHeld
        if isHeld {
            if sharing == .live { passage = .closed }
            return false
        }
        guard passage == .closed else { return false }
        passage = .untilIDR
        return true
    }

    /// Notes that another source has come; nothing is known about it yet.
    mutating func sourceCame() {
        sharing = .live
        if isHeld { passage = .closed }
    }

    /// Takes what the source reports about its sharing.
    mutating func sourceSays(_ sharing: SharingState) {
        let was = self.sharing
        self.sharing = sharing
        switch (sharing, was) {
        // If this report crossed a hold on the link, the source will still answer the hold.
        case (.live, _): if isHeld { passage = .closed }
        case (_, .live): passage = .untilSourceIDR
        default: break
        }
    }

    /// Returns whether a picture passes. An IDR picture that the gate has waited for opens it.
    mutating func passes(isIDR: Bool, fromSource: Bool) -> Bool {
        switch passage {
        case .open: return true
        case .closed: return false
        case .untilSourceIDR:
            guard isIDR, fromSource else { return false }
        case .untilIDR:
            guard isIDR else { return false }
        }
        passage = .open
        return true
    }
}
