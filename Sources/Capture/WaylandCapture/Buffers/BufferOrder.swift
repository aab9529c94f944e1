/// Finds out from the order in which a stream's buffers arrive whether one of them was lost.
///
/// A sender fills its buffers in the order in which they came back. PipeWire replaces a buffer that the receiver hasn't
/// fetched in time by the next one; mutter 43 may send one with only the pointer right after the last picture for a
/// long time.
struct BufferOrder<Buffer: Equatable> {
    /// Those that the sender has, in the order in which it fills them.
    private var free: [Buffer] = []

    /// Notes one that the sender has or is given back.
    mutating func add(_ buffer: Buffer) { free.append(buffer) }

    /// Notes one that isn't there any more.
    mutating func remove(_ buffer: Buffer) { free.removeAll { $0 == buffer } }

    /// Notes one that arrives; returns whether another should have arrived before it.
    mutating func arrive(_ buffer: Buffer) -> Bool {
        guard let index = free.firstIndex(of: buffer) else { return false }
        free.remove(at: index)
        // The sender has those before it again.
        for _ in 0..<index { free.append(free.removeFirst()) }
        return index > 0
    }
}
