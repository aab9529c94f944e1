/// Datagrams that the socket had no room for, in their order; they go out before any other.
///
/// Bounded: each session adds one packet of media at most, and the replies, reports and retransmissions that come due meanwhile. Past the
/// bound they are lost, as on any full queue on the way.
struct WaitingDatagrams {
    /// A megabyte and a bit, several times what the kernel keeps for a socket by default.
    static let limit = 1024

    private var datagrams: [(bytes: [UInt8], path: NetworkPath)] = []
    /// The first of `datagrams` that has not gone out.
    private var first = 0

    /// Whether none waits.
    var isEmpty: Bool { first == datagrams.count }

    /// Adds a datagram behind the others; where there are too many, it is lost.
    mutating func append(_ bytes: [UInt8], along path: NetworkPath) {
        guard datagrams.count - first < Self.limit else { return }
        datagrams.append((bytes, path))
    }

    /// Sends what waits, until `send` says that there is no room.
    mutating func drain(_ send: (_ bytes: [UInt8], _ path: NetworkPath) -> Bool) {
        while first < datagrams.count {
            guard send(datagrams[first].bytes, datagrams[first].path) else {
                datagrams.removeFirst(first)
                first = 0
                return
            }
            first += 1
        }
        datagrams.removeAll(keepingCapacity: datagrams.count <= 64)
        first = 0
    }
}
