package import MediaTypes

/// How much a publisher may send: so many bytes per second on average, and those of one second at once.
package struct PublisherRate: Sendable {
    /// How much may be sent at once, in seconds of the rate.
    private static let burst = Interval.seconds(1)

    private let bytesPerSecond: Int64
    /// Until when the received bytes are paid for.
    private var paidUntil = MonotonicTime.zero

    /// A publisher that has sent nothing.
    package init(bytesPerSecond: Int) { self.bytesPerSecond = Int64(max(1, bytesPerSecond)) }

    /// Records that bytes have been received.
    package mutating func note(byteCount: Int, now: MonotonicTime) {
        paidUntil = max(paidUntil, now) + Interval.seconds(Int64(byteCount)) / bytesPerSecond
    }

    /// When more should be received, so that the publisher keeps to its rate; later than now if it has exceeded it.
    package var receivesFrom: MonotonicTime { paidUntil - Self.burst }

    /// Why a publisher that has exceeded its rate, and can't be held back, is disconnected.
    package var excess: String { "it sends more than \(bytesPerSecond) bytes per second" }
}
