import CLibAV
public import MediaTypes
import Synchronization

/// libsrt's counters of a connection since its beginning.
public struct SRTCounters: Hashable, Sendable {
    /// The packets sent, including retransmissions.
    public var sentPackets: Int64
    /// The packets that the receiver has reported as lost, and packets that were too late to be sent.
    public var lostPackets: Int64
    /// How long packets wait for their acknowledgement.
    public var waiting: Interval
    /// The round-trip time that libsrt measures.
    public var roundTrip: Interval
}

/// The socket of a connection that libavformat has made. libavformat tells nothing about it, so it is found by the size
/// of its UDP send buffer, which no other connection of this process has.
struct SRTSocket {
    private static let next = Atomic<Int>(0)

    /// A size of send buffer for one connection, near `usual`.
    static func uniqueSendBuffer(near usual: Int64) -> Int64 {
        usual + Int64(next.add(1, ordering: .relaxed).newValue % 65_536)
    }

    let number: Int32

    /// The socket with this number.
    init(number: Int32) { self.number = number }

    /// The connected socket with this send buffer; nil if its URL asks for another one, or if libsrt's version isn't
    /// known.
    init?(sendBuffer: Int64) {
        number = shim_srt_socket(Int32(clamping: sendBuffer))
        guard number >= 0 else { return nil }
    }

    /// Nil once it is closed. May be read on any thread.
    var counters: SRTCounters? {
        var statistics = shim_srt_statistics()
        guard shim_srt_read(number, &statistics) == 0 else { return nil }
        let roundTrip = statistics.round_trip
        return SRTCounters(
            sentPackets: statistics.sent_packets,
            lostPackets: Int64(statistics.lost_packets) + Int64(statistics.dropped_packets),
            waiting: .milliseconds(Int64(statistics.waiting_time)),
            roundTrip: .milliseconds(roundTrip > 0 && roundTrip < 60_000 ? Int64(roundTrip) : 0))
    }
}
