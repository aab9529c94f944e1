public import MediaSessions
public import MediaTypes

/// The statistics of one session so far.
public struct PeerStatistics: Sendable {
    public var id: MediaSessionID
    /// Whether the session is connected, so that media can flow.
    public var isConnected: Bool
    /// The number of frames sent completely.
    public var sentUnits = 0
    /// The number of RTP packets sent, including those sent again without RTX.
    public var sentPackets = 0
    /// The number of RTP packets sent again on the retransmission stream.
    public var retransmittedPackets = 0
    /// The last measured round-trip time.
    public var roundTripTime: Interval?
    /// The estimated bit rate that the path can carry.
    public var targetBitRate: BitRate
}
