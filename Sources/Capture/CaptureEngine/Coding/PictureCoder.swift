import CaptureLink
import Clocks
import MediaTypes
import RateControl
import VideoEncoding

/// Encodes the canvas, as finely as the rate control allows, and refines coarse parts when the screen has come to rest.
final class PictureCoder {
    let encoder: any PictureEncoder
    var quality: QPMap
    /// The quantizer that refinement currently ends with.
    var minQP = PictureCoder.minQP
    /// Whether viewers have a picture of this size and format.
    private(set) var hasPicture = false
    /// Whether everything has to be good before anything becomes fine, until something changes.
    private var isGoodFirst = false
    private let account: PictureAccount
    private let canvas: PictureCanvas
    private let start = MonotonicTime.now()
    /// The most bytes of a picture: most have a single unit.
    private let maxBytes: Int

    /// The quantizer that refinement usually ends with: visually lossless.
    static let minQP = 14

    init(
        _ canvas: PictureCanvas, _ configuration: CaptureConfiguration, account: PictureAccount,
        maxBytes: Int = LinkLimits().unit - 1024, onWarning: @escaping @Sendable (String) -> Void
    ) throws(CaptureError) {
        self.canvas = canvas
        self.account = account
        self.maxBytes = maxBytes
        do {
            encoder = try configuration.codec.makeEncoder(
                size: canvas.size, chroma: canvas.chroma, framesPerSecond: configuration.framesPerSecond,
                onWarning: onWarning)
        } catch {
            throw .encoder(error)
        }
        quality = QPMap(grid: MacroblockGrid(size: canvas.size))
    }

    /// A picture on its way to the host.
    struct Picture {
        /// Valid until the next picture.
        let encoded: EncodedPicture
        let captureTime: MonotonicTime
        /// The area that changed; empty if the picture only became finer, or if nothing changed.
        let damage: PixelRectangle
        let qp: Int
    }

    /// The result of an attempt to take a picture.
    enum Outcome {
        case picture(Picture)
        /// Nothing has changed, or the screen has changed its size in the meantime.
        case nothing
        /// What was painted looks as before: a program has painted the same again, as for a part that another window
        /// no longer covers.
        case unchanged
        /// The rate limit has no room for a picture before this time.
        case later(MonotonicTime)
    }

    /// Of the macroblocks that `rectangles` touch, leaves only changes beside a video selected, if these are few: text
    /// that is typed there is coded in its own picture, as finely as without the video. Returns whether it did.
    func separateFromVideo(_ rectangles: [PixelRectangle], at now: MonotonicTime) -> Bool {
        guard encoder.hasBands,
            quality.deselectVideo(above: Self.readableQP, leaving: Self.maxApart, now: now)
        else { return false }
        // The video is left out only where bands can be placed.
        if encoder.usesBands(codingMask(prefersBands: true, minQP)) { return true }
        quality.select(rectangles)
        return false
    }

    /// The time at which a part of the picture may be refined; nil if all of it is fine.
    var refinementDue: MonotonicTime? { quality.refinementDue(to: minQP) }

    /// Refines a part of the picture, as much as the rate limit has room for.
    func refine(at now: MonotonicTime) throws(CaptureError) -> Outcome {
        let (macroblocks, until) = account.rate.refinementAllowance(now: now)
        if macroblocks == 0 { return .later(until) }
        let target = refinementQP()
        var count = quality.selectForRefinement(atMost: macroblocks, to: target, now: now)
        if count == 0 { return .nothing }
        // Bands can't be placed anywhere, so what is too much for one picture is left for the next.
        while encoder.hasBands, count > 1, !encoder.usesBands(codingMask(prefersBands: true, target)) {
            count = quality.dropHalf()
        }
        let decision = account.rate.given(.refinement, macroblocks: count, qp: target)
        return .picture(try encode(decision, at: now))
    }

    /// The quantizer to refine to. If it takes long until everything is fine, everything becomes good first.
    private func refinementQP() -> Int {
        let coarse = quality.count(above: Self.goodQP)
        let takesLong = account.rate.refinementTime(macroblocks: coarse) > Self.longRefinement
        isGoodFirst = coarse > 0 && (isGoodFirst || takesLong)
        return isGoodFirst ? Self.goodQP : minQP
    }

