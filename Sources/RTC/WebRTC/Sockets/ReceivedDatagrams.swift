/// Datagrams that were received together for another loop, one after the other in the same memory.
struct ReceivedDatagrams: Sendable {
    private var bytes: [UInt8] = []
    /// Where each datagram ends in `bytes`, and which way it came.
    private var parts: [(end: Int, path: NetworkPath)] = []

    /// The number of datagrams.
    var count: Int { parts.count }

    mutating func append(_ datagram: ArraySlice<UInt8>, along path: NetworkPath) {
        bytes.append(contentsOf: datagram)
        parts.append((bytes.count, path))
    }

    /// Calls `body` with each datagram, in order.
    func forEach(_ body: (_ datagram: ArraySlice<UInt8>, _ path: NetworkPath) -> Void) {
        var start = 0
        for part in parts {
            body(bytes[start..<part.end], part.path)
            start = part.end
        }
    }
}
