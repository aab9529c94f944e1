import CaptureLink
import Clocks
import Ingest
import MediaSessions
public import MediaTypes
public import TrackHub

/// The measurements of a host, for all its tracks together. The status for programs and `/metrics` are made from them;
/// they contain no name, address or token. Session figures are at most about a second old, capture figures 2.5 s.
public struct Metrics: Sendable {
    /// Viewers now. A viewer of two tracks counts twice.
    public var viewers = 0
    /// Viewers who get fewer pictures, because their paths can't carry all.
    public var lowLayerViewers = 0
    /// Viewers whose pictures go over TCP.
    public var tcpViewers = 0
    /// Captures that are connected and have reported on their work.
    public var captures = 0
    /// Pictures encoded, including captures that are gone. The next three figures and the first three stages include
    /// them too.
    public var capturedPictures: UInt64 = 0
    /// Key frames among them.
    public var capturedKeyFrames: UInt64 = 0
    /// Bytes written to links, headers included.
    public var capturedBytes: UInt64 = 0
    /// How often a picture had to wait because the link had not accepted the preceding picture.
    public var heldBackPictures: UInt64 = 0
    /// Memory that the connected captures use now, in bytes.
    public var captureMemory: UInt64 = 0
    /// How long pictures took in captures and on links.
    public var stages = StageTimes()
    /// Pictures that sessions have sent completely, once for each session, since the host began.
    public var sentPictures = 0
    /// RTP packets sent, including those sent again without RTX.
    public var sentPackets = 0
    /// RTP packets sent again by RTX.
    public var retransmittedPackets = 0
    /// Packets that viewers have missed, whether or not they arrived later.
    public var lostPackets = 0
    /// How long pictures took from their arrival at the host until a session had sent their last packet, once for each
    /// session. The pictures that a session begins with don't count.
    public var sending = DelayHistogram()

    /// Metrics of a host that has done nothing.
    public init() {}

    /// The stages of a picture's way through capture and host, in order, with their names for programs.
    public var namedStages: [(name: String, times: DelayHistogram)] {
        [("waiting", stages.waiting), ("encoding", stages.encoding), ("link", stages.link), ("sending", sending)]
    }
}

extension ScreenRelayHost {
    /// The host's current measurements. Doesn't wait for another thread.
    public var metrics: Metrics {
        var metrics = Metrics()
        let now = MonotonicTime.now()
        for track in tracks {
            metrics.viewers += track.viewers
            metrics.add(track.ingest.hub.work)
            guard let capture = track.ingest.hub.statistics(now: now) else { continue }
            metrics.captures += 1
            // A capture may report any number.
            metrics.captureMemory &+= capture.residentBytes
        }
        let statistics = self.statistics
        metrics.lowLayerViewers = statistics.count(where: \.getsLowLayer)
        metrics.tcpViewers = statistics.count { $0.transport == .tcp }
        let totals = mediaTotals
        metrics.sentPictures = totals.framesSent
        metrics.sentPackets = totals.sentPackets
        metrics.retransmittedPackets = totals.retransmittedPackets
        metrics.lostPackets = totals.lostPackets
        metrics.sending = totals.sending
        return metrics
    }
}

extension Metrics {
    fileprivate mutating func add(_ work: SourceTotals) {
        capturedPictures &+= work.pictures
        capturedKeyFrames &+= work.keyFrames
        capturedBytes &+= work.bytes
        heldBackPictures &+= work.heldBack
        stages.add(work.stages)
    }
}
