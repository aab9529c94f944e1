import CaptureLink
import MediaTypes
public import Signalling
public import TrackHub

extension ControlCommand.RateChange {
    /// Returns `limits` with this change, but none above `most`, the limits that the capture was started with.
    public func applied(to limits: SourceLimits, most: SourceLimits = SourceLimits()) -> SourceLimits {
        var limits = limits
        switch framesPerSecond {
        case .atMost(let count): limits.frameRate = FrameRate(framesPerSecond: count)
        case .unlimited: limits.frameRate = nil
        case nil: break
        }
        switch bitsPerSecond {
        case .atMost(let count): limits.bitRate = BitRate(bitsPerSecond: count)
        case .unlimited: limits.bitRate = nil
        case nil: break
        }
        if let (rate, most) = limits.frameRate.flatMap({ rate in most.frameRate.map { (rate, $0) } }) {
            limits.frameRate = min(rate, most)
        }
        if let (rate, most) = limits.bitRate.flatMap({ rate in most.bitRate.map { (rate, $0) } }) {
            limits.bitRate = min(rate, most)
        }
        return limits
    }
}
