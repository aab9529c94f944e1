import MediaTypes
import RTP

/// The times at which a sender has its frames shown: those of the track, except for frames that were there before it
/// began, which are shown a millisecond apart.
struct PresentationTimes {
    private let backlogStep: Int64
    private var lastTicks: Int64 = .min
    /// Behind the last frame that was there when the sender began.
    private var backlogEnd = FrameNumber(0)

    /// The times of a stream with this clock rate.
    init(rate: ClockRate) { backlogStep = rate.ticks(in: .milliseconds(1)) }

    /// Whether no frame has been shown.
    var isAtStart: Bool { lastTicks == .min }

    /// The time of the frame `number`, which the track shows at `time`: later than that of the frame sent before.
    mutating func show(_ number: FrameNumber, at time: MediaTime) -> MediaTime {
        let step = number < backlogEnd ? backlogStep : 1
        let shownAt = MediaTime(ticks: max(time.ticks, lastTicks &+ step))
        lastTicks = shownAt.ticks
        return shownAt
    }

    /// Has `frames` shown a millisecond apart, up to `time`.
    mutating func showBacklog(_ frames: Range<FrameNumber>, until time: MediaTime) {
        backlogEnd = frames.upperBound
        let length = backlogStep * Int64(clamping: frames.upperBound.rawValue &- frames.lowerBound.rawValue)
        lastTicks = max(lastTicks, time.ticks - length)
    }

    /// No frame is shown before `time`.
    mutating func advance(to time: MediaTime) { lastTicks = max(lastTicks, time.ticks) }

    /// The following frames are those of another feed, with times of their own.
    mutating func endBacklog() { backlogEnd = FrameNumber(0) }
}

/// Decides when a viewer of a still screen gets one more picture, once: a player that attaches its track only after the
/// first pictures were decoded would otherwise show nothing until the next keep-alive.
struct PictureRefresh {
    /// The delay after the first pictures.
    private static let delay = Interval.milliseconds(250)

    /// When the picture is due; nil before the first one, and once it isn't needed any more.
    private(set) var dueAt: MonotonicTime?
    private var sentAt = MonotonicTime.zero

    /// Notes that a picture was sent.
    mutating func pictureSent(isFirst: Bool, at now: MonotonicTime) {
        if isFirst { dueAt = now + Self.delay }
        sentAt = now
    }

    /// Whether the picture is to be asked for now.
    mutating func takeDue(at now: MonotonicTime) -> Bool {
        guard let dueAt, now >= dueAt else { return false }
        self.dueAt = nil
        return now - sentAt >= Self.delay
    }
}

/// The sender reports of a stream of pictures, which also answer the viewer's reference times.
struct PictureReports {
    private let canonicalName: String
    private var schedule: ReportSchedule
    /// The viewer's last reference time that has not been answered, and when it arrived.
    private var question: (report: ExtendedReport, arrivedAt: MonotonicTime)?

    /// The reports of `session`, the first one at `start`.
    init(of session: SessionParameters, start: MonotonicTime) {
        canonicalName = session.canonicalName
        schedule = ReportSchedule(start: start, hasEarlySecond: session.isOfServer)
    }

    /// When the next report is due.
    var deadline: MonotonicTime { schedule.deadline }
    /// The number of reports so far.
    var count: Int { schedule.count }

    /// Whether a report is due; if so, sets the next deadline.
    mutating func isDue(at now: MonotonicTime) -> Bool { schedule.isDue(at: now) }

    /// Takes the viewer's extended report, which arrived at `arrival`.
    mutating func handle(_ report: ExtendedReport, arrival: MonotonicTime) {
        if report.referenceTime != nil { question = (report, arrival) }
    }

    /// Writes a report on `stream`, which carries the pictures of `feed`, into the feed's packet. Returns false if
    /// nothing was sent yet.
    mutating func write(
        on stream: inout RTPStream, of feed: TrackFeed, rate: ClockRate, at now: MonotonicTime
    ) -> Bool {
        guard
            stream.writeReport(on: feed.hub, rate: rate, canonicalName: canonicalName, at: now, into: &feed.packet)
        else { return false }
        // Without an answer, a viewer takes the round trip to be 100 ms, and asks for a packet no sooner again.
        if let (asked, arrivedAt) = question, let answer = asked.answer(after: now - arrivedAt) {
            ExtendedReport(sender: stream.configuration.ssrc, delays: [answer]).write(into: &feed.packet)
            question = nil
        }
        return true
    }
}
