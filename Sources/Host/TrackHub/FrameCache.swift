import MediaTypes

/// The frames since the last random access frame: all that a reader needs to begin now.
///
/// If its limits are exceeded, it drops everything and stays empty until the next random access frame, since a partial
/// cache is of no use.
struct FrameCache: Sendable {
    /// The frames from a random access frame on, in order; empty if there is none within the limits.
    private(set) var frames: [TrackFrame] = []

    private var byteCount = 0
    private let limits: CacheLimits

    init(limits: CacheLimits) {
        self.limits = limits
    }

    /// Whether a reader can begin with the cached frames.
    var canStart: Bool { !frames.isEmpty }

    /// Adds the next frame of the track.
    mutating func append(_ frame: TrackFrame) {
        let isRandomAccess = frame.coded.isRandomAccess
        if isRandomAccess {
            clear()
        } else if frames.isEmpty {
            return
        }
        let count = frame.coded.bytes.count
        guard isRandomAccess || frames.count < limits.frames && byteCount + count <= limits.bytes else {
            clear()
            return
        }
        frames.append(frame)
        byteCount += count
    }

    /// Drops all frames, for example because the sharer pauses.
    mutating func clear() {
        frames.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}

/// The limits of a cache.
public struct CacheLimits: Sendable {
    /// Bytes of coded frames. A single random access frame is kept whatever its size, since the link has limited it
    /// already.
    public var bytes: Int
    /// Number of frames.
    public var frames: Int

    /// Creates limits; by default 2 MiB and 300 frames, which is less than a `TrackFeed` keeps for its sessions.
    public init(bytes: Int = 2 << 20, frames: Int = 300) {
        self.bytes = bytes
        self.frames = frames
    }
}
