import CaptureLink
import MediaTypes

/// Decides which of a track's pictures viewers may see while the sharer pauses, and just before and after that.
///
/// A source that can pause reports the pause and sends a slate, which is a key frame. If the source can't pause (a
/// legacy sender, an application's own track), the host doesn't pass its pictures on until the sharer goes on. Once a
/// pause begins, nothing passes that was captured before it: neither pictures that are still on their way, nor what the
/// host's own encoder would make from an older picture.
struct SharingGate: Sendable {
    /// Whether the host was told to hold back the sharer's pictures.
    private(set) var isPaused = false
    /// What the source last reported.
    private(set) var sharing = SharingState.live
    /// Whether nothing passes until the sharer goes on or the source reports a pause.
    private var isBlocked = false
    /// Closed until the next key frame: the slate, or the first picture after a pause.
    private var gate = RandomAccessGate(isClosed: false)
    /// Whether only a key frame of the source opens the gate, because one that the host's encoder makes could show an
    /// older picture.
    private var awaitsSource = false

    /// Why viewers don't see the screen now; nil if they do.
    var pause: PauseReason? {
        if isPaused { return .sharer }
        return switch sharing {
        case .live: nil
        case .paused: .sharer
        case .locked: .screenLocked
        case .windowHidden: .windowHidden
        }
    }

    /// Whether viewers may see the last picture.
    var isOpen: Bool { !isBlocked && !gate.isClosed }

    /// Whether a key frame would be of any use now.
    var takesKeyFrame: Bool { !isBlocked }

    /// Holds the pictures back, or lets them pass again. Returns true if viewers need a key frame to go on, because
    /// the source didn't pause by itself and its pictures were dropped.
    mutating func setPaused(_ isPaused: Bool) -> Bool {
        self.isPaused = isPaused
        if isPaused {
            if sharing == .live { isBlocked = true }
            return false
        }
        guard isBlocked else { return false }
        awaitKeyFrame(ofSource: false)
        return true
    }

    /// Notes that another source has come; nothing is known about it yet.
    mutating func sourceCame() {
        sharing = .live
        if isPaused { isBlocked = true }
    }

    /// Takes what the source reports about its sharing.
    mutating func sourceSays(_ sharing: SharingState) {
        let was = self.sharing
        self.sharing = sharing
        switch (sharing, was) {
        // If this report crossed a hold on the link, the source will still answer the hold.
        case (.live, _): if isPaused { isBlocked = true }
        case (_, .live): awaitKeyFrame(ofSource: true)
        default: break
        }
    }

    /// Returns whether a picture passes. A key frame that the gate has waited for opens it.
    mutating func passes(isRandomAccess: Bool, fromSource: Bool) -> Bool {
        !isBlocked && gate.passes(isRandomAccess: isRandomAccess && (fromSource || !awaitsSource))
    }

    private mutating func awaitKeyFrame(ofSource: Bool) {
        isBlocked = false
        awaitsSource = ofSource
        gate.close()
    }
}
