import Clocks
package import MediaTypes
import Synchronization
import Threading
import VideoDecoding
package import X264Encoding

/// Encodes the pictures that an application writes for a track while the track is watched: each on the thread that
/// writes it, and the last picture again on the encoder's own thread if a viewer needs it, since the caller must not
/// wait.
///
/// Any thread may call any method. One thread encodes at a time; if other pictures are written meanwhile, that thread
/// continues with the newest.
package final class TrackEncoder: Sendable {
    /// The picture to encode, and the requests for its encoding.
    private struct Wishes {
        var deliver: (@Sendable (CodedFrame) -> Void)?
        var newest: I420Picture?
        /// When the newest picture was captured; nil if it has waited for a viewer or was encoded before, which would
        /// show as a delay.
        var captured: MonotonicTime?
        var rate: BitRate
        var isWatched = false
        var isDue = false
        var needsKeyFrame = true
        var isEncoding = false
        var isOver = false
        /// Whether the encoder has failed since the last picture was written.
        var hasFailed = false

        /// What to encode now; nil if there is nothing, or if another thread encodes.
        mutating func begin() -> Job? {
            guard isWatched, isDue, !isEncoding, let newest, let deliver else { return nil }
            defer { (captured, isDue, needsKeyFrame, isEncoding) = (nil, false, false, true) }
            return Job(
                picture: newest, captured: captured, isKeyFrame: needsKeyFrame, rate: rate, deliver: deliver)
        }
    }

    private struct Job {
        let picture: I420Picture
        let captured: MonotonicTime?
        let isKeyFrame: Bool
        let rate: BitRate
        let deliver: @Sendable (CodedFrame) -> Void
    }

    /// Makes an encoder.
    package typealias EncoderMaker = @Sendable (X264Configuration) throws -> X264Encoder

    /// The encoder of pictures like the last one.
    fileprivate struct Coder {
        let picturesPerSecond: Int
        let makeEncoder: EncoderMaker
        var encoder: X264Encoder?
        var ticks: Int64 = 0
        var madeAt: MonotonicTime?
    }

    /// Below this, x264 can't keep to a rate.
    fileprivate static let lowestRate = BitRate(bitsPerSecond: 64_000)
    private static let maxEncoding = Interval.milliseconds(500)

    private let highestRate: BitRate
    private let wake: EventFD
    private let wishes: Mutex<Wishes>
    /// Used only by the thread that has set `isEncoding`.
    private let coder: Mutex<Coder>

    /// Creates an encoder that has yet to be started; nil if the process has no descriptor left.
    ///
    /// - Parameters:
    ///   - picturesPerSecond: how many are written per second, clamped to 1...240.
    ///   - highestRate: the rate that is not exceeded, whatever ``setTargetBitRate(_:)`` says.
    package init?(
        picturesPerSecond: Int, highestRate: BitRate,
        makeEncoder: @escaping EncoderMaker = { try X264Encoder($0) }
    ) {
        guard let wake = EventFD() else { return nil }
        self.wake = wake
        self.highestRate = max(Self.lowestRate, highestRate)
        wishes = Mutex(Wishes(rate: max(Self.lowestRate, highestRate)))
        coder = Mutex(
            Coder(picturesPerSecond: max(1, min(240, picturesPerSecond)), makeEncoder: makeEncoder))
    }

    /// Starts the thread, which lives until ``stop()``. `deliver` gets the frames in order, on any thread. Returns
    /// false if the process has no thread left.
    package func start(deliver: @escaping @Sendable (CodedFrame) -> Void) -> Bool {
        wishes.withLock { $0.deliver = deliver }
        let thread = NamedThread("track encoder", blocksSignals: true) { [self] in
            while !wishes.withLock({ $0.isOver }) {
                wake.wait()
                encodeWhatWaits()
            }
        }
        return thread != nil
    }

    /// Ends the thread, which isn't waited for.
    package func stop() {
        wishes.withLock { $0.isOver = true }
        wake.signal()
    }

    /// Whether a picture can be encoded, and be decoded by the host: its planes fit its size.
    package static func takes(_ picture: I420Picture) -> Bool {
        let sides = 1...16_384
        return sides.contains(picture.size.width) && sides.contains(picture.size.height)
            && Int64(picture.lumaCount) <= H264Decoder.maxPixels
            && picture.bytes.count == picture.lumaCount + 2 * picture.chromaCount
    }

    /// Encodes a picture now if the track has viewers, or else as soon as it does. Returns false if the encoder has
    /// failed since the last call.
    package func write(_ picture: I420Picture, captured: MonotonicTime) -> Bool {
        wishes.withLock { wishes in
            wishes.newest = picture
            wishes.captured = wishes.isWatched ? captured : nil
            wishes.isDue = true
        }
        encodeWhatWaits()
        return wishes.withLock { wishes in
            defer { wishes.hasFailed = false }
            return !wishes.hasFailed
        }
    }

    /// Drops the last picture unless the track is watched.
    package func forget() { wishes.withLock { if !$0.isWatched { ($0.newest, $0.isDue) = (nil, false) } } }

    /// Encodes the last picture if the track hasn't been watched since it was written: no other picture will follow.
    package func finish() {
        wishes.withLock { $0.isWatched = true }
        // Another thread may be encoding, which takes some milliseconds; the caller's own can't be waited for, if it
        // calls this when it gets a frame.
        let deadline = MonotonicTime.now() + Self.maxEncoding
        encodeWhatWaits()
        while wishes.withLock({ $0.isEncoding }), MonotonicTime.now() < deadline {
            wake.wait(until: MonotonicTime.now() + .milliseconds(2))
            encodeWhatWaits()
        }
        wishes.withLock { $0.isWatched = false }
        wake.signal()
    }

    // MARK: For the hub, which must not wait

    /// Encodes only while the track is watched, and then begins with a key frame of the last picture.
    package func setWatched(_ isWatched: Bool) {
        wishes.withLock { wishes in
            if isWatched, !wishes.isWatched { (wishes.isDue, wishes.needsKeyFrame) = (true, true) }
            wishes.isWatched = isWatched
        }
        wake.signal()
    }

    /// Encodes the last picture again, as a key frame.
    package func requestKeyFrame() {
        wishes.withLock { ($0.isDue, $0.needsKeyFrame) = (true, true) }
        wake.signal()
    }

    /// Encodes the last picture again.
    package func requestPicture() {
        wishes.withLock { $0.isDue = true }
        wake.signal()
    }

    /// Sets the bit rate from the next picture on.
    package func setTargetBitRate(_ rate: BitRate) {
        wishes.withLock { $0.rate = max(Self.lowestRate, min(highestRate, rate)) }
    }

    // MARK: Encoding

    private func encodeWhatWaits() {
        while let job = wishes.withLock({ $0.begin() }) {
            let frame = coder.withLock { $0.encode(job.picture, isKeyFrame: job.isKeyFrame, rate: job.rate) }
            if let frame { job.deliver(frame.withCaptureTime(job.captured)) }
            wishes.withLock { wishes in
                wishes.isEncoding = false
                if frame == nil { (wishes.needsKeyFrame, wishes.hasFailed) = (true, true) }
            }
        }
    }
}

