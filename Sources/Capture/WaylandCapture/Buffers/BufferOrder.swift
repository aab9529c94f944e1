/// Finds out from the order in which a stream's buffers arrive whether one of them was lost.
///
/// A sender with a `pw_stream` fills its buffers in the order in which it has sent them before. PipeWire drops one that
/// the receiver hasn't fetched when the next is sent, and the sender drops what it would have filled one with that the
/// receiver still holds.
struct BufferOrder<Buffer: Equatable> {
    /// Those that arrived last are at the end.
    private var buffers: [(buffer: Buffer, isReported: Bool)] = []

    /// Notes one that hasn't been sent yet.
    mutating func add(_ buffer: Buffer) { buffers.append((buffer, false)) }

    /// Notes one that isn't there any more.
    mutating func remove(_ buffer: Buffer) { buffers.removeAll { $0.buffer == buffer } }

    /// Notes one that arrives, and returns those that should have arrived before it.
    ///
    /// Each of these is returned only once until it arrives: where the sender has it in its own order isn't known.
    mutating func arrive(_ buffer: Buffer) -> [Buffer] {
        guard let index = buffers.firstIndex(where: { $0.buffer == buffer }) else { return [] }
        var skipped: [Buffer] = []
        for earlier in 0..<index where !buffers[earlier].isReported {
            buffers[earlier].isReported = true
            skipped.append(buffers[earlier].buffer)
        }
        buffers.remove(at: index)
        buffers.append((buffer, false))
        return skipped
    }
}
