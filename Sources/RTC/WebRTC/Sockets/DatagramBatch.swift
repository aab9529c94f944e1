/// Datagrams to one peer, collected so that one system call sends them all (UDP GSO, Linux 4.18): most of what a small
/// datagram costs is the call and its way through the kernel.
///
/// The kernel divides the bytes into datagrams of one size, so all but the last have that size, and the last one is not
/// longer. Belongs to one thread.
package struct DatagramBatch {
    /// The most datagrams of a batch. More than a picture of moving text has; the gain of still more is small, and a
    /// longer burst could overflow a queue on the path.
    private static let limit = 16

    /// The datagrams, one after the other.
    package private(set) var bytes: [UInt8] = []
    /// The path of all datagrams; nil if there are none.
    package private(set) var path: NetworkPath?
    /// The number of datagrams.
    package private(set) var count = 0
    /// The size of each datagram but the last one.
    package private(set) var segmentByteCount = 0
    /// Whether the last datagram is shorter, so that none may follow.
    private var isClosed = false

    /// An empty batch.
    package init() {}

    /// Appends `datagram`. Returns false if it must begin the next batch; an empty one takes any.
    package mutating func append(_ datagram: [UInt8], along path: NetworkPath) -> Bool {
        if count == 0 {
            self.path = path
            segmentByteCount = datagram.count
        } else if isClosed || count == Self.limit || datagram.count > segmentByteCount || path != self.path {
            return false
        }
        bytes.append(contentsOf: datagram)
        count += 1
        isClosed = datagram.count < segmentByteCount
        return true
    }

    /// The datagram at `index`.
    package subscript(index: Int) -> ArraySlice<UInt8> {
        bytes[(index * segmentByteCount)..<min((index + 1) * segmentByteCount, bytes.count)]
    }

    /// Empties the batch, and keeps its memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        path = nil
        count = 0
        isClosed = false
    }
}
