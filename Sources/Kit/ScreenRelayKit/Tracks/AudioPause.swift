import Clocks
import MediaTypes
import Synchronization
import TrackHub

/// Holds a track's sound while there is a reason to: the host pauses the track or mutes it, or the capture of its
/// pictures has paused by itself, as it may while the screen is locked.
///
/// Methods may be called on any thread.
final class AudioPause: Sendable {
    let hub: TrackHub
    private let state = Mutex(State())

    private struct State {
        var isPaused = false
        var isMuted = false
        /// Whether the capture of the pictures has paused by itself.
        var followsPictures = false
        /// The number of the host's last order that took effect.
        var hostOrder: UInt64 = 0
        /// Counts the orders to the hub, so that it ends up with the last one.
        var order: UInt64 = 0

        mutating func nextOrder() -> (isHeld: Bool, order: UInt64) {
            order += 1
            return (isPaused || isMuted || followsPictures, order)
        }
    }

    init(_ hub: TrackHub) {
        self.hub = hub
    }

    /// The host pauses the track or mutes it, or neither. Once this has returned, nothing is heard that was captured
    /// before it.
    ///
    /// - Parameter order: the number of the host's order; an order that arrives after a later order has no effect.
    func change(isPaused: Bool, isMuted: Bool, order: UInt64) {
        let next = state.withLock { state in
            // A later order may not have reached the hub yet.
            guard order > state.hostOrder else { return state.nextOrder() }
            state.hostOrder = order
            (state.isPaused, state.isMuted) = (isPaused, isMuted)
            return state.nextOrder()
        }
        tell(next)
    }

    /// The source of the pictures is in another state.
    func picturesChanged(to pictures: SourceState) {
        let next = state.withLock { state -> (isHeld: Bool, order: UInt64)? in
            let follows: Bool
            switch pictures {
            case .paused(.screenLocked): follows = true
            // A pause of the host's is one that it ends itself, but behind it the screen may still be locked.
            case .paused(.sharer): follows = state.followsPictures || !state.isPaused
            // Other windows may be heard as before.
            case .live, .paused(.windowHidden): follows = false
            // Whether the screen is still locked isn't known before the next capture connects.
            case .waiting, .gone: return nil
            }
            guard follows != state.followsPictures else { return nil }
            state.followsPictures = follows
            return state.nextOrder()
        }
        if let next { tell(next) }
    }

    private func tell(_ next: (isHeld: Bool, order: UInt64)) {
        hub.setPaused(next.isHeld, order: next.order, now: MonotonicTime.now())
    }
}
