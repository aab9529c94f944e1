/// Who carries a track, and how far its source is: what of the pictures that the source and the host's own encoder make is
/// published.
///
/// A value without a lock: `TrackIngest` keeps it under its own, which also orders the two threads that may publish.
struct TrackWay {
    /// Whether the host's own encoder carries the track; else the source's own pictures do.
    private(set) var isCarriedByHost = false
    /// Counts the source's units.
    private(set) var delivered: UInt64 = 0
    /// The last of them that was an IDR.
    private var lastIDR: UInt64 = 0
    /// What of it viewers may see.
    var gate = SharingGate()
    /// The last order to hold or to let go that counted.
    var lastHold: UInt64 = 0
    /// Whether the pointer is drawn in the last picture that was published; nil before the first.
    private var isPointerDrawn: Bool?

    /// The source's next unit comes: whether it is published. Its IDR takes the track back.
    mutating func takesFromSource(isIDR: Bool) -> Bool {
        delivered += 1
        if isIDR {
            isCarriedByHost = false
            lastIDR = delivered
        }
        return !isCarriedByHost && gate.passes(isIDR: isIDR, fromSource: true)
    }

    /// The host's own encoder has made a picture of what the source's unit `number` shows: whether it is published. An IDR
    /// takes the track over, what follows needs that IDR; nothing does after an IDR that the source has sent since.
    mutating func takesFromHost(isIDR: Bool, number: UInt64) -> Bool {
        guard lastIDR <= number, isCarriedByHost || isIDR, gate.passes(isIDR: isIDR, fromSource: false) else {
            return false
        }
        isCarriedByHost = true
        return true
    }

    /// A picture is published: whether that changes what is known of the pointer.
    mutating func publishes(isPointerDrawn: Bool) -> Bool {
        guard self.isPointerDrawn != isPointerDrawn else { return false }
        self.isPointerDrawn = isPointerDrawn
        return true
    }
}