    /// Hardly distinguishable from the finest, with a third fewer bytes.
    private static let goodQP = 18
    /// With the 200 ms that changes settle, more would not be sharp within a second.
    private static let longRefinement = Interval.milliseconds(700)
    /// Text beside a video that isn't coarser than this gains little from a picture of its own.
    private static let readableQP = 24
    /// The most macroblocks that are coded apart from a video: two lines of text across the screen.
    private static let maxApart = 256

    /// Marks moving macroblocks that are too coarse to read as `coded`, up to what the link has room for. Refinement
    /// waits until a macroblock is at rest, so text that keeps scrolling would stay as coarse as its key frame.
    func sharpen(_ motion: inout GlobalMotion, at now: MonotonicTime) {
        guard encoder.canEncode(motion) else { return }
        let coarse = quality.coarselyMoved(
            states: motion.states, x: motion.x, y: motion.y, second: motion.second, than: RateController.readable,
            atMost: account.rate.refinementAllowance(now: now).macroblocks / 2)
        for index in coarse { motion.states[index] = GlobalMotion.State.coded.rawValue }
        motion.codedCount += coarse.count
        motion.movedCount -= coarse.count
    }

    /// Decides how finely to code the selected macroblocks; `motion` tells which of them are unchanged or have moved.
    func decide(
        _ kind: PictureKind, _ motion: GlobalMotion?, isApart: Bool = false, at now: MonotonicTime
    ) -> RateController.Decision {
        let difference = motion.flatMap { canvas.difference(of: $0) }
        if let motion {
            if encoder.canEncode(motion) {
                return account.rate.decide(
                    kind, macroblocks: motion.codedCount, difference: difference, isMoved: true, now: now)
            }
            quality.deselectUnchanged(motion.states)
        }
        let count = quality.selectedCount
        // Most small changes find everything fine.
        let codesOnlySelected = kind == .keyFrame || isApart || quality.count(above: minQP) == 0
        var rest = codesOnlySelected ? [] : quality.unselectedCountsAbove
        if !rest.isEmpty, encoder.usesBands(codingMask(prefersBands: true, minQP)) {
            for qp in rest.indices where prefersBands(rest[qp]) { rest[qp] = 0 }
        }
        return account.rate.decide(
            kind, macroblocks: count, difference: difference, rest: rest, isApart: isApart, now: now)
    }

    /// Has viewers keep the previous picture, and go on from an earlier one. Returns the differences from the earlier
    /// picture; nil if viewers go on from the previous one.
    func switchReference(
        _ change: PictureMemory.ReferenceSwitch, at now: MonotonicTime
    ) throws(CaptureError) -> GlobalMotion? {
        do throws(VideoEncodingError) {
            try encoder.switchReference(keeping: change.kept, recalling: change.recalled)
        } catch {
            throw .encoder(error)
        }
        guard let motion = change.motion else { return nil }
        quality.recall(change.qps, now: now)
        quality.selectAll()
        return motion
    }

    /// Whether to leave out the rest of the picture by coding bands, because more macroblocks of it would be coded
    /// again than have changed.
    private func prefersBands(_ coarser: Int) -> Bool { coarser > quality.selectedCount }

    /// Encodes the canvas with `decision`. `motion` is the result of a comparison with the previous picture; `isApart`
    /// demands that only the selected macroblocks are coded.
    func encode(
        _ decision: RateController.Decision, damage: PixelRectangle = .nothing, motion: GlobalMotion? = nil,
        isApart: Bool = false, at captureTime: MonotonicTime
    ) throws(CaptureError) -> Picture {
        let begin = MonotonicTime.now()
        if let motion, encoder.canEncode(motion) {
            return try move(motion, decision, damage: damage, at: captureTime, since: begin)
        }
        let isRefinement = decision.kind == .refinement
        let time = MediaTime(ticks: ClockRate.video.ticks(in: captureTime - start))
        let (mask, codesRest) = codingMask(of: decision, isApart: isApart)
        var decision = decision
        do throws(VideoEncodingError) {
            var encoded = try encodeCanvas(mask, decision, at: time)
            while let coarser = retryQP(for: encoded, decision) {
                // The encoder has gone on from what viewers have, so only a key frame will do.
                quality.selectAll()
                decision = account.rate.given(.keyFrame, macroblocks: quality.selectedCount, qp: coarser)
                encoded = try encodeCanvas(codingMask(prefersBands: false, coarser), decision, at: time)
            }
            let (qp, now) = (decision.qp, MonotonicTime.now())
            account.rate.coded(decision, qp: qp, byteCount: encoded.byteCount, now: now)
            if encoded.isRandomAccess { quality.selectAll() }
            hasPicture = true
            if !isRefinement { isGoodFirst = false }
            quality.coded(qp: qp, isChange: !isRefinement, now: now)
            if codesRest { quality.codedRest(qp: qp) }
            account.count(encoded, now - begin)
            return Picture(encoded: encoded, captureTime: captureTime, damage: damage, qp: qp)
        } catch {
            throw .encoder(error)
        }
    }

