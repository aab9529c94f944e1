import MediaTypes

/// What a source has announced and not sent yet. A value without I/O; the time is an argument.
struct AwaitedStreams {
    /// So long after its first piece, what a source has not begun to send is missed.
    static let timeout = Interval.seconds(5)

    private var start: MonotonicTime?
    private var hasPictures = false
    private var hasSound = false
    private var isTold = false

    /// Notes a picture, or else a packet of sound. Returns what is missing, once, in words for people.
    ///
    /// - Parameters:
    ///   - picture: whether it is a picture.
    ///   - announced: what the source has said that it sends.
    mutating func note(
        picture: Bool, announced: (pictures: Bool, sound: Bool), now: MonotonicTime
    ) -> String? {
        start = start ?? now
        if picture { hasPictures = true } else { hasSound = true }
        guard let start, !isTold, now - start >= Self.timeout else { return nil }
        isTold = true
        if announced.pictures, !hasPictures { return "pictures" }
        return announced.sound && !hasSound ? "sound" : nil
    }
}
