import CaptureLink
import Clocks
import MediaTypes
import RateControl
import VideoEncoding

/// Encodes what is on the canvas, as finely as the rate control allows, and refines what was coded coarsely when the
/// screen has come to rest.
final class PictureCoder {
    let encoder: any PictureEncoder
    var quality: QualityMap
    /// The quantizer that refinement currently ends with.
    var finestQuantizer = PictureCoder.finestQuantizer
    /// Whether viewers have a picture of this size and format.
    private(set) var hasPicture = false
    private let canvas: PictureCanvas
    private let start = MonotonicTime.now()
    /// The most bytes of a picture: most have a single unit.
    private let mostBytes: Int

    /// The quantizer that refinement usually ends with: visually lossless.
    static let finestQuantizer = 14

    init(
        _ canvas: PictureCanvas, _ configuration: CaptureConfiguration, mostBytes: Int = LinkLimits().unit - 1024,
        onWarning: @escaping @Sendable (String) -> Void
    ) throws(CaptureError) {
        self.canvas = canvas
        self.mostBytes = mostBytes
        do {
            encoder = try configuration.codec.makeEncoder(
                size: canvas.size, chroma: canvas.chroma, framesPerSecond: configuration.framesPerSecond,
                onWarning: onWarning)
        } catch {
            throw .encoder(error)
        }
        quality = QualityMap(grid: MacroblockGrid(size: canvas.size))
    }

    /// A picture on its way to the host.
    struct Picture {
        /// Valid until the next picture.
        let encoded: EncodedPicture
        let captureTime: MonotonicTime
        /// The area that changed; empty if the picture only became finer, or if nothing changed.
        let damage: PixelRectangle
        let quantizer: Int
    }

    /// The result of an attempt to take a picture.
    enum Outcome {
        case picture(Picture)
        /// Nothing has changed, or the screen has changed its size in the meantime.
        case nothing
        /// The rate limit has no room for a picture before this time.
        case later(MonotonicTime)
    }

    /// Leaves only what changes beside a video active, if that is little: text that somebody types there is coded in a
    /// picture of its own, as finely as without the video. Returns whether it did.
    func separateFromVideo(at now: MonotonicTime) -> Bool {
        encoder.hasBands
            && quality.deactivateVideo(coarserThan: Self.readableQuantizer, leaving: Self.mostApart, now: now)
    }

    /// The time at which a part of the picture may be refined; nil if all of it is fine.
    var refinementDue: MonotonicTime? { quality.refinementDue(to: finestQuantizer) }

    /// Refines a part of the picture, as much as the rate limit has room for.
    func refine(at now: MonotonicTime, rate: inout RateController, statistics: inout CaptureStatistics)
        throws(CaptureError) -> Outcome
    {
        let (macroblocks, until) = rate.refinementAllowance(now: now)
        if macroblocks == 0 { return .later(until) }
        let target = refinementQuantizer(rate.bitRate)
        var count = quality.activateForRefinement(atMost: macroblocks, to: target, now: now)
        if count == 0 { return .nothing }
        // Bands can't be placed anywhere, so what is too much for one picture is left for the next.
        while encoder.hasBands, count > 1, !encoder.usesBands(activity(prefersBands: true, target)) {
            count = quality.dropHalf()
        }
        // The allowance has already shown that there is room; this call is for the log.
        _ = rate.decide(.refinement, macroblocks: count, now: now)
        return .picture(try encode(.refinement, target, now, &rate, &statistics))
    }

    /// The quantizer to refine to. If it takes long until everything is fine, everything becomes good first.
    private func refinementQuantizer(_ bitRate: BitRate) -> Int {
        let bits = quality.coarserCount(than: Self.goodQuantizer) * Self.refinedMacroblockBits
        let isSlow = bits / 10 > bitRate.bitsPerSecond / 10 * 7 / 10
        return isSlow ? Self.goodQuantizer : finestQuantizer
    }

    /// The most by which a picture's quantizer is raised for the sake of what doesn't change.
    private static let mostConcession = 4
    /// Hardly distinguishable from the finest, with a third fewer bytes.
    private static let goodQuantizer = 18
    /// Text beside a video that isn't coarser than this gains little from a picture of its own.
    private static let readableQuantizer = 24
    /// The most macroblocks that are coded apart from a video: two lines of text across the screen.
    private static let mostApart = 256
    /// The bits that refinement of a macroblock of text costs, from a quantizer of about 28 on.
    private static let refinedMacroblockBits = 240

