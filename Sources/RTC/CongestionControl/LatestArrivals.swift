/// The last five packets that arrived: news about the path within a few packets.
struct LatestArrivals {
    private struct Arrival {
        var delay: Double
        var time: ReceiverTime
        var byteCount: Int
    }

    private static let count = 5
    private var ring: [Arrival] = []
    private var next = 0

    mutating func add(delay: Double, at time: ReceiverTime, byteCount: Int) {
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

    /// The least delay of the last four packets, in milliseconds.
    var leastDelay: Double? {
        guard ring.count == Self.count else { return nil }
        var least = Double.infinity
        for index in ring.indices where index != next { least = min(least, ring[index].delay) }
        return least
    }

    /// The rate at which the last four packets followed the one before them, in bits per second.
    var rate: Double {
        guard ring.count == Self.count else { return .infinity }
        var bytes = 0
        var newest = ring[next].time
        for index in ring.indices where index != next {
            bytes += ring[index].byteCount
            newest = max(newest, ring[index].time)
        }
        let duration = newest - ring[next].time
        return duration > 0 ? Double(bytes) * 8000 / duration : .infinity
    }
}
