/// Decides which of the pictures that the source and the host's own encoder make are published on a track.
struct TrackCarrier: Sendable {
    /// Whether the host's own encoder carries the track; if not, the source's own pictures do.
    private(set) var isCarriedByHost = false
    /// How many units the source has delivered.
    private(set) var delivered: UInt64 = 0
    /// The number of the unit with which the gate last opened.
    private var openedAt: UInt64 = 0
    /// The number of the last one that was an IDR.
    private var lastIDR: UInt64 = 0
    /// Decides what viewers may see while the sharer pauses.
    var gate = SharingGate()
    /// The number of the last order to hold or go on that took effect.
    var lastHold: UInt64 = 0
    /// Whether the pointer is drawn in the last published picture; nil before the first.
    private var isPointerDrawn: Bool?

    /// Counts the source's next unit, and returns whether to publish it. An IDR of the source takes the track back.
    mutating func takesFromSource(isIDR: Bool) -> Bool {
        delivered += 1
        if isIDR {
            isCarriedByHost = false
            lastIDR = delivered
        }
        return !isCarriedByHost && passes(isIDR: isIDR, fromSource: true, number: delivered)
    }

    /// Returns whether to publish a picture that the host's own encoder made of what the source's unit `number` shows.
    ///
    /// An IDR takes over the track, and the pictures after it depend on that IDR. None is published after an IDR that
    /// the source has sent since.
    mutating func takesFromHost(isIDR: Bool, number: UInt64) -> Bool {
        guard lastIDR <= number, isCarriedByHost || isIDR, passes(isIDR: isIDR, fromSource: false, number: number)
        else { return false }
        isCarriedByHost = true
        return true
    }

    /// Returns whether viewers may see what the source's unit `number` shows: it isn't from before a pause.
    func shows(_ number: UInt64) -> Bool { gate.isOpen && number >= openedAt }

    private mutating func passes(isIDR: Bool, fromSource: Bool, number: UInt64) -> Bool {
        let wasOpen = gate.isOpen
        let isPassed = gate.passes(isIDR: isIDR, fromSource: fromSource)
        if !wasOpen, gate.isOpen { openedAt = number }
        return isPassed
    }

    /// Notes that a picture is published. Returns whether that changes whether the pointer is drawn.
    mutating func publishes(isPointerDrawn: Bool) -> Bool {
        guard self.isPointerDrawn != isPointerDrawn else { return false }
        self.isPointerDrawn = isPointerDrawn
        return true
    }
}
