import MediaTypes

/// The bytes that were coded but that the link has not carried yet, and how much of the link was used lately.
///
/// The debt is kept in bytes: a change of the rate only changes the time that the bytes need. The debt is never
/// negative: unused capacity of an idle link is lost, except for the part that `unused` gives back.
struct LeakyBucket: Sendable {
    private var bytesPerSecond: Double
    private var bytes = 0.0
    private var asOf = MonotonicTime.zero
    /// The seconds of link time that pictures took, of which older ones count less: after a second, half.
    private var used = 0.0

    /// The most that is owed. Viewers don't put up with a screen that stands still for longer while it changes, so
    /// after this a picture is sent, however slow the link is.
    static let maxTime = Interval.seconds(4)

    init(_ bitRate: BitRate) { bytesPerSecond = Self.bytesPerSecond(bitRate) }

    /// Subtracts the bytes that the link has carried until `now`.
    mutating func drain(until now: MonotonicTime) {
        guard now > asOf else { return }
        let passed = (now - asOf).seconds
        bytes = max(0, bytes - passed * bytesPerSecond)
        used /= 1 + passed
        asOf = now
    }

    mutating func add(_ more: Double) {
        bytes = min(bytes + more, Self.maxTime.seconds * bytesPerSecond)
        used += time(toCarry: more).seconds
    }

    mutating func change(to bitRate: BitRate) {
        bytesPerSecond = Self.bytesPerSecond(bitRate)
        add(0)
    }

    /// How long the link needs to carry the debt, from `now`.
    func time(at now: MonotonicTime) -> Interval { max(.zero, time(toCarry: bytes) - max(.zero, now - asOf)) }

    /// How much of the last second before `now` was left unused, roughly.
    func unused(at now: MonotonicTime) -> Interval {
        Interval(seconds: max(0, 1 - used / (1 + max(.zero, now - asOf).seconds)))
    }

    /// How long the link needs to carry `bytes`; at most `maxTime`.
    func time(toCarry bytes: Double) -> Interval {
        Interval(seconds: min(max(bytes, 0) / bytesPerSecond, Self.maxTime.seconds))
    }

    /// How many bytes the link carries in `time`.
    func bytes(in time: Interval) -> Double { time.seconds * bytesPerSecond }

    /// Clamps the rate to a range in which the arithmetic works.
    private static func bytesPerSecond(_ bitRate: BitRate) -> Double {
        Double(min(max(bitRate.bitsPerSecond, 1_000), 100_000_000_000)) / 8
    }
}

extension Interval {
    /// A length of `seconds`, which are few.
    init(seconds: Double) { self.init(nanoseconds: Int64(seconds * 1e9)) }
}
