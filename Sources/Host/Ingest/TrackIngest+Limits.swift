public import CaptureLink
public import MediaTypes
import Synchronization
import Threading

/// What a person allows a source at most; nil stands for what the source allows itself.
public struct SourceLimits: Hashable, Sendable {
    /// Pictures a second.
    public var frameRate: FrameRate?
    /// Bits a second, also where the viewers' paths carry more.
    public var bitRate: BitRate?

    /// Limits of these values.
    public init(frameRate: FrameRate? = nil, bitRate: BitRate? = nil) {
        self.frameRate = frameRate
        self.bitRate = bitRate
    }
}

/// What people ask of a source while it runs, and what it tells of its work.
extension TrackIngest {
    /// Sets what the source may make and send at most: told to the one that is there, and to those that come after it.
    public func limit(_ limits: SourceLimits) {
        attachment.withLock { $0.demand.limits = limits }
        tellSource()
    }

    /// What a person has allowed at most.
    public var limits: SourceLimits { attachment.withLock { $0.demand.limits } }

    /// Asks the source to make finer than usual what stands still; false where there is none.
    @discardableResult
    public func sharpen() -> Bool {
        let source = attachment.withLock { $0.source }
        source?.sharpen()
        return source != nil
    }

    /// What the source has told last of its work; nil where it has told nothing, or is gone. What was recent then is left out
    /// once it is older than 5 s: a source that runs tells it at least every 2.5 s.
    public var statistics: CaptureStatistics? {
        let now = monotonicNow()
        return attachment.withLock { attachment in
            var statistics = attachment.statistics
            if now - attachment.statisticsArrival > .seconds(5) { statistics?.recent = nil }
            return statistics
        }
    }

    /// `source` tells of its work.
    func statisticsChanged(of source: any PictureSource, to statistics: CaptureStatistics, now: MonotonicTime) {
        attachment.withLock { attachment in
            guard attachment.source === source else { return }
            attachment.statistics = statistics
            attachment.statisticsArrival = now
        }
    }
}

extension CaptureStatistics {
    /// In a line for the log.
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