    private func encodeCanvas(
        _ mask: CodingMask, _ decision: RateController.Decision, at time: MediaTime
    ) throws(VideoEncodingError) -> EncodedPicture {
        try encoder.encode(
            canvas.planes, mask, qp: decision.qp, isRandomAccess: decision.kind == .keyFrame,
            time: time)
    }

    /// The macroblocks that a picture codes, and whether these include the rest: unselected ones coarser than the
    /// picture. The rest is coded where bands can't leave it out, because the whole picture is coded then.
    private func codingMask(
        of decision: RateController.Decision, isApart: Bool
    ) -> (mask: CodingMask, codesRest: Bool) {
        let (kind, qp) = (decision.kind, decision.qp)
        let hasRest = kind != .keyFrame && quality.hasUnselected(above: qp)
        let rest = hasRest ? quality.unselectedCountsAbove[qp] : 0
        var mask = codingMask(prefersBands: kind == .refinement || isApart || prefersBands(rest), qp)
        guard rest > 0, !encoder.usesBands(mask) else { return (mask, false) }
        if kind == .refinement {
            // This happens only if there are no bands at all, because the picture is small.
            quality.selectAll()
            mask = codingMask(prefersBands: true, qp)
        }
        mask.isSelected = quality.selection(withAllAbove: qp)
        mask.protectsRest = false
        return (mask, true)
    }

    /// The quantizer at which to encode a picture again, as a key frame; nil if it is good as it is. If it returns a
    /// value, the rate control has learned the size of the rejected picture, unless that was too large for the host.
    private func retryQP(
        for encoded: EncodedPicture, _ decision: RateController.Decision
    ) -> Int? {
        // A host takes no longer unit. A QP that is higher by six doubles the step size.
        if encoded.byteCount > maxBytes, decision.qp < QP.maximum {
            return min(decision.qp + 6, QP.maximum)
        }
        // A key frame codes all of the picture, which must not be more than what changed.
        guard decision.macroblocks * 2 >= quality.grid.count else { return nil }
        return account.rate.retryQP(for: decision, byteCount: encoded.byteCount)
    }

    /// Encodes the picture as the previous one, moved.
    private func move(
        _ motion: GlobalMotion, _ decision: RateController.Decision, damage: PixelRectangle,
        at captureTime: MonotonicTime, since begin: MonotonicTime
    ) throws(CaptureError) -> Picture {
        var motion = motion
        let qp = decision.qp
        do throws(VideoEncodingError) {
            let encoded = try encoder.encode(canvas.planes, &motion, qp: qp)
            let now = MonotonicTime.now()
            account.rate.coded(decision, qp: qp, byteCount: encoded.byteCount, now: now)
            quality.moved(
                states: motion.states, x: motion.x, y: motion.y, second: motion.second, qp: qp, now: now)
            account.count(encoded, now - begin)
            return Picture(encoded: encoded, captureTime: captureTime, damage: damage, qp: qp)
        } catch {
            throw .encoder(error)
        }
    }

    private func codingMask(prefersBands: Bool, _ qp: Int) -> CodingMask {
        CodingMask(
            isSelected: quality.selection, count: quality.selectedCount,
            protectsRest: quality.hasUnselected(above: qp), prefersBands: prefersBands)
    }
}
