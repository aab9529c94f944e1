import MediaTypes

/// Estimates the rate of a viewer's path from the whole pictures that the viewer confirms, and limits the unconfirmed
/// bytes.
///
/// The path is modelled as a queue. A picture's bytes enter the queue when the picture is sent, and have left it when
/// the picture was confirmed, less the shortest round trip. From the end of the previous picture, or from its own
/// sending if that was later, the path has worked only on this picture. So idle times count for nothing, and neither
/// does a source that sends little: only while a queue stands do the bytes that leave it show the path's rate. The
/// viewer's timers and its processor delay confirmations by up to ``noise``; shorter times are no evidence.
///
/// Pure: no clock, no lock. The memory is bounded by ``maxPictures``.
struct WholePictureBandwidthEstimator {
    private struct Picture {
        let number: UInt32
        let byteCount: Int
        let sentAt: MonotonicTime
        /// Whether all earlier pictures were confirmed.
        let wasAlone: Bool
    }

    /// The bytes that a queue has delivered since `start` without ever being empty.
    private struct BusyPeriod {
        var start: MonotonicTime
        var byteCount = 0
    }

    /// The first guess: enough for a screen of text, and not more than a slow path gets rid of soon.
    static let guess = BitRate(bitsPerSecond: 3_000_000)
    private static let lowest = 100_000
    /// An estimate from here on is no limit for a screen.
    private static let plenty = 20_000_000
    /// How late a confirmation may be without showing anything about the path.
    private static let noise = Interval.milliseconds(50)
    /// The least size and length of a run for its rate to count, and the least queue at its end.
    private static let evidence = (
        byteCount: 16_000, time: Interval.milliseconds(150), queue: Interval.milliseconds(100)
    )
    /// So much more than the round trip may be under way.
    private static let allowance = Interval.milliseconds(200)
    private static let maxBytes = 4 << 20
    private static let maxPictures = 256
    /// The round trip before one is measured.
    private static let usualRoundTrip = Interval.milliseconds(100)
    private static let growthPeriod = Interval.seconds(1)
    /// After so long a queue, the path is left to drain.
    private static let longQueue = Interval.seconds(2)

    /// The path's rate, as far as the pictures have shown it.
    private(set) var estimate = WholePictureBandwidthEstimator.guess
    /// The number of bytes that were sent and not confirmed.
    private(set) var unconfirmedBytes = 0
    /// The delay of a confirmation without any queue; nil before the first.
    private(set) var roundTripTime: Interval?

    private var sent: [Picture] = []
    private var queue = Interval.zero
    /// Whether a standing queue has shown the path's end.
    private var hasEnd = false
    private var progressAt: MonotonicTime
    /// When the last confirmed bytes left the queue.
    private var leftAt: MonotonicTime
    private var busyPeriod: BusyPeriod
    /// The time since which every picture has met a queue, and the least round trip and the number of the pictures that
    /// were alone on the path meanwhile.
    private var standing: (since: MonotonicTime, least: Interval, count: Int)?
    private var growth: (byteCount: Int, queue: Interval, since: MonotonicTime)

    /// A path about which nothing is known, to a session that begins at `now`. The viewer's confirmation of number 0
    /// shows the round trip.
    init(now: MonotonicTime) {
        progressAt = now
        leftAt = now
        busyPeriod = BusyPeriod(start: now)
        growth = (0, .zero, now)
        sent = [Picture(number: 0, byteCount: 0, sentAt: now, wasAlone: true)]
    }

    /// How much longer than the shortest round trip the last picture took.
    var queueDelay: Interval { unconfirmedBytes == 0 ? .zero : queue }

    /// The rate for encoders; nil if the path has shown no end below what a screen needs.
    var target: BitRate? {
        hasEnd && estimate.bitsPerSecond < Self.plenty ? rates.target : nil
    }

    var rates: PathRates {
        let share = 1 - min(queueDelay.seconds, 0.5)
        return PathRates(
            estimate: estimate, target: BitRate(bitsPerSecond: Int(Double(estimate.bitsPerSecond) * share)))
    }

    /// Whether a picture of `byteCount` bytes may be sent now. It always may if no other is unconfirmed, however large
    /// it is.
    func hasRoom(for byteCount: Int, now: MonotonicTime) -> Bool {
        guard unconfirmedBytes > 0, let oldest = sent.first(where: { $0.byteCount > 0 }) else { return true }
        guard sent.count < Self.maxPictures, !isDraining(now: now) else { return false }
        let time = (roundTripTime ?? Self.usualRoundTrip) + Self.allowance
        // The estimate may be too high. If nothing is confirmed for so long, enough is under way.
        guard now - oldest.sentAt < time else { return false }
        let room = min(Double(estimate.bitsPerSecond) / 8 * time.seconds, Double(Self.maxBytes))
        return Double(unconfirmedBytes) + Double(byteCount) <= room
    }

    /// How long the viewer has confirmed none of the pictures sent to it.
    func silence(now: MonotonicTime) -> Interval {
        guard let oldest = sent.first(where: { $0.byteCount > 0 }) else { return .zero }
        return now - max(progressAt, oldest.sentAt)
    }

    /// Whether the viewer is so silent that its path can't be the reason.
    func isStalled(now: MonotonicTime) -> Bool {
        let expected = Double(unconfirmedBytes) * 8 / Double(estimate.bitsPerSecond)
        return silence(now: now).seconds > 2 + 2 * expected
    }

