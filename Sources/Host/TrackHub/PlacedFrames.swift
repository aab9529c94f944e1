import MediaTypes

/// The frames that readers get: those of both rungs, on one timeline.
///
/// A part of ``Track``.
struct PlacedFrames: Sendable {
    private(set) var timeline: Timeline
    /// The format of the source's last frame; nil if it has sent none.
    private(set) var format: TrackFormat?
    private var full: RungFrames
    private var narrow: NarrowRung

    init(origin: MonotonicTime, limits: CacheLimits) {
        timeline = Timeline(origin: origin)
        full = RungFrames(limits: limits)
        narrow = NarrowRung(limits: limits)
    }

    /// The frames of `rung`.
    subscript(rung: Rung) -> RungFrames { rung == .full ? full : narrow.frames }

    /// Notes that another source has come.
    mutating func sourceCame() { format = nil }

    /// Gives a frame its place on the track; nil if it is sound for which there is none.
    mutating func place(_ frame: CodedFrame, epoch: UInt64, arrival: MonotonicTime) -> TrackFrame? {
        let format = frame.format ?? format ?? TrackFormat(codec: .h264)
        self.format = format
        timeline.clockRate = format.clockRate
        let (time, captureTime) = timeline.place(
            captureTime: frame.captureTime, epoch: epoch, arrival: arrival, lasting: frame.duration)
        guard let time else { return nil }
        return full.append(frame.withCaptureTime(captureTime), at: time, format: format, arrival: arrival)
    }

    /// Whether somebody takes the narrow rung.
    var hasNarrow: Bool { narrow.rate != nil }

    /// Sets the bit rate of the narrow rung; nil if nobody takes it. Returns false if it is the same as before.
    mutating func setNarrowRate(_ rate: BitRate?) -> Bool { narrow.setRate(rate) }

    /// Notes that somebody needs a key frame of the narrow rung. Returns whether to make one now.
    mutating func wantsNarrowKeyFrame(now: MonotonicTime) -> Bool { narrow.wantsKeyFrame(now: now) }

    /// Gives a frame of the narrow rung its place on the timeline of the source's frames.
    ///
    /// There is no frame if the timeline has no place for it, or if the rung needs a key frame first.
    mutating func placeNarrow(
        _ frame: CodedFrame, epoch: UInt64, arrival: MonotonicTime
    ) -> (frame: TrackFrame?, needsKeyFrame: Bool) {
        var timeline = timeline
        let (time, captureTime) = timeline.place(captureTime: frame.captureTime, epoch: epoch, arrival: arrival)
        guard let time else { return (nil, needsKeyFrame: false) }
        let placed = narrow.take(frame.withCaptureTime(captureTime), at: time, arrival: arrival)
        return (placed, needsKeyFrame: placed == nil)
    }

    /// Forgets all frames, since the source's next frame may show something entirely different; it is a key frame.
    mutating func forget() {
        full.forget()
        narrow.forget()
    }
}
