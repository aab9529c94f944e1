import MediaTypes
import Threading

/// Sharpening on request: static areas are coded again, finer than refinement leaves it, within the rate limit.
extension CaptureAgent {
    /// At this quantizer, text on a plain background can't be told from the screen any more, even when enlarged.
    static let sharpQP = 10
    /// The longest that sharpening waits for content that doesn't come to rest, such as a film.
    private static let sharpeningLasts = Interval.seconds(60)

    /// Starts sharpening, which lasts until everything is that fine.
    func sharpen(_ now: MonotonicTime) {
        if configuration.qp != nil { return }
        log.debug("the host wants a sharper picture")
        sharpensUntil = now + Self.sharpeningLasts
        pipeline?.coder.minQP = Self.sharpQP
        schedule.release()
    }

    /// Ends sharpening: what changes from now on becomes only as fine as usual.
    func endSharpening() {
        if sharpensUntil == nil { return }
        log.debug("the picture is as sharp as it gets")
        sharpensUntil = nil
        pipeline?.coder.minQP = PictureCoder.minQP
    }
}
