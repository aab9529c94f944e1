import MediaTypes
import TrackHub
import VideoDecoding

/// Decodes a track, of which the newest picture is wanted.
struct NewestPicture {
    private(set) var isNew = false
    private(set) var hasPicture = false
    /// When the newest one was captured, on the track's timeline.
    private(set) var time = Interval.zero
    private var decoder: (codec: TrackFormat.Codec, any FrameDecoder)?
    private var gate = RandomAccessGate(isClosed: true)
    private var lastNumber: UInt64?
    private var newest: I420Picture?

    /// Decodes a frame. Returns false if that failed, so that a key frame is needed.
    ///
    /// - Throws: if there is no decoder.
    mutating func take(_ frame: TrackFrame) throws(VideoDecodingError) -> Bool {
        if let lastNumber, frame.number != lastNumber + 1 { gate.close() }
        lastNumber = frame.number
        guard gate.passes(isRandomAccess: frame.coded.isRandomAccess) else { return true }
        if decoder?.codec != frame.format.codec {
            decoder = (frame.format.codec, try frame.format.codec.makeDecoder())
        }
        do throws(VideoDecodingError) {
            try decoder?.1.decode(frame.coded, copying: false)
            (isNew, hasPicture) = (true, true)
            time = frame.format.clockRate.interval(of: frame.time.ticks)
            return true
        } catch {
            gate.close()
            return false
        }
    }

    /// The newest picture.
    mutating func next() -> I420Picture? {
        if isNew, let picture = try? decoder?.1.lastPicture() { newest = picture }
        isNew = false
        return newest
    }
}

/// The times of pictures that are encoded again, on the track's timeline.
struct PictureTimes {
    /// Nothing has changed since an older picture was captured, so it shows the present as well.
    private static let oldest = Interval.seconds(1)
    private var last = MediaTime(ticks: -1)

    /// The time of a picture that has been `shown` since then, or that is repeated if that is nil.
    mutating func next(_ shown: Interval?, _ now: Interval) -> MediaTime {
        let point = shown.map { now - $0 < Self.oldest ? $0 : now } ?? now
        last = MediaTime(ticks: max(last.ticks + 1, ClockRate.video.ticks(in: point)))
        return last
    }
}
