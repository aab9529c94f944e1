import MediaTypes

/// The frames that one reader has not yet taken. The queue is bounded: on overflow it loses whole frames up to the next
/// random access frame.
struct ReaderQueue: Sendable {
    /// How many frames this reader has lost so far.
    private(set) var lostFrames: UInt64 = 0

    private var frames: [TrackFrame] = []
    private var byteCount = 0
    private var gate: RandomAccessGate
    private let limits: CacheLimits

    /// Creates a queue that begins with `frames`, the hub's cache.
    init(startingWith frames: [TrackFrame], limits: CacheLimits) {
        self.limits = limits
        gate = RandomAccessGate(isClosed: frames.isEmpty)
        fill(with: frames)
    }

    /// Adds the track's next frame; on overflow the queue is emptied and waits for a random access frame.
    ///
    /// - Returns: whether there is something new to take.
    mutating func append(_ frame: TrackFrame) -> Bool {
        let count = frame.coded.bytes.count
        if !frames.isEmpty, frames.count >= limits.frames || byteCount + count > limits.bytes {
            lostFrames += UInt64(frames.count)
            fill(with: [])
            gate.close()
        }
        guard gate.passes(isRandomAccess: frame.coded.isRandomAccess) else {
            lostFrames += 1
            return false
        }
        frames.append(frame)
        byteCount += count
        return true
    }

    /// Begins again with the hub's cache, if frames were lost and a reader can begin with the cache.
    mutating func recover(with cache: [TrackFrame]) {
        guard gate.isClosed, frames.isEmpty, !cache.isEmpty else { return }
        fill(with: cache)
        gate = RandomAccessGate(isClosed: false)
    }

    /// Returns everything queued, oldest first, and empties the queue.
    mutating func take() -> [TrackFrame] {
        let taken = frames
        fill(with: [])
        return taken
    }

    private mutating func fill(with frames: [TrackFrame]) {
        self.frames = frames
        byteCount = frames.reduce(0) { $0 + $1.coded.bytes.count }
    }
}
