public import MediaTypes

/// Has a lossy path's retransmissions sent in two copies, a few milliseconds apart.
///
/// A lost retransmission is noticed only a round trip later, and pictures that wait for two of them are late enough to
/// be seen as a freeze. Where a fifth of all packets is lost, so is every fifth retransmission; two copies are lost
/// together far more seldom. That costs as many packets again as are lost, so a viewer without loss pays nothing.
public struct RetransmissionDuplicator: Sendable {
    /// The time between the copies. A burst of losses should not take both, and the second one should arrive before the
    /// receiver, a round trip after its first request, asks again.
    public static let spacing = Interval.milliseconds(5)
    /// From this reported loss on, in 1/256, there are second copies. Reordering alone is not reported as loss.
    static let minLoss: UInt8 = 5

    /// The time at which to call `next`; nil if no copy waits.
    public var deadline: MonotonicTime? { waiting.first?.due }
    /// The number of copies that became due so far.
    public private(set) var count = 0

    private var loss: UInt8 = 0
    private var waiting: [(due: MonotonicTime, number: SequenceNumber)] = []

    /// A duplicator for a path about which nothing is known.
    public init() {}

    /// Takes the fraction of packets lost, in 1/256, of a reception report. A report without loss may follow by chance,
    /// so a reported loss is forgotten slowly.
    public mutating func reported(fractionLost: UInt8) {
        loss = max(fractionLost, loss - loss / 8 - (loss > 0 ? 1 : 0))
    }

    /// Notes that the packet `number` was retransmitted. If the path is lossy, a copy is due soon.
    public mutating func retransmitted(_ number: SequenceNumber, at now: MonotonicTime) {
        if loss >= Self.minLoss { waiting.append((now + Self.spacing, number)) }
    }

    /// The next packet whose second copy is to be sent now; nil if there is none.
    public mutating func next(at now: MonotonicTime) -> SequenceNumber? {
        guard let first = waiting.first, first.due <= now else { return nil }
        waiting.removeFirst()
        count += 1
        return first.number
    }
}
