import ByteCoding
public import MediaSessions
import MediaTypes

/// The viewers who get fewer pictures than the source sends, because their paths can't carry all of them.
public struct LowLayerViewers: Sendable {
    /// How many there are.
    public let count: Int
    /// A description of them and of their paths for people, such as "1 viewer gets fewer pictures: 10.0.0.7, whose path
    /// carries 480 kbit/s, with packets 120 ms in its queue". Nil if there are none.
    public let text: String?

    /// The most viewers that are described.
    private static let limit = 3

    /// Those of the sessions with these statistics.
    public init(in statistics: [PeerStatistics]) {
        let narrow = statistics.filter(\.getsLowLayer).sorted { $0.id.rawValue < $1.id.rawValue }
        count = narrow.count
        guard count > 0 else {
            text = nil
            return
        }
        let listed = narrow.prefix(Self.limit).map { viewer in
            var text = viewer.address ?? "one without an address"
            if let rate = viewer.estimate {
                text += ", whose path carries \(rateText(Double(rate.bitsPerSecond)))/s"
            }
            if let queue = viewer.queueDelay, queue >= .milliseconds(10) {
                text += ", with packets \(queue.milliseconds) ms in its queue"
            }
            return text
        }
        let more = count > Self.limit ? ["\(count - Self.limit) more"] : []
        text =
            (count == 1 ? "1 viewer gets" : "\(count) viewers get") + " fewer pictures: "
            + (listed + more).joined(separator: " and ")
    }
}

/// A number of bits in a few characters, such as `480 kbit` or `1.25 Mbit`.
package func rateText(_ bits: Double) -> String {
    bits < 1e6 ? "\(DecimalText.fixed(bits / 1e3, digits: 0)) kbit" : "\(DecimalText.fixed(bits / 1e6, digits: 2)) Mbit"
}
