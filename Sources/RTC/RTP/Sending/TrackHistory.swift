public import MediaTypes

/// A frame's number on its track. Numbers count up from zero and are never reused.
public struct FrameNumber: Hashable, Comparable, Sendable {
    /// The number.
    public let rawValue: UInt64

    /// The number `rawValue`.
    public init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The number that follows.
    public var next: FrameNumber { FrameNumber(rawValue &+ 1) }

    public static func < (left: FrameNumber, right: FrameNumber) -> Bool { left.rawValue < right.rawValue }
}

/// A track's latest frames, kept once for all its sessions, so that each of them can send a packet again.
///
/// The history is bounded in frames, bytes and time. The newest frame always stays, and so does the one before it as
/// long as the byte limit allows: after a pause, the loss of a picture's end may show only when the next picture
/// arrives. Not thread-safe: the media thread owns it.
public struct TrackHistory: Sendable {
    private struct Entry: Sendable {
        let frame: PacketizedFrame
        let time: MonotonicTime
        /// The number of bytes of all frames up to this one.
        let end: Int
    }

    /// The maximum number of frames kept, a power of two.
    public let maxUnitCount: Int
    /// The maximum number of bytes kept, not counting the newest frame.
    public let maxByteCount: Int
    /// How long a frame is kept.
    public let maxAge: Interval
    /// The number of bytes of all frames kept.
    public private(set) var byteCount = 0
    /// The oldest frame kept; equal to `next` if there is none.
    public private(set) var oldest = FrameNumber(0)
    /// The number of the next frame to be appended.
    public private(set) var next = FrameNumber(0)

    private var ring: [Entry?]
    /// The number of bytes of all frames that were ever appended.
    private var end = 0

    /// An empty history; `maxUnitCount` is rounded up to a power of two. The first frame gets the number `first`.
    public init(
        maxUnitCount: Int = 512, maxByteCount: Int = 4 << 20, maxAge: Interval = .seconds(2),
        first: FrameNumber = FrameNumber(0)
    ) {
        oldest = first
        next = first
        var capacity = 2
        while capacity < min(maxUnitCount, 1 << 16) { capacity *= 2 }
        self.maxUnitCount = capacity
        self.maxByteCount = maxByteCount
        self.maxAge = maxAge
        ring = Array(repeating: nil, count: capacity)
    }

    /// How many frames are kept.
    public var count: Int { Int(next.rawValue &- oldest.rawValue) }

    /// Appends `frame`, which arrived at `now`, and returns its number. Frames beyond the limits are removed.
    public mutating func append(_ frame: PacketizedFrame, at now: MonotonicTime) -> FrameNumber {
        let number = next
        if count == maxUnitCount { removeOldest() }
        end += frame.coded.bytes.count
        ring[slot(number)] = Entry(frame: frame, time: now, end: end)
        byteCount += frame.coded.bytes.count
        next = number.next
        while count > 1, byteCount - frame.coded.bytes.count > maxByteCount { removeOldest() }
        while count > 2, let entry = ring[slot(oldest)], now - entry.time > maxAge { removeOldest() }
        return number
    }

    /// The frame with this number; nil if it was removed or never existed.
    public func frame(_ number: FrameNumber) -> PacketizedFrame? {
        guard number >= oldest, number < next else { return nil }
        return ring[slot(number)]?.frame
    }

    /// When the frame with this number arrived; nil if it was removed or never existed.
    public func time(of number: FrameNumber) -> MonotonicTime? {
        guard number >= oldest, number < next else { return nil }
        return ring[slot(number)]?.time
    }

    /// The number of bytes of the frames from `number` on, as coded. 0 if that frame is not kept.
    public func byteCount(from number: FrameNumber) -> Int {
        guard number >= oldest, number < next, let entry = ring[slot(number)] else { return 0 }
        return end - entry.end + entry.frame.coded.bytes.count
    }

    /// The bit rate of the frames that were appended within `span` before `now`, without random access frames, which
    /// are made only if something needs one.
    public func bitRate(over span: Interval, until now: MonotonicTime) -> BitRate {
        var bytes = 0
        var number = next
        while number > oldest {
            number = FrameNumber(number.rawValue - 1)
            guard let entry = ring[slot(number)], now - entry.time <= span else { break }
            if !entry.frame.isRandomAccess { bytes += entry.frame.coded.bytes.count }
        }
        return BitRate(bitsPerSecond: Int(Double(bytes) * 8 / span.seconds))
    }

    /// Removes every frame. Their numbers are not reused.
    public mutating func removeAll() {
        while count > 0 { removeOldest() }
    }

    private func slot(_ number: FrameNumber) -> Int {
        Int(truncatingIfNeeded: number.rawValue) & (maxUnitCount - 1)
    }

    private mutating func removeOldest() {
        byteCount -= ring[slot(oldest)]?.frame.coded.bytes.count ?? 0
        ring[slot(oldest)] = nil
        oldest = oldest.next
    }
}
