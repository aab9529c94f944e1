public import MediaTypes

/// Limits how often the source is asked for a key frame: at most once in 500 ms, however many readers want one.
public struct KeyFramePolicy: Sendable {
    /// The minimum time between two requests to the source.
    public static let minInterval = Interval.milliseconds(500)

    /// The number of key frames that have arrived.
    public private(set) var arrivals: UInt64 = 0
    /// The number of key frames that an encoder has been asked for.
    public private(set) var requests: UInt64 = 0

    private var lastRequest: MonotonicTime?
    private var isPending = false

    /// A policy that has asked for nothing yet.
    public init() {}

    /// Records a request for a key frame.
    ///
    /// - Returns: whether to ask the source now; if so, the request counts as sent. If not, it is kept until
    ///   ``takeDueRequest(now:)`` returns true.
    public mutating func request(now: MonotonicTime) -> Bool {
        isPending = true
        return takeDueRequest(now: now)
    }

    /// Takes the kept request if it is time. Returns whether to pass it on to the source now; if so, it counts as sent.
    public mutating func takeDueRequest(now: MonotonicTime) -> Bool {
        guard isPending else { return false }
        if let lastRequest, now - lastRequest < Self.minInterval { return false }
        lastRequest = now
        isPending = false
        return true
    }

    /// Notes that a key frame has arrived, which satisfies every request.
    public mutating func idrArrived() {
        isPending = false
        arrivals &+= 1
    }

    /// Notes that the source, or the host's own encoder, is asked for a key frame.
    public mutating func encoderAsked() {
        requests &+= 1
    }
}
