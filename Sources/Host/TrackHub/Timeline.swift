public import MediaTypes

/// Puts every picture of a track on one timeline that never runs back, over restarts of capture and foreign clocks.
///
/// A source on this machine stamps its pictures with our own clock: its capture times are taken as they are. A source
/// without time stamps, or with a clock of another machine, is placed by arrival, its own distances kept where it has any.
public struct Timeline: Sendable {
    /// Media time 0 on this machine's clock.
    public let origin: MonotonicTime

    /// How long a picture may have been on its way before its stamp is taken for one of another clock.
    private static let longestWay = Interval.seconds(10)

    private var last = MediaTime(ticks: -1)
    private var epoch: UInt64?
    private var clock = Clock.arrival

    /// What a source's capture times mean.
    private enum Clock {
        /// This machine's CLOCK_MONOTONIC.
        case ours
        /// Another clock, this far behind ours (the delay of the first picture included).
        case foreign(behind: Interval)
        /// It gives none.
        case arrival
    }

    /// A timeline whose media time 0 is `origin`.
    public init(origin: MonotonicTime) {
        self.origin = origin
    }

    /// Where a picture is on the timeline.
    ///
    /// - Parameters:
    ///   - captureTime: the source's stamp, if it gives one.
    ///   - epoch: changes when the source's clock may have changed.
    ///   - arrival: now; a picture is never placed later than that, save by the tick that keeps the order.
    /// - Returns: the media time, later than all before it, and the capture time on our clock where it is known.
    public mutating func place(
        captureTime: MonotonicTime?, epoch: UInt64, arrival: MonotonicTime
    ) -> (time: MediaTime, captureTime: MonotonicTime?) {
        // A source on another machine gives times as soon as the way between the clocks is known.
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
        let ticks = max(last.ticks + 1, MediaTime.ticks(in: point - origin))
        last = MediaTime(ticks: ticks)
        return (last, known)
    }

    /// The media time of this moment, for sender reports.
    public func mediaTime(at moment: MonotonicTime) -> MediaTime {
        MediaTime(ticks: MediaTime.ticks(in: moment - origin))
    }

    private var isPlacedByArrival: Bool { if case .arrival = clock { true } else { false } }

    private static func clock(of captureTime: MonotonicTime?, arrival: MonotonicTime) -> Clock {
        guard let captureTime else { return .arrival }
        let way = arrival - captureTime
        if way >= .zero, way <= longestWay { return .ours }
        return .foreign(behind: way)
    }
}
