import MediaTypes

/// Says until when the capture may sleep although samples come, because no slot can be complete before that.
///
/// PulseAudio passes samples on in blocks whose length depends on who plays. Where they are shorter than a slot, each
/// slot would wake us several times. So after a slot, nothing is read until the next one should be complete. Earlier
/// slots tell when that is: as long as each slot is there when we look, we look a little earlier for the next one;
/// after one that isn't, we look later. A value without I/O; the time is an argument.
struct SlotRhythm {
    /// Until when nothing needs to be read; nil if every block is to wake us.
    private(set) var restEnd: MonotonicTime?

    /// How long after its end a slot is looked for: less than zero where samples come before they are heard. Nil before
    /// the first slot.
    private var lateness: Interval?
    /// Whether a block that completed no slot has woken us since the last slot.
    private var hasWokenInVain = false
    /// Before how many slots in a row that has happened; kept while we rest.
    private var vainSlots = 0
    /// Whether the next slot wasn't there when the rest was over.
    private var hasMissed = false
    /// How many slots in a row weren't there.
    private var misses = 0

    /// After a slot that wasn't there, we look for the next one this much later than that one came.
    private static let margin = Interval.milliseconds(1)
    /// How much earlier we look each time: about one slot in twenty then isn't there.
    private static let step = Interval.microseconds(50)
    /// One slot that comes very late says little about those that follow.
    private static let maxDelay = Interval.milliseconds(2)
    /// We rest once this many slots in a row had such a block. Before a single slot, it may have been an answer of the
    /// server's that woke us.
    private static let minVainSlots = 2
    /// After more misses than this, blocks may be longer than slots, and a rest would only be one more wake-up.
    private static let maxMisses = 4

    /// Takes what a look at `now` has found: so many slots, the last of which is `slot`; nil if there was none.
    mutating func looked(_ slot: Slot?, count: Int, at now: MonotonicTime) {
        guard let slot else { return foundNothing(at: now) }
        let found = now - slot.end
        if restEnd != nil, !hasMissed {
            misses = 0
            // Of several, the first was there long before.
            lateness = (count > 1 ? min(lateness ?? found, found) : lateness ?? found) - Self.step
        } else {
            lateness = min(found + Self.margin, (lateness ?? found) + Self.maxDelay)
        }
        if restEnd == nil { vainSlots = hasWokenInVain ? vainSlots + 1 : 0 }
        hasWokenInVain = false
        hasMissed = false
        let isWorthwhile = vainSlots >= Self.minVainSlots
        restEnd = isWorthwhile ? min((slot + 1).end + (lateness ?? .zero), now + Slot.duration) : nil
    }

    private mutating func foundNothing(at now: MonotonicTime) {
        guard let restEnd else {
            hasWokenInVain = true
            return
        }
        guard now >= restEnd, !hasMissed else { return }
        hasMissed = true
        misses += 1
        if misses > Self.maxMisses {
            self.restEnd = nil
            vainSlots = 0
            misses = 0
        }
    }
}