    /// Encodes the canvas at the quantizer `wanted`, or a coarser one if that saves coding what is not due. `isApart`
    /// demands that nothing but the active macroblocks is coded.
    func encode(
        _ kind: PictureKind, _ wanted: Int,
        damage: PixelRectangle = PixelRectangle(x: 0, y: 0, width: 0, height: 0), motion: PictureMotion? = nil,
        isApart: Bool = false, _ captureTime: MonotonicTime, _ rate: inout RateController,
        _ statistics: inout CaptureStatistics
    ) throws(CaptureError) -> Picture {
        let begin = MonotonicTime.now()
        if let motion, encoder.moves(motion) {
            return try move(motion, wanted, damage: damage, captureTime, begin, &rate, &statistics)
        }
        let time = MediaTime(ticks: ClockRate.video.ticks(in: captureTime - start))
        var quantizer = wanted
        do throws(VideoEncodingError) {
            var activity = activity(prefersBands: kind == .refinement || isApart, quantizer)
            if kind != .keyFrame, activity.protectsRest, !encoder.usesBands(activity) {
                // Without bands, the whole picture is coded, and with it coarse macroblocks that are not due.
                if kind == .refinement {
                    // This happens only if there are no bands at all, because the picture is small.
                    quality.activateAll()
                } else {
                    // Make the picture as coarse as they are, up to a point; beyond it, paying for them is better than
                    // mush.
                    quantizer = min(max(quantizer, quality.coarsestOutsideActive), quantizer + Self.mostConcession)
                }
                activity = self.activity(prefersBands: kind == .refinement || isApart, quantizer)
            }
            var kind = kind
            var encoded = try encoder.encode(
                canvas.planes, activity, quantizer: quantizer, isRandomAccess: kind == .keyFrame, time: time)
            // A host takes no longer unit. The encoder has gone on from what viewers have, so only a key frame will do.
            while encoded.byteCount > mostBytes, quantizer < Quantizer.coarsest {
                (kind, quantizer) = (.keyFrame, min(quantizer + 6, Quantizer.coarsest))
                quality.activateAll()
                activity = self.activity(prefersBands: false, quantizer)
                encoded = try encoder.encode(
                    canvas.planes, activity, quantizer: quantizer, isRandomAccess: true, time: time)
            }
            let now = MonotonicTime.now()
            rate.coded(
                kind, macroblocks: quality.activeCount, quantizer: quantizer, byteCount: encoded.byteCount, now: now)
            if encoded.isRandomAccess { quality.activateAll() }
            hasPicture = true
            quality.coded(quantizer: quantizer, isChange: kind != .refinement, now: now)
            statistics.add(encoded, now - begin)
            return Picture(encoded: encoded, captureTime: captureTime, damage: damage, quantizer: quantizer)
        } catch {
            throw .encoder(error)
        }
    }

    /// Encodes the picture as the previous one, moved.
    private func move(
        _ motion: PictureMotion, _ quantizer: Int, damage: PixelRectangle, _ captureTime: MonotonicTime,
        _ begin: MonotonicTime, _ rate: inout RateController, _ statistics: inout CaptureStatistics
    ) throws(CaptureError) -> Picture {
        var motion = motion
        do throws(VideoEncodingError) {
            let encoded = try encoder.encode(canvas.planes, &motion, quantizer: quantizer)
            let now = MonotonicTime.now()
            rate.coded(
                .change, macroblocks: quality.activeCount, quantizer: quantizer, byteCount: encoded.byteCount,
                isMoved: true, now: now)
            quality.moved(states: motion.states, x: motion.x, y: motion.y, quantizer: quantizer, now: now)
            statistics.add(encoded, now - begin)
            return Picture(encoded: encoded, captureTime: captureTime, damage: damage, quantizer: quantizer)
        } catch {
            throw .encoder(error)
        }
    }

    private func activity(prefersBands: Bool, _ quantizer: Int) -> PictureActivity {
        PictureActivity(
            isActive: quality.active, count: quality.activeCount,
            protectsRest: quality.hasCoarserOutsideActive(than: quantizer), prefersBands: prefersBands)
    }
}

extension CaptureStatistics {
    fileprivate mutating func add(_ picture: EncodedPicture, _ time: Interval) {
        add(time, to: \.encodeNanoseconds)
        pictures &+= 1
        if picture.isRandomAccess { idrPictures &+= 1 }
    }

    mutating func add(_ time: Interval, to field: WritableKeyPath<CaptureStatistics, UInt64>) {
        self[keyPath: field] &+= UInt64(max(0, time.nanoseconds))
    }
}