    /// Notes that the picture `number`, which is higher than all before, was sent.
    mutating func sent(_ number: UInt32, byteCount: Int, now: MonotonicTime) {
        sent.append(Picture(number: number, byteCount: byteCount, sentAt: now, wasAlone: unconfirmedBytes == 0))
        unconfirmedBytes += byteCount
    }

    /// Forgets the unconfirmed pictures: they may have been left out, and show nothing.
    mutating func forgetUnconfirmed(now: MonotonicTime) {
        sent = []
        unconfirmedBytes = 0
        (progressAt, leftAt, busyPeriod) = (now, now, BusyPeriod(start: now))
    }

    /// Processes the viewer's confirmation of the picture `number` and of all earlier ones, which came at `arrival`.
    /// Returns false if it confirms nothing new.
    mutating func confirm(through number: UInt32, at arrival: MonotonicTime) -> Bool {
        guard let end = sent.lastIndex(where: { $0.number <= number }) else { return false }
        let (first, last) = (sent[0], sent[end])
        // A viewer may have confirmed what it had not yet got.
        let now = max(arrival, last.sentAt)
        let byteCount = sent[...end].reduce(0) { $0 + $1.byteCount }
        sent.removeSubrange(...end)
        unconfirmedBytes -= byteCount
        progressAt = now
        let delay = now - last.sentAt
        noteRoundTrip(delay, isAlone: last.wasAlone && end == 0, byteCount: byteCount, now: now)
        let least = roundTripTime ?? delay
        queue = delay - least
        let left = now - least
        let start = max(first.sentAt, leftAt)
        let wasFree = first.sentAt + Self.noise >= leftAt
        leftAt = max(left, leftAt)
        guard byteCount > 0 else { return true }
        if wasFree {
            busyPeriod = BusyPeriod(start: start)
            noteAtLeast(byteCount, in: left - start)
        }
        busyPeriod.byteCount += byteCount
        if first.byteCount > 0, end > 0, left - start > Self.noise * 2 {
            // A path that is slow delivers one picture after the other. This one, or the viewer, has paused.
            busyPeriod = BusyPeriod(start: leftAt)
        } else {
            takeBusyPeriod()
        }
        grow(by: byteCount, now: now)
        return true
    }

    /// Short delays count at once. A longer round trip is believed if the delay stays long although none of our packets
    /// waits: two pictures that were alone on the path show that, when a queue seems to stand for long.
    private mutating func noteRoundTrip(_ delay: Interval, isAlone: Bool, byteCount: Int, now: MonotonicTime) {
        roundTripTime = min(roundTripTime ?? delay, delay)
        guard delay - (roundTripTime ?? delay) >= Self.noise else {
            standing = nil
            return
        }
        guard var trips = standing else {
            standing = (now, Interval(nanoseconds: .max), 0)
            return
        }
        guard isAlone, byteCount > 0, isDraining(now: now) else { return }
        let own = min(Double(byteCount) * 8 / Double(estimate.bitsPerSecond), 10)
        trips.least = min(trips.least, max(.zero, delay - Interval(nanoseconds: Int64(own * 1e9))))
        trips.count += 1
        standing = trips
        guard trips.count == 2 else { return }
        roundTripTime = max(roundTripTime ?? .zero, trips.least)
        standing = nil
    }

    /// Whether the path is left to drain, to see the round trip: an apparent queue has stood for long.
    private func isDraining(now: MonotonicTime) -> Bool {
        standing.map { now - $0.since >= Self.longQueue } ?? false
    }

    /// A path that was free has carried so much in that time, or a little less.
    private mutating func noteAtLeast(_ byteCount: Int, in time: Interval) {
        raise(to: Double(byteCount) * 8 / (max(.zero, time) + Self.noise).seconds)
    }

    private mutating func takeBusyPeriod() {
        let time = leftAt - busyPeriod.start
        guard busyPeriod.byteCount >= Self.evidence.byteCount, time >= Self.evidence.time, queue >= Self.evidence.queue
        else {
            // A short queue may be the viewer's own delay; its rate is the source's.
            if time >= .seconds(1), queue < Self.evidence.queue { busyPeriod = BusyPeriod(start: leftAt) }
            return
        }
        let rate = Double(busyPeriod.byteCount) * 8 / time.seconds
        let present = Double(estimate.bitsPerSecond)
        // A single short busy period may be wrong.
        let bounded = time < .milliseconds(500) ? max(rate, present / 2) : rate
        estimate = BitRate(bitsPerSecond: max(Self.lowest, Int(bounded < present ? bounded : (bounded + present) / 2)))
        hasEnd = true
        busyPeriod = BusyPeriod(start: leftAt)
        growth = (0, .zero, leftAt)
    }

    /// A rate delivered without a queue can't be the path's limit: the estimate may exceed it by half.
    private mutating func grow(by byteCount: Int, now: MonotonicTime) {
        growth.byteCount += byteCount
        growth.queue = max(growth.queue, queue)
        let time = now - growth.since
        guard time >= Self.growthPeriod else { return }
        if growth.queue < Self.noise * 2 { raise(to: Double(growth.byteCount) * 12 / time.seconds) }
        growth = (0, .zero, now)
    }

    private mutating func raise(to rate: Double) {
        let bounded = min(rate, Double(BitRate.highest.bitsPerSecond))
        if bounded > Double(estimate.bitsPerSecond) { estimate = BitRate(bitsPerSecond: Int(bounded)) }
    }
}
