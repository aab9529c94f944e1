/// A queue of bytes to send.
struct OutgoingBytes {
    /// The most memory that an empty queue keeps for reuse, in bytes.
    private static let keptCapacity = 256 << 10

    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }
    /// The number of bytes of memory that the queue holds, including unused memory.
    var capacity: Int { bytes.capacity }

    mutating func append(_ more: some Collection<UInt8>) {
        // Removes the bytes that have been sent before the array has to grow.
        if start > bytes.count / 2 {
            bytes.removeSubrange(..<start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// Removes the first `taken` bytes; `taken` is at most `count`.
    mutating func removeFirst(_ taken: Int) {
        start += min(taken, count)
        if isEmpty {
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
            start = 0
        }
    }

    func withUnsafeBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(SocketError) -> Value
    ) throws(SocketError) -> Value {
        try bytes.withUnsafeBufferPointer { all throws(SocketError) in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[min(start, all.count)...])))
        }
    }
}
