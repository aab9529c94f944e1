import MediaTypes
import RTP
import TestSupport
import Testing

/// The transport-wide feedback of a viewer, made when a test wants it.
struct ArrivalFeedback {
    private let viewer: TestViewer
    private var arrivals: TransportArrivals
    private var notedCount = 0

    init(of viewer: TestViewer, now: MonotonicTime) {
        self.viewer = viewer
        arrivals = TransportArrivals(sender: SSRC(1), now: now)
    }

    /// The feedback about the packets that have arrived since the last feedback; nil if there are none.
    mutating func take() throws -> TransportFeedback? {
        for packet in viewer.packets.dropFirst(notedCount) {
            let number: UInt16 = try #require(packet.rtp.extensionData(3)).reduce(0) { $0 << 8 | UInt16($1) }
            arrivals.note(number, of: packet.rtp.header.ssrc, arrival: packet.time, now: packet.time)
        }
        notedCount = viewer.packets.count
        return arrivals.report(now: .distantFuture)
    }
}
