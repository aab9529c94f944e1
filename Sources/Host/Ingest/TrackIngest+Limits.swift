public import CaptureLink
import Clocks
public import MediaTypes
import Synchronization
import Threading

/// The limits that a person sets for a source; nil means that the source sets its own.
public struct SourceLimits: Hashable, Sendable {
    /// Pictures a second.
    public var frameRate: FrameRate?
    /// Bits a second, even if the viewers' network paths can carry more.
    public var bitRate: BitRate?

    /// Creates limits with these values.
    public init(frameRate: FrameRate? = nil, bitRate: BitRate? = nil) {
        self.frameRate = frameRate
        self.bitRate = bitRate
    }
}

/// What people ask of a source while it runs, and the statistics that it sends.
extension TrackIngest {
    /// Sets the limits of the current source, and of those that come after it.
    public func limit(_ limits: SourceLimits) {
        attachment.withLock { $0.demand.limits = limits }
        tellSource()
    }

    /// The limits that a person has set.
    public var limits: SourceLimits { attachment.withLock { $0.demand.limits } }

    /// Asks the source to encode the parts that stand still in finer quality than usual. Returns false if there is no
    /// source.
    @discardableResult
    public func sharpen() -> Bool {
        let source = attachment.withLock { $0.source }
        source?.sharpen()
        return source != nil
    }

    /// The statistics that the source sent last; nil if it has sent none, or is gone. Their `recent` part is left out
    /// once it is older than 5 s, since a running source sends statistics at least every 2.5 s.
    public var statistics: CaptureStatistics? {
        let now = MonotonicTime.now()
        return attachment.withLock { attachment in
            var statistics = attachment.statistics
            if now - attachment.statisticsArrival > .seconds(5) { statistics?.recent = nil }
            return statistics
        }
    }

    /// Takes new statistics of `source`.
    func statisticsChanged(of source: any PictureSource, to statistics: CaptureStatistics, now: MonotonicTime) {
        attachment.withLock { attachment in
            guard attachment.source === source else { return }
            attachment.statistics = statistics
            attachment.statisticsArrival = now
        }
    }
}

extension CaptureStatistics {
    /// The statistics on one line, for the log.
    var summary: String {
        var line =
            "\(pictures) pictures, \(idrPictures) of them IDR, in \(bytes) bytes; \(residentBytes) bytes resident"
        guard let recent else { return line }
        line +=
            "; in the last \(recent.duration / 1_000_000) ms \(recent.pictures) pictures, \(recent.bytes) bytes, encoded in "
            + "\(recent.encodeMedianNanoseconds / 1000) us (p95 \(recent.encodeP95Nanoseconds / 1000)), "
            + "\(recent.processorNanoseconds / 1000) us of processor time, \(recent.damagedMillionths / 10_000) % changed"
        return line
    }
}
