import Clocks
import CodecTable
import MediaTypes
import Threading
import VideoDecoding

/// The work of the decode tap's thread: decode, report failures, keep the last picture and encode it again.
///
/// Belongs to that thread alone.
final class DecodeTapWorker {
    /// After this many failures in a row the decoder itself is replaced.
    private static let failuresBeforeNewDecoder = 3

    private let log: EventLog
    private let onFailure: @Sendable () -> Void
    private let onPicture: @Sendable (CodedFrame, UInt64, UInt64) -> Bool
    private let onLowPicture: @Sendable (CodedFrame, UInt64, UInt64) -> Bool

    private var decoder: (any FrameDecoder)?
    /// How the source codes its frames; what it says with each key frame.
    private var codec = TrackFormat.Codec.h264
    /// The part of the last picture that shows something; nil for all of it.
    private var contentSize: PictureSize?
    /// The last picture of the previous decoder.
    private var keptPicture: I420Picture?
    /// The headers and the epoch of the last key frame, decoded or not.
    private var headers: [UInt8] = []
    private var epoch: UInt64 = 0
    private var gate = RandomAccessGate(isClosed: true)
    private var sourceMakesKeyFrames = false
    private var failures = 0
    /// When the last picture arrived, not when it was decoded: a picture from before a pause must not pass for one
    /// after it.
    private var lastPictureArrival: MonotonicTime?
    private var lastEpoch: UInt64 = 0
    /// The number of the last of the source's frames that was decoded.
    private var lastNumber: UInt64 = 0
    /// Whether the source is about to send finer pictures than the last one.
    private var lastIsToBeRefined = false
    /// Whether the pointer is drawn in the last picture.
    private var lastHasPointer = true
    /// Whether the host's encoder carries the track; if so, each picture is encoded, up to the source's next key frame.
    private var isFallbackActive = false
    private var encoder = HostEncoder()
    private var low = LowLayerEncoder()
    /// Where the last samples of each stream were taken.
    private var sampled = SampleIndex.beforeFirst
    private var lowSampled = SampleIndex.beforeFirst
    /// Which frames of the low layer are checked; nil while no viewer checks its pictures.
    private var lowChecks: PictureChecks?
    private var snapshots: [DecodeTap.SnapshotRequest] = []

    init(
        log: EventLog, onFailure: @escaping @Sendable () -> Void,
        onPicture: @escaping @Sendable (CodedFrame, UInt64, UInt64) -> Bool,
        onLowPicture: @escaping @Sendable (CodedFrame, UInt64, UInt64) -> Bool
    ) {
        self.log = log
        self.onFailure = onFailure
        self.onPicture = onPicture
        self.onLowPicture = onLowPicture
    }

    /// When the thread must look again even if nothing arrives.
    var nextDeadline: MonotonicTime {
        let lowDeadline = hasPicture ? low.deadline : nil
        return min(snapshots.map(answerDue).min() ?? .distantFuture, lowDeadline ?? .distantFuture)
    }

    /// When a request is answered with the last picture if no other arrives.
    private func answerDue(_ request: DecodeTap.SnapshotRequest) -> MonotonicTime {
        guard let arrival = lastPictureArrival, request.from.map({ arrival >= $0 }) ?? true else {
            return request.deadline
        }
        return lastIsToBeRefined ? min(request.refinedBy, request.deadline) : .zero
    }

    /// Does the work of `inbox`. Returns whether there may be more later.
    func perform(_ inbox: DecodeTap.Inbox) -> Bool {
        snapshots += inbox.snapshots
        if inbox.isStopped { return false }
        sourceMakesKeyFrames = inbox.makesKeyFrames
        lowChecks = inbox.areChecked ? lowChecks ?? PictureChecks() : nil
        if !inbox.areChecked { (sampled, lowSampled) = (.beforeFirst, .beforeFirst) }
        for delivery in inbox.frames { decode(delivery) }
        answerSnapshots()
        if inbox.isKeyFrameDue { makeKeyFrame() }
        if inbox.endsLow { low.setRate(nil, now: MonotonicTime.now()) }
        low.setRate(inbox.lowRate, now: MonotonicTime.now())
        if inbox.needsLowKeyFrame { low.requestKeyFrame() }
        encodeLow()
        return true
    }

    /// Encodes the last picture as a key frame, with which the host's encoder takes over the track.
    private func makeKeyFrame() {
        guard let picture = lastPicture() else { return }
        encode(picture, forceIDR: true)
    }

    /// Answers all requests with nil, since no picture will come any more.
    func abandon() {
        for request in snapshots { request.completion(nil, 0) }
        snapshots = []
    }

