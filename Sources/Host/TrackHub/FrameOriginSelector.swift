import MediaTypes

/// Decides which of the pictures that the source and the host's own encoder make are published on a track.
struct FrameOriginSelector: Sendable {
    /// Whether viewers get the pictures of the host's own encoder; if not, they get the source's own.
    private(set) var isFallbackActive = false
    /// How many frames the source has delivered.
    private(set) var delivered: UInt64 = 0
    /// The number of the frame with which the gate last opened.
    private var openedAt: UInt64 = 0
    /// The number of the source's last key frame; 0 if there was none.
    private var lastIDR: UInt64 = 0
    /// Decides what viewers may see while the sharer pauses.
    var gate = SharingGate()
    /// The number of the last order to pause or go on that took effect.
    private(set) var lastPauseOrder: UInt64 = 0
    /// When the sharer last went on after a pause.
    private var soundSince = MonotonicTime.zero
    /// Whether the pointer is drawn in the last published picture; nil before the first.
    private var isPointerDrawn: Bool?

    /// Counts the source's next frame, and returns whether to publish it. With a key frame, the source takes over the
    /// track again.
    mutating func admitSourceFrame(isIDR: Bool) -> Bool {
        delivered += 1
        if isIDR {
            isFallbackActive = false
            lastIDR = delivered
        }
        return !isFallbackActive && passes(isIDR: isIDR, fromSource: true, number: delivered)
    }

    /// Returns whether to publish a picture that the host's own encoder made of what the source's frame `number` shows.
    ///
    /// With a key frame, the encoder takes over the track, and its later pictures depend on that key frame. A picture
    /// is no longer published if the source has sent a key frame after frame `number`.
    mutating func admitFallbackFrame(isIDR: Bool, number: UInt64) -> Bool {
        guard lastIDR <= number, isFallbackActive || isIDR, passes(isIDR: isIDR, fromSource: false, number: number)
        else { return false }
        isFallbackActive = true
        return true
    }

    /// Returns whether viewers may see what the source's frame `number` shows: it isn't from before a pause.
    func shows(_ number: UInt64) -> Bool { gate.isOpen && number >= openedAt }

    /// Returns whether sound that came at `arrival` may be heard. During a pause a source sends a slate without sound.
    /// What was captured before the sharer went on is not heard afterwards either, as it may still be on its way.
    func hears(_ sound: CodedFrame, arrival: MonotonicTime) -> Bool {
        // A time that is far from its arrival is another clock's.
        let captured = sound.captureTime ?? arrival
        return gate.pause == nil && (captured >= soundSince || arrival - captured > .seconds(10))
    }

    /// The sharer pauses or goes on. Returns whether viewers need a key frame to go on; nil if nothing has changed,
    /// because `order`, the number of the order, isn't higher than the last one's.
    mutating func setPaused(_ isPaused: Bool, order: UInt64?, now: MonotonicTime) -> Bool? {
        if let order {
            guard order > lastPauseOrder else { return nil }
            lastPauseOrder = order
        }
        if !isPaused, gate.isPaused { soundSince = now }
        return gate.setPaused(isPaused)
    }

    /// Returns whether the gate lets a frame pass, and notes its number if the frame opens the gate.
    private mutating func passes(isIDR: Bool, fromSource: Bool, number: UInt64) -> Bool {
        let wasOpen = gate.isOpen
        let isPassed = gate.passes(isRandomAccess: isIDR, fromSource: fromSource)
        if !wasOpen, gate.isOpen { openedAt = number }
        return isPassed
    }

    /// Notes that a picture is published. Returns whether it differs from the last one in whether the pointer is drawn.
    mutating func notePublished(isPointerDrawn: Bool) -> Bool {
        guard self.isPointerDrawn != isPointerDrawn else { return false }
        self.isPointerDrawn = isPointerDrawn
        return true
    }
}
