public import MediaTypes

/// The limits for the publishers of a server.
public struct PublisherLimits: Sendable {
    /// Simultaneous publishers, each of which has a thread.
    public var publishers = 64
    /// How long a client may take for each step until it publishes. Over RTMP, that is from its connection on; over
    /// RTSP, from ANNOUNCE, SETUP or PAUSE to the next request; over SRT, until its stream begins, and then until it is
    /// known what is in it.
    public var greeting = Interval.seconds(10)
    /// How long a publisher may send nothing. While it is connected, no other one can replace it.
    public var silence = Interval.seconds(20)
    /// How many bytes a publisher may send per second on average, and at once. Beyond that, a connection over RTMP
    /// isn't read for a while, so that TCP holds it back; a publisher over RTSP or SRT is disconnected.
    public var bytesPerSecond = 12_500_000
    /// How long a track that was made for a publisher is kept after it has left.
    public var unpublished = Interval.seconds(60)

    public init() {}
}
