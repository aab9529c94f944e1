public import MediaTypes

/// A rate limit for one session's key frame requests, so that one viewer in trouble does not cost all the others.
///
/// The first request is served at once. While requests keep coming, one is served after 2 s, and the interval doubles
/// each time, up to 30 s. After 30 s without a request, the limit is reset. The interval stays 2 s for a server, which
/// asks for each of its own viewers.
public struct KeyFrameRequestLimiter: Sendable {
    /// The first interval between two served requests.
    public static let firstSpacing = Interval.seconds(2)
    /// The longest interval between two served requests, and the time without requests after which the limit is reset.
    public static let maxSpacing = Interval.seconds(30)

    /// The time at which the deferred request is due (see `poll`); nil if there is none.
    public private(set) var deadline: MonotonicTime?

    private var lastRequest: MonotonicTime?
    private var lastServed: MonotonicTime?
    private var spacing = Self.firstSpacing
    private let spacingLimit: Interval
    private var lastOrder: Order?

    private struct Order: Hashable, Sendable {
        let sender: SSRC
        let sequenceNumber: UInt8
    }

    /// A limiter that has served no request; `isOfServer` says whether the peer asks for many viewers.
    public init(isOfServer: Bool = false) {
        spacingLimit = isOfServer ? Self.firstSpacing : Self.maxSpacing
    }

    /// Takes a picture loss indication. Returns whether to serve it now; if not, it is deferred until `deadline`.
    public mutating func pictureLossIndicated(at now: MonotonicTime) -> Bool {
        let isQuietOver = lastRequest.map { now - $0 >= Self.maxSpacing } ?? true
        lastRequest = now
        if isQuietOver {
            lastServed = nil
            spacing = Self.firstSpacing
        }
        if let lastServed, now - lastServed < spacing {
            deadline = lastServed + spacing
            return false
        }
        serve(at: now)
        return true
    }

    /// Takes the number of a full intra request for our stream. Returns false if the request repeats the last one, so
    /// that it is not a new request (RFC 5104 section 4.3.1.2). A new one counts as a picture loss indication.
    public mutating func takeOrder(sender: SSRC, sequenceNumber: UInt8) -> Bool {
        let order = Order(sender: sender, sequenceNumber: sequenceNumber)
        defer { lastOrder = order }
        return order != lastOrder
    }

    /// Whether a deferred request is to be served now.
    public mutating func poll(at now: MonotonicTime) -> Bool {
        guard let deadline, now >= deadline else { return false }
        serve(at: now)
        return true
    }

    /// Notes that the session sent a key frame, whatever asked for it. This answers a deferred request.
    public mutating func keyFrameSent() {
        deadline = nil
    }

    private mutating func serve(at now: MonotonicTime) {
        // The first served request leaves the interval unchanged; each later one doubles it.
        if lastServed != nil { spacing = min(spacing * 2, spacingLimit) }
        lastServed = now
        deadline = nil
    }
}
