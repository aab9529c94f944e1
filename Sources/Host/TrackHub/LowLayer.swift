import MediaTypes

/// The low layer of a track: what is wanted of it, and which of its frames viewers get.
///
/// A part of ``Track``.
struct LowLayer: Sendable {
    private(set) var frames: LayerFrames
    /// The bit rate at which it is encoded; nil if nobody takes it.
    private(set) var rate: BitRate?
    private var keyFrames = KeyFramePolicy(minInterval: KeyFramePolicy.minLowInterval)
    /// Closed until the next key frame: the first one, or the first one after a pause.
    private var gate = RandomAccessGate(isClosed: true)

    init(limits: CacheLimits) { frames = LayerFrames(limits: limits) }

    /// Sets the bit rate. Returns false if it is the same as before.
    mutating func setRate(_ rate: BitRate?, now: MonotonicTime) -> Bool {
        guard rate != self.rate else { return false }
        // An encoder that starts begins with a key frame.
        if self.rate == nil { _ = keyFrames.request(now: now) }
        self.rate = rate
        if rate == nil { forget() }
        return true
    }

    /// Records a request for a key frame. Returns whether to make one now.
    mutating func requestKeyFrame(now: MonotonicTime) -> Bool { keyFrames.request(now: now) }

    /// Takes the next frame. Returns nil if it depends on one that no viewer may see.
    mutating func take(_ frame: CodedFrame, at time: MediaTime, arrival: MonotonicTime) -> TrackFrame? {
        guard gate.passes(isRandomAccess: frame.isRandomAccess) else { return nil }
        if frame.isRandomAccess { keyFrames.idrArrived() }
        return frames.append(frame, at: time, format: TrackFormat(codec: .h264), arrival: arrival)
    }

    /// Forgets all frames; viewers get the next key frame and those after it.
    mutating func forget() {
        frames.forget()
        gate.close()
    }
}
