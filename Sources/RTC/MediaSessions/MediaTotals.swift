public import MediaTypes

/// A media server's totals so far over all viewers, including former ones.
public struct MediaTotals: Sendable {
    /// The number of pictures sent completely.
    public var framesSent = 0
    /// The number of RTP packets of pictures and sound sent, including those sent again without RTX.
    public var sentPackets = 0
    /// The number of RTP packets sent again on retransmission streams, probes of paths included.
    public var retransmittedPackets = 0
    /// The bytes of pictures and sound in all of these packets, without headers, and of pictures sent over WebSockets.
    public var sentBytes: UInt64 = 0
    /// The number of packets that viewers have missed, whether they arrived later or not.
    public var lostPackets = 0
    /// From the arrival of a picture at its hub until a session had sent its last packet, once for each session. The
    /// pictures that a session begins with don't count.
    public var sending = DelayHistogram()
    /// The estimated bit rates of viewers' paths, about once per second for each viewer whose path has been measured.
    public var estimates = BitRateHistogram()
    /// The number of key frame requests (PLI and FIR) that viewers have sent, repeated requests included.
    public var keyFrameRequests = 0
    /// What viewers didn't get.
    public var drops = MediaDrops()

    /// Nothing sent.
    public init() {}

    /// Adds a session's totals.
    public mutating func add(_ session: PeerStatistics) {
        framesSent += session.framesSent
        sentPackets += session.sentPackets
        retransmittedPackets += session.retransmittedPackets
        sentBytes &+= session.sentOctets
        lostPackets += session.lostPackets ?? 0
    }

    /// Adds the totals of other viewers.
    public mutating func add(_ other: MediaTotals) {
        framesSent += other.framesSent
        sentPackets += other.sentPackets
        retransmittedPackets += other.retransmittedPackets
        sentBytes &+= other.sentBytes
        lostPackets += other.lostPackets
        sending.add(other.sending)
        estimates.add(other.estimates)
        keyFrameRequests += other.keyFrameRequests
        drops.add(other.drops)
    }
}

/// What a media server has left out so far, by reason.
public struct MediaDrops: Sendable {
    /// Packets that the UDP socket had no room for, beyond the packets that may wait for it.
    public var udpPackets = 0
    /// Packets that a peer's TCP connection had no room for, beyond the packets that may wait for it.
    public var tcpPackets = 0
    /// Packets of peers that a media thread was too slow to take from the thread that receives for all.
    public var overloadPackets = 0
    /// Frames that a media thread was too slow to take, counted once for each track, layer and thread.
    public var overloadFrames = 0
    /// Frames that were skipped because a viewer's path was too slow for them, counted for each viewer.
    public var slowPathFrames = 0
    /// Audio frames that were too old to be sent over WebRTC, counted for each viewer.
    public var lateSoundFrames = 0

    /// Nothing left out.
    public init() {}

    /// Adds what was left out for other viewers.
    public mutating func add(_ other: MediaDrops) {
        udpPackets += other.udpPackets
        tcpPackets += other.tcpPackets
        overloadPackets += other.overloadPackets
        overloadFrames += other.overloadFrames
        slowPathFrames += other.slowPathFrames
        lateSoundFrames += other.lateSoundFrames
    }
}
