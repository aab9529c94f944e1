public import MediaTypes

/// Puts every picture of a track on one timeline that never runs backwards, even if the capture restarts or the source
/// uses another clock.
///
/// A source on this machine stamps its pictures with our own clock, so its capture times are used as they are. The
/// pictures of a source without time stamps, or with another machine's clock, are placed by arrival; the intervals
/// between a source's own time stamps are kept.
public struct Timeline: Sendable {
    /// Media time 0 on this machine's clock.
    public let origin: MonotonicTime
    /// The rate of media times: that of the track's format.
    public var clockRate = ClockRate.video

    /// The longest delay of a picture whose time stamp still counts as our clock's; beyond this, it is taken for
    /// another clock's.
    private static let maxWay = Interval.seconds(10)
    /// How far a time stamp may be ahead of the arrival and still count as our clock's: the offset of another machine's
    /// clock is known to no better than half a round trip.
    private static let clockError = Interval.milliseconds(500)

    /// All durations of sound are multiples of 2.5 ms (RFC 6716 section 2.1.4).
    private static let soundGrid: Int64 = 120
    /// Sound whose time stamp is less than 8 ms from the end of the sound before joins it. So far, the clocks may be
    /// inexact: nobody sees that lips and sound are apart by that, but a gap or an overlap is heard.
    private static let soundTolerance: Int64 = 400

    private var last = MediaTime(ticks: -1)
    /// Where the last sound ends; nil if that isn't known.
    private var soundEnd: Int64?
    private var epoch: UInt64?
    private var clock = Clock.arrival

    /// The clock that a source's capture times refer to.
    private enum Clock {
        /// This machine's CLOCK_MONOTONIC.
        case ours
        /// Another clock, this far behind ours (the delay of the first picture included).
        case foreign(behind: Interval)
        /// None: the source sends no capture times.
        case arrival
    }

    /// Creates a timeline whose media time 0 is `origin`.
    public init(origin: MonotonicTime) {
        self.origin = origin
    }

    /// Places a picture on the timeline.
    ///
    /// - Parameters:
    ///   - captureTime: the source's time stamp, if it sends one.
    ///   - epoch: changes when the source's clock may have changed.
    ///   - arrival: now. A picture is never placed later than this, except by the ticks that keep it after the picture
    ///     before. Sound may be later by the error of its clock, since it keeps its distances.
    /// - Returns: the media time, later than all before it, and the capture time on our clock if it is known. Sound
    ///   that would begin before the end of the sound before it has no place: it can't be heard at the same time.
    public mutating func place(
        captureTime: MonotonicTime?, epoch: UInt64, arrival: MonotonicTime, lasting duration: Interval? = nil
    ) -> (time: MediaTime?, captureTime: MonotonicTime?) {
        // The capture times of a source on another machine begin once the offset between the clocks is known.
        if self.epoch != epoch || captureTime != nil && isPlacedByArrival {
            self.epoch = epoch
            clock = Self.clock(of: captureTime, arrival: arrival)
        }
        var known: MonotonicTime?
        var point = arrival
        let latest = clockRate == .audio ? arrival + Self.clockError : arrival
        if let captureTime {
            switch clock {
            case .ours:
                known = min(captureTime, latest)
                point = min(captureTime, latest)
            case .foreign(let behind):
                point = min(captureTime + behind, latest)
            case .arrival:
                break
            }
        }
        let ticks = clockRate.ticks(in: point - origin)
        if clockRate == .audio {
            guard let joined = joined(ticks) else { return (nil, known) }
            last = MediaTime(ticks: joined)
            soundEnd = duration.map { joined &+ clockRate.ticks(in: $0) }
        } else {
            last = MediaTime(ticks: max(last.ticks + 1, ticks))
        }
        return (last, known)
    }

    /// Where sound goes that is at `ticks` by its time stamp: where the sound before ends if it is near, else a whole
    /// number of steps behind that, because a player hears it if a sample is missing between two packets or is there
    /// twice. Nil if it begins before that end.
    private func joined(_ ticks: Int64) -> Int64? {
        guard last.ticks >= 0 else { return max(0, ticks) }
        let earliest = soundEnd ?? last.ticks + Self.soundGrid
        // Where the sound before ends isn't known, nothing can join it.
        let tolerance = soundEnd == nil ? Self.soundGrid / 2 : Self.soundTolerance
        let (late, isBeyond) = ticks.subtractingReportingOverflow(earliest)
        guard !isBeyond, late > -tolerance else { return nil }
        if late < tolerance { return earliest }
        return earliest + (late + Self.soundGrid / 2) / Self.soundGrid * Self.soundGrid
    }

    private var isPlacedByArrival: Bool { if case .arrival = clock { true } else { false } }

    private static func clock(of captureTime: MonotonicTime?, arrival: MonotonicTime) -> Clock {
        guard let captureTime else { return .arrival }
        let way = arrival - captureTime
        if way >= .zero - clockError, way <= maxWay { return .ours }
        return .foreign(behind: way)
    }
}
