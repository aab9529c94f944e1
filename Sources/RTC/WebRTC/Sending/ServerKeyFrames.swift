import MediaTypes

/// Decides when the host itself answers a server's requests for key frames, instead of the source.
///
/// A viewer who joins at a server waits for the next key frame. All viewers get one of the source, so the source is
/// asked at most once in 2 s (`KeyFrameRequestLimiter`). The host answers a request within that time, and one that the
/// source doesn't answer soon.
///
/// Pure: belongs to its caller.
struct ServerKeyFrames: Sendable {
    /// How long the key frame of a source that has been asked is waited for.
    static let sourceTimeout = Interval.milliseconds(200)
    /// The minimum time from the beginning of a key frame until the host answers again.
    static let minInterval = Interval.milliseconds(300)
    /// The interval at which an encoder that has not answered is asked again.
    private static let retryInterval = Interval.milliseconds(50)
    /// After this time a request is given up. A server that still needs a key frame asks again.
    private static let expiry = Interval.seconds(2)

    /// When the host has to answer; nil if no request is open.
    private(set) var deadline: MonotonicTime?
    private var requestedAt = MonotonicTime.zero
    /// When the last key frame began to be sent; nil before the first.
    private var lastBegan: MonotonicTime?

    /// Whether a request that arrives now was sent before the last key frame could reach the server, which then answers
    /// the request.
    func isAnswered(at now: MonotonicTime, roundTripTime: Interval) -> Bool {
        guard let lastBegan else { return false }
        return now - lastBegan < roundTripTime
    }

    /// Takes a request, which is open until the next key frame begins; `asksSource` says whether the source was asked
    /// for that.
    mutating func requested(asksSource: Bool, at now: MonotonicTime) {
        requestedAt = now
        // The next key frame answers all open requests.
        guard deadline == nil else { return }
        let due = asksSource ? now + Self.sourceTimeout : now
        deadline = lastBegan.map { max(due, $0 + Self.minInterval) } ?? due
    }

    /// Notes that a key frame of the source or of the host begins to be sent.
    mutating func keyFrameBegan(at now: MonotonicTime) {
        lastBegan = now
        deadline = nil
    }

    /// Whether the host has to answer now, for the first time or again.
    mutating func takeDue(at now: MonotonicTime) -> Bool {
        guard let due = deadline, now >= due else { return false }
        let isOver = now - requestedAt >= Self.expiry
        deadline = isOver ? nil : now + Self.retryInterval
        return !isOver
    }

    /// Gives up the open requests: the host can't answer them.
    mutating func giveUp() { deadline = nil }
}