extension TrackEncoder.Coder {
    /// Nil if the encoder fails, which has no memory left then; the next picture gets another one.
    fileprivate mutating func encode(_ picture: I420Picture, isKeyFrame: Bool, rate: BitRate) -> CodedFrame? {
        do {
            let encoder = try currentEncoder(for: picture, rate)
            ticks += 1
            return try encoder.accessUnit(of: picture, forceIDR: isKeyFrame, time: MediaTime(ticks: ticks))
        } catch {
            encoder = nil
            return nil
        }
    }

    private mutating func currentEncoder(for picture: I420Picture, _ rate: BitRate) throws -> X264Encoder {
        if let encoder, encoder.configuration.fits(picture) {
            if encoder.configuration.rate != .ceiling(rate) { try encoder.reconfigure(bitRate: rate) }
            return encoder
        }
        // A new encoder may use up a second of its rate at once, which must not happen with each picture of a source
        // that keeps changing its size.
        let now = MonotonicTime.now()
        let milliseconds = madeAt.map { min(max((now - $0).milliseconds, 0), 1000) } ?? 1000
        madeAt = now
        let first = max(
            TrackEncoder.lowestRate, BitRate(bitsPerSecond: rate.bitsPerSecond / 1000 * Int(milliseconds)))
        let new = try makeEncoder(
            X264Configuration(
                size: picture.size, framesPerSecond: picturesPerSecond, rate: .ceiling(first), matrix: picture.matrix,
                isFullRange: picture.isFullRange))
        encoder = new
        return new
    }
}
