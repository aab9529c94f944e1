import CaptureLink
import MediaTypes

/// What capture has done since it last sent statistics to the host.
struct RecentWork {
    private var since: MonotonicTime
    private var cpuTime: Interval
    private var before = CaptureStatistics()
    private var encodeTimes = DurationHistogram()
    private var encodingSoFar: UInt64 = 0
    private var changes: UInt64 = 0
    private var damagedMillionths: UInt64 = 0

    /// Creates an empty record. `cpuTime` is what the process has used so far.
    init(since: MonotonicTime, cpuTime: Interval) {
        self.since = since
        self.cpuTime = cpuTime
    }

    /// Notes that a picture was taken in which `damaged` pixels had changed; 0 if it shows nothing new.
    mutating func tookPicture(encodingSoFar: UInt64, damaged: Int, of size: PictureSize) {
        encodeTimes.add(encodingSoFar &- self.encodingSoFar)
        self.encodingSoFar = encodingSoFar
        let pixels = size.width * size.height
        guard damaged > 0, pixels > 0 else { return }
        changes += 1
        damagedMillionths += UInt64(min(damaged, pixels)) * 1_000_000 / UInt64(pixels)
    }

    /// Returns what is new in `statistics` since the last call, and starts the next interval.
    mutating func take(
        _ statistics: CaptureStatistics, cpuTime: Interval, now: MonotonicTime
    ) -> RecentStatistics {
        var recent = RecentStatistics()
        recent.duration = UInt64(max(0, (now - since).nanoseconds))
        recent.pictures = statistics.pictures &- before.pictures
        recent.bytes = statistics.bytes &- before.bytes
        recent.processorNanoseconds = UInt64(max(0, (cpuTime - self.cpuTime).nanoseconds))
        recent.encodeMedianNanoseconds = encodeTimes.percentile(50)
        recent.encodeP95Nanoseconds = encodeTimes.percentile(95)
        recent.damagedMillionths = changes == 0 ? 0 : damagedMillionths / changes
        since = now
        self.cpuTime = cpuTime
        before = statistics
        encodeTimes.removeAll()
        changes = 0
        damagedMillionths = 0
        return recent
    }
}

/// A histogram of durations, in steps of an eighth of an octave, from 1 µs to 4 s, so that a percentile is off by 6 %
/// at most. Its memory is allocated once.
struct DurationHistogram {
    private static let stepsPerOctave = 8
    private static let octaves = 22
    private var counts = [UInt32](repeating: 0, count: Self.octaves * Self.stepsPerOctave)
    private var total: UInt32 = 0

    /// Adds a duration.
    mutating func add(_ nanoseconds: UInt64) {
        let index = Self.index(nanoseconds)
        counts[index] &+= 1
        total &+= 1
    }

    /// The duration in nanoseconds that `percent` percent of the durations don't exceed; 0 if none was added.
    func percentile(_ percent: UInt32) -> UInt64 {
        if total == 0 { return 0 }
        let rank = max(1, (UInt64(total) * UInt64(percent) + 99) / 100)
        var seen: UInt64 = 0
        for (index, count) in counts.enumerated() {
            seen += UInt64(count)
            if seen >= rank { return Self.middle(index) }
        }
        return Self.middle(counts.count - 1)
    }

    /// Removes all durations.
    mutating func removeAll() {
        for index in counts.indices { counts[index] = 0 }
        total = 0
    }

    /// The octave is the position of the highest bit; its step is the three bits after that.
    private static func index(_ nanoseconds: UInt64) -> Int {
        // A microsecond is 1024 ns here, so the highest bit is bit 10 at least.
        let value = max(nanoseconds, 1024)
        let highest = 63 - value.leadingZeroBitCount
        let step = Int(truncatingIfNeeded: value >> UInt64(highest - 3)) & 7
        return min((highest - 10) * stepsPerOctave + step, octaves * stepsPerOctave - 1)
    }

    /// The middle of a step, in nanoseconds.
    private static func middle(_ index: Int) -> UInt64 {
        let (octave, step) = (UInt64(index / stepsPerOctave), UInt64(index % stepsPerOctave))
        let width = UInt64(1) << (octave + 7)
        return (8 + step) * width + width / 2
    }
}
