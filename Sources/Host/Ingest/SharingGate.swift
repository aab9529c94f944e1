import CaptureLink

/// What of a track's pictures viewers may see, while the sharer pauses and around that.
///
/// A source that pauses by itself says so and sends a slate, an IDR picture; one that can't (a legacy sender, an
/// application's own track) is not passed on while the host is told to hold. From then on nothing passes that was
/// taken before: not what is under way, not what the host's own encoder would make of an older picture.
struct SharingGate {
    private enum Passage {
        case open
        case closed
        /// Until the source's next IDR picture, which is the slate or comes after it.
        case untilSourceIDR
        /// Until an IDR picture, whoever makes it: all that there is was taken since the host lets go.
        case untilIDR
    }

    /// Whether the host was told to hold the sharer's pictures back.
    private(set) var isHeld = false
    /// What the source says of itself.
    private(set) var sharing = SharingState.live
    private var passage = Passage.open

    /// Why viewers don't see the screen now; nil where they do.
    var pause: PauseReason? {
        if isHeld { return .sharer }
        return switch sharing {
        case .live: nil
        case .paused: .sharer
        case .locked: .screenLocked
        case .windowHidden: .windowHidden
        }
    }

    /// Whether the last picture is one that viewers may see.
    var isOpen: Bool { passage == .open }

    /// Whether an IDR picture is of any use now.
    var takesIDR: Bool { passage != .closed }

    /// The host is told to hold, or to let go. True where that let pictures of a source through that doesn't pause by itself:
    /// an IDR is needed to go on with.
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

    /// Another source has come, of which nothing is known yet.
    mutating func sourceCame() {
        sharing = .live
        if isHeld { passage = .closed }
    }

    /// The source says what it does.
    mutating func sourceSays(_ sharing: SharingState) {
        let was = self.sharing
        self.sharing = sharing
        switch (sharing, was) {
        // A hold that crossed this on its way will be answered in its turn.
        case (.live, _): if isHeld { passage = .closed }
        case (_, .live): passage = .untilSourceIDR
        default: break
        }
    }

    /// Whether a picture passes; an IDR picture opens what waited for it.
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
