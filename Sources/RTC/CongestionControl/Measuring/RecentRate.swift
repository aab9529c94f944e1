import MediaTypes

/// A bit rate over the recent past: over at least one span and at most two, once that much time has passed.
///
/// It keeps two marks of time and total instead of a list of packets.
struct RecentRate {
    /// So few packets are no measurement.
    private static let minPacketCount = 5

    private struct Checkpoint {
        var time: Int64
        var total: Int64
        var packets: Int64
    }

    private let span: Interval
    private var total: Int64 = 0
    private var packets: Int64 = 0
    private var older: Checkpoint?
    private var newer: Checkpoint?
    private var last: Int64 = .min

    /// Measures over one to two times `span`.
    init(span: Interval) {
        self.span = span
    }

    /// Adds bytes at `time`, nanoseconds on any one clock. A time before the last one counts as the last one.
    mutating func add(_ byteCount: Int, at time: Int64) {
        total += Int64(byteCount)
        packets += 1
        advance(to: time)
    }

    /// Advances the time without bytes.
    mutating func advance(to time: Int64) {
        guard time > last else { return }
        last = time
        let mark = Checkpoint(time: time, total: total, packets: packets)
        guard let newer else {
            older = mark
            self.newer = mark
            return
        }
        if time &- newer.time >= span.nanoseconds {
            older = newer
            self.newer = mark
        }
    }

    /// Begins again at `time`, or at the time of the last bytes.
    mutating func reset(at time: Int64? = nil) {
        let start = time ?? last
        older = nil
        newer = nil
        last = .min
        if start != .min { advance(to: start) }
    }

    /// The time that passed since the older mark.
    var duration: Interval { Interval(nanoseconds: older.map { last &- $0.time } ?? 0) }

    /// ``duration``; zero while that contains too few packets for a measurement.
    var measuredTime: Interval {
        guard let older, packets - older.packets >= Self.minPacketCount else { return .zero }
        return duration
    }

    /// The rate over ``duration``; zero if no time has passed.
    var bitRate: BitRate {
        guard let older, last > older.time else { return .zero }
        return BitRate(Double(total - older.total), in: duration)
    }
}
