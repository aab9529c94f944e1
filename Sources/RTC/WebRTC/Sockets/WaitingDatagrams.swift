/// A queue of datagrams that the socket had no room for. They are sent before any others.
///
/// The queue is bounded. The session that finds no room adds one batch of media packets (``DatagramBatch``), each other
/// one at most a single packet, and all of them the replies, reports and retransmissions that become due in the
/// meantime. Datagrams beyond the limit are lost, as on any full queue on the path.
struct WaitingDatagrams {
    /// The maximum number of datagrams: a little over a megabyte, several times the kernel's default buffer for a
    /// socket.
    static let limit = 1024

    private var datagrams: [(bytes: [UInt8], path: NetworkPath)] = []
    /// The index of the first datagram that has not been sent.
    private var first = 0

    /// Whether the queue is empty.
    var isEmpty: Bool { first == datagrams.count }

    /// Appends a datagram. Returns false if the queue is full: then the datagram is lost.
    @discardableResult
    mutating func append(_ bytes: [UInt8], along path: NetworkPath) -> Bool {
        guard datagrams.count - first < Self.limit else { return false }
        datagrams.append((bytes, path))
        return true
    }

    /// Sends the waiting datagrams until `send` returns false because there is no room.
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
