import MediaTypes

/// The frames that readers get: those of both layers, on one timeline.
///
/// A part of ``Track``.
struct PlacedFrames: Sendable {
    private(set) var timeline: Timeline
    /// The format of the source's last frame; nil if it has sent none.
    private(set) var format: TrackFormat?
    private var source: LayerFrames
    private var low: LowLayer

    init(origin: MonotonicTime, limits: CacheLimits) {
        timeline = Timeline(origin: origin)
        source = LayerFrames(limits: limits)
        low = LowLayer(limits: limits)
    }

    /// The frames of `layer`.
    subscript(layer: Layer) -> LayerFrames { layer == .source ? source : low.frames }

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
        return source.append(frame.withCaptureTime(captureTime), at: time, format: format, arrival: arrival)
    }

    /// Whether the low layer has a reader.
    var hasLow: Bool { low.rate != nil }

    /// Sets the bit rate of the low layer; nil if it has no reader. Returns false if it is the same as before.
    mutating func setLowRate(_ rate: BitRate?, now: MonotonicTime) -> Bool { low.setRate(rate, now: now) }

    /// Records a request for a key frame of the low layer. Returns whether to make one now.
    mutating func requestLowKeyFrame(now: MonotonicTime) -> Bool { low.requestKeyFrame(now: now) }

    /// Gives a frame of the low layer its place on the timeline of the source's frames.
    ///
    /// There is no frame if the timeline has no place for it, or if the layer needs a key frame first.
    mutating func placeLow(
        _ frame: CodedFrame, epoch: UInt64, arrival: MonotonicTime
    ) -> (frame: TrackFrame?, needsKeyFrame: Bool) {
        var timeline = timeline
        let (time, captureTime) = timeline.place(captureTime: frame.captureTime, epoch: epoch, arrival: arrival)
        guard let time else { return (nil, needsKeyFrame: false) }
        let placed = low.take(frame.withCaptureTime(captureTime), at: time, arrival: arrival)
        return (placed, needsKeyFrame: placed == nil)
    }

    /// Forgets all frames, since the source's next frame may show something entirely different; it is a key frame.
    mutating func forget() {
        source.forget()
        low.forget()
    }
}
