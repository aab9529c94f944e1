public import MediaTypes

/// What waits to be sent by one output. It is bounded in time and bytes: when it grows beyond that, pictures are left
/// out before sound, and never one that a later one that is sent needs. Sound may wait for longer than pictures, since
/// it takes little, and may wait behind a large picture.
///
/// A pure value; two threads must not use it at once.
public struct OutputQueue<Element> {
    /// What a frame is, as far as it decides what may be left out.
    public enum Kind: Hashable, Sendable {
        /// A picture that needs no earlier one.
        case keyFrame
        /// A picture that needs those before it.
        case picture
        case sound
    }

    private struct Entry {
        var element: Element
        var kind: Kind
        var byteCount: Int
        var arrivedAt: MonotonicTime
    }

    /// The longest that a picture may wait, and a piece of sound, and the most bytes that may.
    public let limits: (time: Interval, soundTime: Interval, byteCount: Int)
    /// The bytes that wait.
    public private(set) var byteCount = 0
    /// Pictures and pieces of sound that were left out.
    public private(set) var dropped = (pictures: 0, sound: 0)
    /// Whether pictures are left out until the next key frame, which is worth a request to the source.
    public private(set) var needsKeyFrame = true
    private var hasBegun = false
    private var entries: [Entry] = []
    private var first = 0

    /// Creates an empty queue. Pictures before the first key frame are left out, and don't count as dropped.
    public init(
        time: Interval = .seconds(2), soundTime: Interval = .seconds(10), byteCount: Int = 4 << 20
    ) {
        limits = (time, soundTime, byteCount)
    }

    /// The number of frames that wait.
    public var count: Int { entries.count - first }

    /// Whether any sound waits.
    public var hasSound: Bool { entries[first...].contains { $0.kind == .sound } }

    /// How long the oldest frame has waited at `now`.
    public func age(at now: MonotonicTime) -> Interval {
        first < entries.count ? max(.zero, now - entries[first].arrivedAt) : .zero
    }

    /// Adds a frame of `byteCount` bytes that came at `now`, and leaves out what is too much.
    public mutating func add(_ element: Element, _ kind: Kind, byteCount: Int, at now: MonotonicTime) {
        if kind == .picture, needsKeyFrame {
            if hasBegun { dropped.pictures += 1 }
        } else {
            if kind == .keyFrame { needsKeyFrame = false }
            hasBegun = hasBegun || kind == .keyFrame
            entries.append(Entry(element: element, kind: kind, byteCount: byteCount, arrivedAt: now))
            self.byteCount += byteCount
        }
        if isFull(now) {
            dropPictures(before: newestStart)
            if isFull(now), pictureCount > 1 { dropPictures(before: nil) }
        }
        // A key frame that is all that is left goes out however large it is.
        while count > 0, entries[first].kind == .sound {
            guard self.byteCount > limits.byteCount || age(at: now) > limits.soundTime else { break }
            dropped.sound += 1
            removeFirst()
        }
    }

    /// Takes the frame that is to be sent next; nil if none waits.
    public mutating func next() -> (element: Element, kind: Kind, byteCount: Int)? {
        guard first < entries.count else { return nil }
        let entry = entries[first]
        removeFirst()
        return (entry.element, entry.kind, entry.byteCount)
    }

    /// Forgets all that waits, since the connection has ended; the next picture has to be a key frame.
    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        first = 0
        byteCount = 0
        needsKeyFrame = true
        hasBegun = false
    }

    /// Whether pictures are too much.
    private func isFull(_ now: MonotonicTime) -> Bool {
        if byteCount > limits.byteCount { return true }
        guard let oldest = entries[first...].first(where: { $0.kind != .sound }) else { return false }
        return now - oldest.arrivedAt > limits.time
    }

    private var pictureCount: Int { entries[first...].count { $0.kind != .sound } }

    /// The newest key frame; nil if only the oldest picture is one.
    private var newestStart: Int? {
        let waiting = entries[first...]
        guard let newest = waiting.lastIndex(where: { $0.kind == .keyFrame }) else { return nil }
        return newest == waiting.firstIndex { $0.kind != .sound } && pictureCount > 1 ? nil : newest
    }

    /// Leaves out the pictures before `start`, or all.
    private mutating func dropPictures(before start: Int?) {
        let kept = (first..<entries.count).filter { entries[$0].kind == .sound || $0 >= start ?? .max }
            .map { entries[$0] }
        if start == nil, pictureCount > 0 { needsKeyFrame = true }
        dropped.pictures += count - kept.count
        byteCount = kept.reduce(0) { $0 + $1.byteCount }
        entries = kept
        first = 0
    }

    private mutating func removeFirst() {
        byteCount -= entries[first].byteCount
        first += 1
        if first == entries.count || first >= 256 {
            entries.removeFirst(first)
            first = 0
        }
    }
}
