public import MediaTypes

/// How often one session's requests for a key frame are served: the first at once, then one in 2 s, doubling to 30 s for as
/// long as requests keep coming; 30 s without a request begin anew. One viewer in trouble must not cost all others.
public struct KeyFrameBudget: Sendable {
    /// The first time between two served requests.
    public static let firstSpacing = Interval.seconds(2)
    /// The longest time between two served requests, and the quiet time after which all begins anew.
    public static let longestSpacing = Interval.seconds(30)

    /// When a request that had to wait is due (see `poll`); nil where none waits.
    public private(set) var deadline: MonotonicTime?
    /// Requests that were served.
    public private(set) var servedRequests = 0
    /// Requests that had to wait, or were repeats of one.
    public private(set) var heldRequests = 0

    private var lastRequest: MonotonicTime?
    private var lastServed: MonotonicTime?
    private var spacing = Self.firstSpacing
    private var lastOrder: Order?

    private struct Order: Hashable, Sendable {
        let sender: SSRC
        let sequenceNumber: UInt8
    }

    /// A budget that nothing was taken from.
    public init() {}

    /// A picture loss indication has come. Whether to serve it now; if not, it waits for `deadline`.
    public mutating func pictureLossIndicated(at now: MonotonicTime) -> Bool {
        request(at: now)
    }

    /// A full intra request for our stream has come. A repeat of the last one, known by its number, is no new
    /// request (RFC 5104 section 4.3.1.2). Whether to serve it now; if not, it waits for `deadline`.
    public mutating func fullIntraRequested(sender: SSRC, sequenceNumber: UInt8, at now: MonotonicTime) -> Bool {
        let order = Order(sender: sender, sequenceNumber: sequenceNumber)
        if order == lastOrder {
            heldRequests += 1
            return false
        }
        lastOrder = order
        return request(at: now)
    }

    /// Whether a request that had to wait is to be served now.
    public mutating func poll(at now: MonotonicTime) -> Bool {
        guard let deadline, now >= deadline else { return false }
        serve(at: now)
        return true
    }

    /// The session sent an IDR picture, whoever asked for it: what waits is answered. Costs the budget nothing.
    public mutating func keyFrameSent() {
        deadline = nil
    }

    private mutating func request(at now: MonotonicTime) -> Bool {
        let isQuietOver = lastRequest.map { now - $0 >= Self.longestSpacing } ?? true
        lastRequest = now
        if isQuietOver {
            lastServed = nil
            spacing = Self.firstSpacing
        }
        guard let lastServed else {
            serve(at: now)
            return true
        }
        if now - lastServed >= spacing {
            serve(at: now)
            return true
        }
        heldRequests += 1
        deadline = lastServed + spacing
        return false
    }

    private mutating func serve(at now: MonotonicTime) {
        // The first one served leaves the spacing as it is, each one after that doubles it.
        if lastServed != nil { spacing = min(spacing * 2, Self.longestSpacing) }
        lastServed = now
        deadline = nil
        servedRequests += 1
    }
}