    private func decode(_ delivery: DecodeTap.Delivery) {
        let frame = delivery.frame
        if frame.isRandomAccess {
            isFallbackActive = false
            if let format = frame.format { codec = format.codec }
            let headers = leadingHeaders(of: frame)
            let isNewStream = headers != self.headers || delivery.epoch != epoch
            if isNewStream || failures >= Self.failuresBeforeNewDecoder { dropDecoder() }
            // Each stream's faults are reported.
            if isNewStream { failures = 0 }
            self.headers = headers
            epoch = delivery.epoch
        }
        // A source that makes key frames has been asked for one; until it arrives, every picture would only fail again.
        guard gate.passes(isRandomAccess: frame.isRandomAccess) || !sourceMakesKeyFrames else { return }
        do throws(VideoDecodingError) {
            let decoder = try currentDecoder()
            let before = decoder.pictureCount
            try decoder.decode(frame, copying: false)
            guard decoder.pictureCount > before else { return }
            failures = 0
            sample(frame)
            // What the source sends only so as not to be silent is no newer than the picture before.
            if !frame.isStale || lastPictureArrival == nil { lastPictureArrival = delivery.arrival }
            lastEpoch = delivery.epoch
            lastNumber = delivery.number
            lastIsToBeRefined = frame.isToBeRefined
            contentSize = frame.contentSize
            lastHasPointer = frame.isPointerDrawn
            low.pictureDecoded(byteCount: frame.bytes.count)
            if isFallbackActive, let picture = lastPicture() { encode(picture, forceIDR: false) }
        } catch {
            failures += 1
            gate.close()
            if failures == 1 {
                let wish = error.wantsKeyFrame ? "; a key frame is wanted" : ""
                log.warning("a picture can't be decoded (\(error))\(wish)")
            }
            if failures == Self.failuresBeforeNewDecoder { dropDecoder() }
            if error.wantsKeyFrame { onFailure() }
        }
    }

    /// Takes the samples of the last picture for the check of its frame. If the stream reorders pictures, the last one
    /// may be another frame's.
    private func sample(_ frame: CodedFrame) {
        guard let check = frame.check, let picture = lastPicture(), picture.captureTime == frame.captureTime
        else { return }
        sampled = sampled.next(isKeyFrame: frame.isRandomAccess)
        check.set(PictureSamples(of: picture, at: sampled))
    }

    private func currentDecoder() throws(VideoDecodingError) -> any FrameDecoder {
        if let decoder { return decoder }
        let new = try codec.makeDecoder()
        decoder = new
        return new
    }

    private func dropDecoder() {
        keptPicture = lastPicture()
        decoder = nil
    }

    private func lastPicture() -> I420Picture? {
        do {
            return try decoder?.lastPicture() ?? keptPicture
        } catch {
            log.warning("the last picture can't be copied: \(error)")
            return keptPicture
        }
    }

    private func leadingHeaders(of frame: CodedFrame) -> [UInt8] {
        frame.units.prefix { codec.coding.facts(of: frame.bytes[$0])?.contains(.header) == true }
            .flatMap { frame.bytes[$0] }
    }

    private func encode(_ picture: I420Picture, forceIDR: Bool) {
        do {
            var frame = try encoder.encode(picture, forceIDR: forceIDR)
            if !lastHasPointer { frame.attachment = .pointerLeftOut }
            isFallbackActive = onPicture(frame, lastEpoch, lastNumber)
        } catch {
            log.error("the host's own encoder failed: \(error)")
        }
    }

    /// Whether there is a picture to encode again.
    private var hasPicture: Bool { decoder?.pictureCount ?? 0 > 0 || keptPicture != nil }

    /// Encodes the newest picture for the low layer, if it is time.
    private func encodeLow() {
        let now = MonotonicTime.now()
        guard let due = low.deadline, due <= now else { return }
        // One that can't be copied is no better the next time.
        guard let picture = lastPicture() else { return low.holdBack() }
        do {
            var frame = try low.encode(picture, now: now)
            if !lastHasPointer { frame.attachment = .pointerLeftOut }
            if lowChecks?.takes(isKeyFrame: frame.isRandomAccess, arrival: now) == true,
                let picture = low.decodedPicture
            {
                lowSampled = lowSampled.next(isKeyFrame: frame.isRandomAccess)
                frame.check = PictureCheck(PictureSamples(of: picture, at: lowSampled))
            }
            if !onLowPicture(frame, lastEpoch, lastNumber) { low.holdBack() }
        } catch {
            log.error("the host's own encoder failed: \(error)")
            low.setRate(nil, now: now)
        }
    }

    private func answerSnapshots() {
        let now = MonotonicTime.now()
        var waiting: [DecodeTap.SnapshotRequest] = []
        var picture: I420Picture?
        for request in snapshots {
            if now >= answerDue(request) {
                if picture == nil { picture = lastPicture().map { $0.cropped(to: contentSize) } }
                request.completion(picture, lastNumber)
            } else {
                waiting.append(request)
            }
        }
        snapshots = waiting
    }
}

extension I420Picture {
    /// The picture without its last column or row if it has one more than `size`.
    fileprivate func cropped(to size: PictureSize?) -> I420Picture {
        guard let size, size != self.size, (size.width + 1) / 2 == chromaWidth,
            (size.height + 1) / 2 * chromaWidth == chromaCount
        else { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size.width * size.height + 2 * chromaCount)
        for row in 0..<size.height {
            bytes += self.bytes[row * self.size.width..<row * self.size.width + size.width]
        }
        bytes += self.bytes[lumaCount...]
        return I420Picture(
            size: size, bytes: bytes, isFullRange: isFullRange, matrix: matrix, captureTime: captureTime)
    }
}
