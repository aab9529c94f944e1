/// Bytes in the order in which they have to leave.
struct OutgoingBytes {
    /// An empty queue keeps at most this much memory for the next time.
    private static let keptCapacity = 256 << 10

    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }
    /// How much memory it holds, for what waits and for the next time.
    var capacity: Int { bytes.capacity }

    mutating func append(_ more: some Collection<UInt8>) {
        // Move what is left down before the array would grow for bytes that have long left.
        if start > bytes.count / 2 {
            bytes.removeSubrange(..<start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// Forgets the first `taken` bytes; `taken` is at most `count`.
    mutating func removeFirst(_ taken: Int) {
        start += min(taken, count)
        if isEmpty {
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
            start = 0
        }
    }

    func withUnsafeBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(LinkTransportError) -> Value
    ) throws(LinkTransportError) -> Value {
        let result: Result<Value, LinkTransportError> = bytes.withUnsafeBytes { all in
            Result { () throws(LinkTransportError) in
                try body(UnsafeRawBufferPointer(rebasing: all[min(start, all.count)...]))
            }
        }
        return try result.get()
    }
}
