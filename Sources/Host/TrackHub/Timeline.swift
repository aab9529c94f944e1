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
    private static let longestWay = Interval.seconds(10)
    /// How far a time stamp may be ahead of the arrival and still count as our clock's: the offset of another machine's
    /// clock is known to no better than half a round trip.
    private static let clockError = Interval.milliseconds(500)

    private var last = MediaTime(ticks: -1)
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
    ///     before.
    /// - Returns: the media time, later than all before it, and the capture time on our clock if it is known.
    public mutating func place(
        captureTime: MonotonicTime?, epoch: UInt64, arrival: MonotonicTime
    ) -> (time: MediaTime, captureTime: MonotonicTime?) {
        // The capture times of a source on another machine begin once the offset between the clocks is known.
        if self.epoch != epoch || captureTime != nil && isPlacedByArrival {
            self.epoch = epoch
            clock = Self.clock(of: captureTime, arrival: arrival)
        }
        var known: MonotonicTime?
        var point = arrival
        if let captureTime {
            switch clock {
            case .ours:
                known = min(captureTime, arrival)
                point = min(captureTime, arrival)
            case .foreign(let behind):
                point = min(captureTime + behind, arrival)
            case .arrival:
                break
            }
        }
        let ticks = max(last.ticks + 1, clockRate.ticks(in: point - origin))
        last = MediaTime(ticks: ticks)
        return (last, known)
    }

    /// The media time of `moment`, for sender reports.
    public func mediaTime(at moment: MonotonicTime) -> MediaTime {
        MediaTime(ticks: clockRate.ticks(in: moment - origin))
    }

    private var isPlacedByArrival: Bool { if case .arrival = clock { true } else { false } }

    private static func clock(of captureTime: MonotonicTime?, arrival: MonotonicTime) -> Clock {
        guard let captureTime else { return .arrival }
        let way = arrival - captureTime
        if way >= .zero - clockError, way <= longestWay { return .ours }
        return .foreign(behind: way)
    }
}
