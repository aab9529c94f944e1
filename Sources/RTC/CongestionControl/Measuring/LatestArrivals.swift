import MediaTypes

/// The last five packets that arrived: news about the path within a few packets.
struct LatestArrivals {
    private struct Arrival {
        var delay: Interval
        var time: ReceiverTime
        var byteCount: Int
    }

    private static let count = 5
    private var ring: [Arrival] = []
    private var next = 0

    mutating func add(delay: Interval, at time: ReceiverTime, byteCount: Int) {
        let arrival = Arrival(delay: delay, time: time, byteCount: byteCount)
        if ring.count < Self.count {
            ring.append(arrival)
        } else {
            ring[next] = arrival
        }
        next = (next + 1) % Self.count
    }

    mutating func removeAll() {
        ring.removeAll(keepingCapacity: true)
        next = 0
    }

    /// The least delay of the last four packets.
    var minDelay: Interval? {
        guard ring.count == Self.count else { return nil }
        var least = Interval(nanoseconds: .max)
        for index in ring.indices where index != next { least = min(least, ring[index].delay) }
        return least
    }

    /// The rate at which the last four packets followed the one before them.
    var rate: BitRate {
        guard ring.count == Self.count else { return .unlimited }
        var bytes = 0
        var newest = ring[next].time
        for index in ring.indices where index != next {
            bytes += ring[index].byteCount
            newest = max(newest, ring[index].time)
        }
        return BitRate(Double(bytes), in: newest - ring[next].time)
    }
}
