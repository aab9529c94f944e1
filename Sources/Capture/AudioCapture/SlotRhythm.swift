import MediaTypes

/// Decides until when the capture may sleep although samples arrive, because no slot can be complete before.
///
/// PulseAudio passes samples on in blocks whose length depends on the playing program. If blocks are shorter than a
/// slot, each slot would wake us several times. After a slot, therefore, nothing is read until the next one should be
/// complete. That time is learned from earlier slots: as long as each slot is there when we look, we look a little
/// earlier for the next one; after one that isn't, we look later. A value without I/O; the time is an argument.
struct SlotRhythm {
    /// Until when nothing needs to be read; nil if every block is to wake us.
    private(set) var restEnd: MonotonicTime?

    /// How long after its end a slot is looked for: negative if samples arrive before they are heard. Nil before the
    /// first slot.
    private var lateness: Interval?
    /// Whether a block that completed no slot has woken us since the last slot.
    private var hasWokenInVain = false
    /// The number of slots in a row before which such a block has woken us; kept while we rest.
    private var vainSlots = 0
    /// Whether the next slot wasn't there when the rest was over.
    private var hasMissed = false
    /// How many slots in a row weren't there.
    private var misses = 0

    /// After a slot that wasn't there, we look for the next one this much later than the missed one arrived.
    private static let margin = Interval.milliseconds(1)
    /// How much earlier we look each time: about one slot in twenty then isn't there.
    private static let step = Interval.microseconds(50)
    /// A single slot that arrives very late says little about later slots.
    private static let maxDelay = Interval.milliseconds(2)
    /// We rest once this many slots in a row had such a block. Before a single slot, it may have been an answer of the
    /// server's that woke us.
    private static let minVainSlots = 2
    /// After more misses than this, blocks may be longer than slots, and a rest would only be one more wake-up.
    private static let maxMisses = 4

    /// Records the result of a look at `now`: the number of slots, and the last of them; nil if there was none.
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
