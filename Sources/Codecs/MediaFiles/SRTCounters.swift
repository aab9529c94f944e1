import CSRT
public import MediaTypes

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

    /// Those of a socket; nil once it is closed. May be called on any thread.
    init?(of socket: Int32) {
        var statistics = CBytePerfMon()
        guard srt_bistats(socket, &statistics, 0, 0) == 0 else { return nil }
        sentPackets = statistics.pktSentTotal
        lostPackets = Int64(statistics.pktSndLossTotal) + Int64(statistics.pktSndDropTotal)
        waiting = .milliseconds(Int64(statistics.msSndBuf))
        let milliseconds = statistics.msRTT
        roundTrip = .milliseconds(milliseconds > 0 && milliseconds < 60_000 ? Int64(milliseconds) : 0)
    }
}
