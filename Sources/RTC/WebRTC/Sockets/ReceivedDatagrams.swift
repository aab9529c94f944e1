import MediaTypes

/// Datagrams that were received together for another loop, one after the other in the same memory.
struct ReceivedDatagrams: Sendable {
    private var bytes: [UInt8] = []
    /// Where each datagram ends in `bytes`, which way it came, and when it arrived.
    private var parts: [(end: Int, path: NetworkPath, arrival: MonotonicTime)] = []

    /// The number of datagrams.
    var count: Int { parts.count }

    mutating func append(_ datagram: ArraySlice<UInt8>, along path: NetworkPath, arrival: MonotonicTime) {
        bytes.append(contentsOf: datagram)
        parts.append((bytes.count, path, arrival))
    }

    /// Calls `body` with each datagram, in order.
    func forEach(_ body: (_ datagram: ArraySlice<UInt8>, _ path: NetworkPath, _ arrival: MonotonicTime) -> Void) {
        var start = 0
        for part in parts {
            body(bytes[start..<part.end], part.path, part.arrival)
            start = part.end
        }
    }
}
