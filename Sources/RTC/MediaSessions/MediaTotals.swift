public import MediaTypes

/// A media server's totals so far over all viewers, including former ones.
public struct MediaTotals: Sendable {
    /// The number of pictures sent completely.
    public var framesSent = 0
    /// The number of RTP packets of pictures and sound sent, including those sent again without RTX.
    public var sentPackets = 0
    /// The number of RTP packets sent again on retransmission streams.
    public var retransmittedPackets = 0
    /// The number of packets that viewers have missed, whether they arrived later or not.
    public var lostPackets = 0
    /// From the arrival of a picture at its hub until a session had sent its last packet, once for each session. The
    /// pictures that a session begins with don't count.
    public var sending = DelayHistogram()

    /// Nothing sent.
    public init() {}

    /// Adds a session's totals.
    public mutating func add(_ session: PeerStatistics) {
        framesSent += session.framesSent
        sentPackets += session.sentPackets
        retransmittedPackets += session.retransmittedPackets
        lostPackets += session.lostPackets ?? 0
    }
}
