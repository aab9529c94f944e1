public import MediaTypes

/// The rates that one viewer's path allows at present.
public struct SendingPlan: Hashable, Sendable {
    /// The rate that the path carries. Media, retransmissions, parity and padding together should not exceed it.
    public var estimate: BitRate
    /// The rate for the encoder: the estimate, less what must drain from the path's queue within a second.
    public var target: BitRate
    /// The rate that the path has been seen to carry, and a quarter more if it has shown no limit: a source that has
    /// not sent that much yet may rise so far. 0 before the path has shown any rate.
    public var carried: BitRate
    /// The rate to send waiting packets at. Above the estimate usually, so that a picture leaves quickly; far below it
    /// while a queue drains.
    public var pacingRate: BitRate
    /// The queueing delay on the path at present: how much later packets arrive than the fastest of the last 10 s or,
    /// without transport-wide feedback, how much longer the round trip is.
    public var queueingDelay: Interval
    /// The probe to send now, at ``pacingRate``. It consists of whatever packets are waiting; if too few are, padding
    /// completes it. A sender without padding may ignore it. A probe that has begun and isn't completed is given up.
    public var probe: ProbeCluster?
    /// Whether the source sends so much less than the estimate that the estimate can't grow.
    public var isApplicationLimited: Bool
}
