public import MediaTypes

/// Limits how often an encoder is asked for a key frame, however many readers want one: the source at most once in 500
/// ms, and the host's encoder of the low layer, for whose key frames fewer viewers pay, at most once in 300 ms.
public struct KeyFramePolicy: Sendable {
    /// The minimum time between two requests to the source.
    public static let minInterval = Interval.milliseconds(500)
    /// The minimum time between two requests for a key frame of the low layer.
    public static let minLowInterval = Interval.milliseconds(300)

    /// The number of key frames that have arrived.
    public private(set) var arrivals: UInt64 = 0
    /// The number of key frames that an encoder has been asked for.
    public private(set) var requests: UInt64 = 0

    private let minInterval: Interval
    private var lastRequest: MonotonicTime?
    private var isPending = false

    /// A policy that has asked for nothing yet; `minInterval` is the minimum time between two requests.
    public init(minInterval: Interval = KeyFramePolicy.minInterval) { self.minInterval = minInterval }

    /// Records a request for a key frame.
    ///
    /// - Returns: whether to ask the encoder now; if so, the request counts as sent. If not, it is kept until
    ///   ``takeDueRequest(now:)`` returns true.
    public mutating func request(now: MonotonicTime) -> Bool {
        isPending = true
        return takeDueRequest(now: now)
    }

    /// Takes the kept request if it is time. Returns whether to pass it on to the encoder now; if so, it counts as
    /// sent.
    public mutating func takeDueRequest(now: MonotonicTime) -> Bool {
        guard isPending else { return false }
        if let lastRequest, now - lastRequest < minInterval { return false }
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
