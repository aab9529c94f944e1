import CaptureLink
import MediaTypes
import Threading

/// A peer's messages made into access units of the track: with capture times on our clock, where they mean anything here.
///
/// Belongs to the link's thread.
struct PeerPictures {
    private var assembler = AccessUnitAssembler()
    /// Its clock, where that may not be ours; nil while there is nothing to ask.
    private var clock: PeerClock?
    private var hasToldClock = false
    private let isElsewhere: Bool
    /// Whether the pictures are of a recording.
    var isReplay = false
    /// What changes a replay's epochs: a recording may come twice, or of the very capture that was here before it.
    private let replayNumber: UInt64
    private var loggedFaults: UInt64 = 0
    /// A line for each fault could be thousands a second.
    private var faultLineDue = MonotonicTime.zero
    private static let faultLinePeriod = Interval.seconds(1)
    private let log: EventLog

    /// - Parameters:
    ///   - isElsewhere: whether the peer is perhaps on another machine, with another clock.
    ///   - replayNumber: random, and not zero.
    init(isElsewhere: Bool, replayNumber: UInt64, log: EventLog) {
        self.isElsewhere = isElsewhere
        self.replayNumber = replayNumber
        self.log = log
    }

    /// When `timeoutIfDue`, `logFaults` or `pingIfDue` has something to do although nothing has come.
    var deadline: MonotonicTime {
        let faultLine = assembler.faults == loggedFaults ? .distantFuture : faultLineDue
        return min(assembler.nextDeadline ?? .distantFuture, faultLine, clock?.nextPing ?? .distantFuture)
    }

    /// Something came, and be it a part of a message.
    mutating func bytesArrived(at now: MonotonicTime) { assembler.bytesArrived(at: now) }

    /// Takes a message; one without a part of a picture is ignored.
    mutating func add(_ message: ReceivedMessage, at now: MonotonicTime) { assembler.add(message, at: now) }

    /// Nothing follows.
    mutating func finish() { assembler.finish() }

    /// The next access unit that is whole, and the start of capture that it belongs to.
    mutating func next(_ now: MonotonicTime) -> (unit: AccessUnit, epoch: UInt64)? {
        guard let assembled = assembler.next() else { return nil }
        let epoch = isReplay ? assembled.epoch ^ replayNumber : assembled.epoch
        return (placed(assembled.accessUnit, now), epoch)
    }

    /// Ends an access unit that nothing more has come of in time; whether there may be one.
    mutating func timeoutIfDue(_ now: MonotonicTime) -> Bool {
        guard let deadline = assembler.nextDeadline, deadline <= now else { return false }
        assembler.timeout(now)
        return true
    }

    /// The unit with its capture time on our clock, or without one.
    private mutating func placed(_ unit: AccessUnit, _ now: MonotonicTime) -> AccessUnit {
        // A recording's times are of another day: its pictures are placed by arrival, and claim no capture time.
        if isReplay { return unit.withoutCaptureTime }
        guard isElsewhere else { return unit }
        return unit.withCaptureTime(unit.captureTime.flatMap { clock?.ours($0, now: now) })
    }

    /// Says what can't be used of what has come, at most once a second unless this is the last word.
    mutating func logFaults(_ now: MonotonicTime, isLast: Bool = false) {
        let faults = assembler.faults
        if faults == loggedFaults || now < faultLineDue && !isLast { return }
        log.warning("link: \(faults - loggedFaults) NAL units could not be used (\(faults) in all)")
        loggedFaults = faults
        faultLineDue = now + Self.faultLinePeriod
    }
}

// MARK: - The clock

extension PeerPictures {
    /// The peer can be asked what time it is.
    mutating func greeted() {
        if isElsewhere, !isReplay, clock == nil { clock = PeerClock() }
    }

    /// The time of a ping to be sent at once; nil where none is due.
    mutating func pingIfDue(_ now: @autoclosure () -> MonotonicTime) -> MonotonicTime? {
        clock?.pingIfDue(now())
    }

    /// Takes the answer; gives what is known of the way now.
    mutating func take(_ echo: ClockEcho, _ now: MonotonicTime) -> SourceTiming? {
        clock?.take(echo, arrival: now)
        guard let timing = clock?.timing(now) else { return nil }
        let hasJumped = clock?.hasJumped() ?? false
        let words = "\(timing.roundTrip.inMilliseconds) there and back, its clock is ours \(timing.clockOffset.signed)"
        if hasJumped {
            log.warning("link: a clock has jumped; capture is \(words)")
        } else if !hasToldClock {
            log.info("link: capture is \(words)")
        } else {
            log.debug("link: capture is \(words)")
        }
        hasToldClock = true
        return timing
    }
}
