import MediaTypes

/// Says until when the capture may sleep although samples come, because no slot can be complete before that.
///
/// PulseAudio passes samples on in blocks whose length depends on who plays. Where they are shorter than a slot, each
/// slot would wake us several times. So after a slot, nothing is read until the next one should be complete. When that
/// is, is learnt from the slots before: as long as each is there when it is looked for, the look comes a little earlier
/// each time; where one isn't, the looks come later from then on. A value without I/O; the time is an argument.
struct SlotRhythm {
    /// Until when nothing needs to be read; nil if every block is to wake us.
    private(set) var restEnd: MonotonicTime?

    /// How long after its end a slot is looked for: less than zero where samples come before they are heard. Nil before
    /// the first slot.
    private var lateness: Interval?
    /// Whether a block has woken us since the last slot that completed none.
    private var hasWokenInVain = false
    /// Before how many slots in a row one has; kept while we rest.
    private var vainSlots = 0
    /// Whether the next slot wasn't there when the rest was over.
    private var hasMissed = false
    /// How many slots in a row weren't.
    private var misses = 0

    /// How much later than a slot that was missed has come the next one is looked for.
    private static let margin = Interval.milliseconds(1)
    /// How much earlier each look is than the one before: a slot is missed about once in twenty.
    private static let step = Interval.microseconds(50)
    /// One slot that comes very late says little about those that follow.
    private static let longestDelay = Interval.milliseconds(2)
    /// A rest is worth while from so many on. A single one may have been preceded by an answer of the server's.
    private static let fewestVainSlots = 2
    /// After so many misses, blocks may be longer than slots, and a rest would only be one wake-up more.
    private static let mostMisses = 4

    /// Takes what a look at `now` has found: so many slots, the last of which is `slot`; nil if there was none.
    mutating func looked(_ slot: Slot?, count: Int, at now: MonotonicTime) {
        guard let slot else { return foundNothing(at: now) }
        let found = now - slot.end
        if restEnd != nil, !hasMissed {
            misses = 0
            // Of several, the first was there long before.
            lateness = (count > 1 ? min(lateness ?? found, found) : lateness ?? found) - Self.step
        } else {
            lateness = min(found + Self.margin, (lateness ?? found) + Self.longestDelay)
        }
        if restEnd == nil { vainSlots = hasWokenInVain ? vainSlots + 1 : 0 }
        hasWokenInVain = false
        hasMissed = false
        let isWorthwhile = vainSlots >= Self.fewestVainSlots
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
        if misses > Self.mostMisses {
            self.restEnd = nil
            vainSlots = 0
            misses = 0
        }
    }
}
