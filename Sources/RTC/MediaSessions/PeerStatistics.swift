public import MediaTypes

/// The statistics of one viewer's session so far.
public struct PeerStatistics: Hashable, Sendable {
    /// What carries the packets of a session.
    public enum Transport: String, Hashable, Sendable {
        case udp
        case tcp
        /// Whole pictures over the WebSocket of its signalling.
        case webSocket = "websocket"
    }

    /// The session that the figures are about.
    public var id: MediaSessionID
    /// Whether the session is connected, so that media can flow.
    public var isConnected: Bool
    /// The IP address that media goes to, in text and without the port; nil before there is one.
    public var address: String?
    /// How media goes there; nil like `address`.
    public var transport: Transport?
    /// Whether the peer gets the low layer: fewer pictures, because its path can't carry all of the source's.
    public var getsLowLayer = false
    /// The number of pictures sent completely.
    public var framesSent = 0
    /// The number of audio packets sent, each counted once.
    public var sentSoundPackets = 0
    /// The number of RTP packets of pictures and sound sent, including those sent again without RTX.
    public var sentPackets = 0
    /// The number of RTP packets sent again on the retransmission stream.
    public var retransmittedPackets = 0
    /// The bytes of pictures and sound in all of these packets, without headers; over a WebSocket, the bytes of
    /// pictures.
    public var sentOctets: UInt64 = 0
    /// The number of packets that the peer has missed, whether they arrived later or not; nil before its first report.
    public var lostPackets: Int?
    /// The last measured round-trip time.
    public var roundTripTime: Interval?
    /// The bit rate that the path carries, for all packets sent along it; nil before the peer has reported anything.
    public var estimate: BitRate?
    /// The fault of the peer's reception reports, in words; nil if none is known.
    public var reportFault: String?
    /// How much later packets arrive at present than the fastest of the last 10 s, or how much longer the round trip
    /// is; nil like `estimate`.
    public var queueDelay: Interval?
    /// The bit rate at which encoders may send pictures for this path.
    public var targetBitRate: BitRate

    /// The statistics of a session that has sent nothing.
    public init(id: MediaSessionID, isConnected: Bool, targetBitRate: BitRate) {
        self.id = id
        self.isConnected = isConnected
        self.targetBitRate = targetBitRate
    }
}
