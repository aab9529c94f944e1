import MediaTypes

/// A still-sharper picture: what stands still is coded once more, finer than refinement leaves it, within the rate.
extension CaptureAgent {
    /// Of text on a plain ground nobody sees a difference to the screen any more, also enlarged.
    static let sharpQuantizer = 10
    /// What doesn't come to rest within a minute, as a film, is not waited for.
    private static let sharpeningLasts = Interval.seconds(60)

    /// Begins with it, until everything is that fine.
    func sharpen(_ now: MonotonicTime) {
        if configuration.quantizer != nil { return }
        log(.debug, "the host wants a sharper picture")
        sharpensUntil = now + Self.sharpeningLasts
        pipeline?.finestQuantizer = Self.sharpQuantizer
        schedule.release()
    }

    /// What changes from here on gets as fine as usual.
    func endSharpening() {
        if sharpensUntil == nil { return }
        log(.debug, "the picture is as sharp as it gets")
        sharpensUntil = nil
        pipeline?.finestQuantizer = PicturePipeline.finestQuantizer
    }
}
