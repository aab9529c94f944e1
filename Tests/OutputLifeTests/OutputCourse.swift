import MediaTypes
import OutputLife

/// A life and its time, so that a test reads as what happens.
struct OutputCourse {
    var life: OutputLife
    var now = MonotonicTime.zero + .seconds(100)
    var random = 0.5

    init(tries: Int = 0, hasTrack: Bool = true) {
        var settings = OutputLife.Settings()
        settings.tries = tries
        life = OutputLife(settings, hasTrack: hasTrack)
    }

    mutating func happens(_ event: OutputLife.Event) -> [OutputLife.Action] {
        life.handle(event, at: now, random: random)
    }

    /// Waits until something is due, and does it; returns how long that took.
    mutating func waits() -> (Interval, [OutputLife.Action]) {
        let before = now
        now = life.deadline
        return (now - before, life.poll(at: now, random: random))
    }
}
