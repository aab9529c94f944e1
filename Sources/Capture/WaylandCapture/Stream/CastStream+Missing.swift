import Clocks
import MediaTypes

/// Pictures that were sent and haven't arrived.
extension CastStream {
    /// Notes whether a picture was sent that hasn't arrived.
    func lookForLost(_ now: MonotonicTime) {
        if let nextLook, nextLook <= now {
            self.nextLook = nil
            // While others waited for the receiver, the sender may have had no buffer for its last picture, and then it
            // doesn't paint that again.
            if isActive, hasLost { isPictureMissing = true }
            hasLost = false
        }
        if isActive, sentTimes.isOneDue(contents: Self.contents) { isPictureMissing = true }
    }

    /// Waits no longer for a missing picture.
    func giveUpMissing() {
        isPictureMissing = false
        // What it would have changed isn't known.
        damage.addAll()
        sentTimes.forgetDue(contents: Self.contents)
    }
}
