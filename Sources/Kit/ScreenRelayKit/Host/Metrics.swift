import CaptureLink
import Clocks
import Ingest
public import MediaSessions
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
    /// The work of captures, including captures that are gone, and how long pictures took in them and on links.
    public var work = SourceTotals()
    /// Memory that the connected captures use now, in bytes.
    public var captureMemory: UInt64 = 0
    /// What sessions have sent since the host began.
    public var sent = MediaTotals()

    /// Metrics of a host that has done nothing.
    public init() {}

    /// The stages of a picture's way through capture and host, in order, with their names for programs.
    public var namedStages: [(name: String, times: DelayHistogram)] {
        let stages = work.stages
        return [
            ("waiting", stages.waiting), ("encoding", stages.encoding), ("link", stages.link),
            ("sending", sent.sending),
        ]
    }
}

extension ScreenRelayHost {
    /// The host's current measurements. Doesn't wait for another thread.
    public var metrics: Metrics {
        var metrics = Metrics()
        let now = MonotonicTime.now()
        for track in tracks {
            metrics.viewers += track.viewers
            metrics.work.add(track.ingest.hub.work)
            guard let capture = track.ingest.hub.statistics(now: now) else { continue }
            metrics.captures += 1
            // A capture may report any number.
            metrics.captureMemory &+= capture.residentBytes
        }
        let statistics = self.statistics
        metrics.lowLayerViewers = statistics.count(where: \.getsLowLayer)
        metrics.tcpViewers = statistics.count { $0.transport == .tcp }
        metrics.sent = mediaTotals
        return metrics
    }
}
