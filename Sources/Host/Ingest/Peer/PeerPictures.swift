import CaptureLink
import MediaTypes
import Threading
import TrackHub

/// Assembles a peer's messages into frames of the track, and converts their capture times to our clock if possible.
///
/// Belongs to the link's thread.
struct PeerPictures {
    private var assembler = FrameAssembler()
    /// The peer's clock if it may differ from ours; nil while the peer can't be asked.
    private var clock: PeerClock?
    private var hasToldClock = false
    private let isElsewhere: Bool
    /// Whether the peer plays a recording.
    var isReplay = false
    /// Changes the epochs of a replay: a recording may be played twice, or may show the very capture that was here
    /// before it.
    private let replayNumber: UInt64
    /// How long the pictures took that have arrived so far.
    private(set) var stages = StageTimes()
    private var loggedFaults: UInt64 = 0
    /// When the next line about faults may be logged: one for each fault could be thousands a second.
    private var faultLineDue = MonotonicTime.zero
    private static let faultLinePeriod = Interval.seconds(1)
    private let log: EventLog

    /// - Parameters:
    ///   - isElsewhere: whether the peer may be on another machine, with another clock.
    ///   - replayNumber: random, and not zero.
    init(isElsewhere: Bool, replayNumber: UInt64, log: EventLog) {
        self.isElsewhere = isElsewhere
        self.replayNumber = replayNumber
        self.log = log
    }

    /// When `timeoutIfDue`, `logFaults` or `pingIfDue` has something to do even if nothing arrives.
    var deadline: MonotonicTime {
        let faultLine = assembler.faults == loggedFaults ? .distantFuture : faultLineDue
        return min(assembler.nextDeadline ?? .distantFuture, faultLine, clock?.nextPing ?? .distantFuture)
    }

    /// Notes that bytes have arrived, even if they are only a part of a message.
    mutating func bytesArrived(at now: MonotonicTime) { assembler.bytesArrived(at: now) }

    /// Takes a message; one that has no part of a picture is ignored.
    mutating func add(_ message: ReceivedMessage, at now: MonotonicTime) { assembler.add(message, at: now) }

    /// Ends the stream: nothing follows.
    mutating func finish() { assembler.finish() }

    /// Returns the next complete frame, and the epoch of the capture that it belongs to.
    mutating func next(_ now: MonotonicTime) -> (frame: CodedFrame, epoch: UInt64)? {
        guard let assembled = assembler.next() else { return nil }
        let epoch = isReplay ? assembled.epoch ^ replayNumber : assembled.epoch
        let frame = placed(assembled.frame, now)
        if !isReplay, let notice = assembled.notice { count(notice, capturedAt: frame.captureTime, now) }
        return (frame, epoch)
    }

    /// Counts the times of a picture that has just arrived.
    private mutating func count(_ notice: PictureNotice, capturedAt captured: MonotonicTime?, _ now: MonotonicTime) {
        // Keep-alives and refinements are no measure: nobody waits for them.
        guard let worked = notice.worked, !notice.damage.isEmpty else { return }
        if let waited = notice.waited { stages.add(waited: waited) }
        stages.encoding.add(worked)
        if let captured { stages.link.add(now - captured - worked) }
    }

    /// Ends a frame if the rest of it hasn't arrived in time. Returns whether `next` may have a frame now.
    mutating func timeoutIfDue(_ now: MonotonicTime) -> Bool {
        guard let deadline = assembler.nextDeadline, deadline <= now else { return false }
        assembler.timeout(now)
        return true
    }

    /// The frame with its capture time on our clock, or without one.
    private mutating func placed(_ frame: CodedFrame, _ now: MonotonicTime) -> CodedFrame {
        guard isReplay || isElsewhere, let captured = frame.captureTime else { return frame }
        return frame.withCaptureTime(ours(captured, now))
    }

    /// Logs how much of what has arrived can't be used, at most once a second unless `isLast` is true.
    mutating func logFaults(_ now: MonotonicTime, isLast: Bool = false) {
        let faults = assembler.faults
        if faults == loggedFaults || now < faultLineDue && !isLast { return }
        log.warning("link: \(faults - loggedFaults) units could not be used (\(faults) in all)")
        loggedFaults = faults
        faultLineDue = now + Self.faultLinePeriod
    }
}

// MARK: - The clock

extension PeerPictures {
    /// Notes that the peer has said hello, and so can answer pings.
    mutating func greeted() {
        if isElsewhere, !isReplay, clock == nil { clock = PeerClock() }
    }

    /// Converts a capture time of the peer to our clock; nil if it can't be known.
    mutating func ours(_ time: MonotonicTime, _ now: MonotonicTime) -> MonotonicTime? {
        // A recording's times are from another day, so what it sends has no capture time and is placed by arrival.
        if isReplay { return nil }
        return isElsewhere ? clock?.ours(time, now: now) : time
    }

    /// Returns the time to send in a ping now, or nil if none is due.
    mutating func pingIfDue(_ now: @autoclosure () -> MonotonicTime) -> MonotonicTime? {
        clock?.pingIfDue(now())
    }

    /// Takes the answer to a ping, and returns the round trip and clock offset known now.
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
