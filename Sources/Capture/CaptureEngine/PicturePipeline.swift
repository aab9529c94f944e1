import CaptureLink
import Clocks
import MediaTypes
import RateControl
import X264Encoding

/// Turns the screen into NAL units, for one size of the screen and one chroma format: grabs, converts and encodes, and
/// refines what was coded coarsely when the screen has come to rest.
///
/// Another size needs another pipeline.
final class PicturePipeline {
    let encoder: ScreenEncoder
    private let screen: any ScreenSource
    private let canvas: PictureCanvas
    private let reader: ScreenReader
    private var quality: QualityMap
    private var search: MotionSearch
    // Whether viewers have been sent the canvas; false after the screen refused to hand out pixels half-way.
    private var isCanvasSent = false
    private let start = MonotonicTime.now()
    /// Changed parts of the picture that viewers don't have yet, and that the server won't report again.
    private var owed: [PixelRectangle] = []
    private var isCanvasEmpty = true
    private var isSlate = false
    /// The quantizer that refinement currently ends with.
    var finestQuantizer = PicturePipeline.finestQuantizer
    /// The number of pixels that had changed in the last picture that showed a change.
    private(set) var damagedPixels = 0
    /// Whether viewers have a picture of this size and format.
    private(set) var hasPicture = false

    /// The quantizer that refinement usually ends with: visually lossless.
    static let finestQuantizer = 14

    init(
        _ screen: any ScreenSource, configuration: CaptureConfiguration, chroma: ChromaFormat,
        onWarning: @escaping @Sendable (String) -> Void
    ) throws(CaptureError) {
        self.screen = screen
        let size = configuration.scale?.size(of: screen.size) ?? screen.size
        canvas = PictureCanvas(size, chroma: chroma)
        reader = ScreenReader(screen, into: canvas)
        do {
            encoder = try ScreenEncoder(
                X264Configuration(
                    size: size, framesPerSecond: configuration.framesPerSecond, rate: .quantizerEachPicture,
                    preset: configuration.preset, chroma: chroma),
                onWarning: onWarning)
        } catch {
            throw .encoder(error)
        }
        quality = QualityMap(grid: MacroblockGrid(size: encoder.configuration.encodedSize))
        search = MotionSearch(columns: encoder.columns, rows: encoder.rows, reach: encoder.farthestMotion)
    }

    /// The size of the pictures.
    var size: PictureSize { canvas.size }
    var chroma: ChromaFormat { canvas.chroma }

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

    /// Whether something has changed that viewers don't have yet.
    var owesChanges: Bool { !owed.isEmpty }

    /// The time at which a part of the picture may be refined; nil if all of it is fine.
    var refinementDue: MonotonicTime? { isSlate ? nil : quality.refinementDue(to: finestQuantizer) }

    /// Takes what changed and encodes it. `isForced` demands a picture even if nothing has changed. `captureTime` is
    /// now, when the picture fell due; the schedule counts from it.
    func takePicture(
        at captureTime: MonotonicTime, isForced: Bool, isIDR: Bool, rate: inout RateController,
        statistics: inout CaptureStatistics
    ) throws(CaptureError) -> Outcome {
        let area = isCanvasEmpty || isSlate ? try screen.takeEverything() : try screen.takeChanges()
        if !area.isEmpty { owe(reader.affected(by: area)) }
        if owed.isEmpty && !isForced { return .nothing }
        if isIDR { quality.activateAll() } else { quality.activate(owed) }
        let kind = isIDR ? PictureKind.idr : .change
        let quantizer: Int
        switch rate.decide(kind, macroblocks: quality.activeCount, now: captureTime) {
        case .wait(let until): return .later(until)
        case .encode(let wanted): quantizer = wanted
        }
        let searches =
            !isIDR && isCanvasSent && !isSlate && chroma == .yuv420
            && search.begins(area: Self.union(owed), activeCount: quality.activeCount)
        if searches { canvas.keepPicture(before: owed) } else { canvas.changed(owed) }
        isCanvasSent = false
        guard try read(owed, since: captureTime, &statistics) else { return .nothing }
        var motion: PictureMotion?
        if searches {
            let wasMoving = search.isMoving
            motion = findMotion(&statistics)
            var attempts = wasMoving ? Self.mostAttempts : 0
            while attempts > 0, looksTorn(motion), screen.hasChangedMeanwhile() {
                attempts -= 1
                guard try takeRestOfTornPicture(&statistics) else { return .nothing }
                motion = findMotion(&statistics)
            }
        }
        isCanvasEmpty = false
        isSlate = false
        isCanvasSent = true
        damagedPixels = owed.reduce(0) { $0 + $1.width * $1.height }
        let damage = Self.union(owed)
        owed.removeAll(keepingCapacity: true)
        return .picture(
            try encode(kind, quantizer, isIDR: isIDR, damage: damage, motion: motion, captureTime, &rate, &statistics))
    }

    /// Takes what was drawn during a grab as well, because the picture is torn.
    ///
    /// The screen is handed out in bands. If it was drawn on between two of them, the picture is neither the previous
    /// one nor the next, but a piece of each, and its content has not moved by one offset.
    private func takeRestOfTornPicture(_ statistics: inout CaptureStatistics) throws(CaptureError) -> Bool {
        let begin = MonotonicTime.now()
        let parts = reader.affected(by: try screen.takeChanges())
        if parts.isEmpty { return true }
        owe(parts)
        quality.activate(owed)
        canvas.changed(parts)
        return try read(parts, since: begin, &statistics)
    }

    private func looksTorn(_ motion: PictureMotion?) -> Bool {
        guard let motion else { return true }
        return motion.codedCount * Self.usualMoved > quality.activeCount
    }

    /// While a page keeps moving, more than one in this many macroblocks has new content only if the picture is torn or
    /// moves fast.
    private static let usualMoved = 16
    /// The most attempts at a torn picture: a program that draws in pieces may need more than one.
    private static let mostAttempts = 3

    /// Reads `parts` into the canvas; returns false if the screen refused to hand out pixels.
    private func read(
        _ parts: [PixelRectangle], since begin: MonotonicTime, _ statistics: inout CaptureStatistics
    ) throws(CaptureError) -> Bool {
        var converting = Interval.zero
        if try !reader.read(parts, converting: &converting) { return false }
        statistics.add(converting, to: \.convertNanoseconds)
        statistics.add(MonotonicTime.now() - begin - converting, to: \.grabNanoseconds)
        return true
    }

    private func findMotion(_ statistics: inout CaptureStatistics) -> PictureMotion? {
        guard let previous = canvas.previous else { return nil }
        let begin = MonotonicTime.now()
        defer { statistics.add(MonotonicTime.now() - begin, to: \.encodeNanoseconds) }
        return search.find(
            in: canvas.planes, from: previous, area: Self.union(owed), active: quality.active,
            activeCount: quality.activeCount)
    }

    private static func union(_ parts: [PixelRectangle]) -> PixelRectangle {
        parts.reduce(PixelRectangle(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }
    }

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
        while encoder.hasBands, count > 1, !encoder.usesBands(activity(for: .refinement, target)) {
            count = quality.dropHalf()
        }
        // The allowance has already shown that there is room; this call is for the log.
        _ = rate.decide(.refinement, macroblocks: count, now: now)
        let none = PixelRectangle(x: 0, y: 0, width: 0, height: 0)
        return .picture(
            try encode(.refinement, target, isIDR: false, damage: none, now, &rate, &statistics))
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
    /// The bits that refinement of a macroblock of text costs, from a quantizer of about 28 on.
    private static let refinedMacroblockBits = 240

    /// Encodes a picture in which nothing changes, for players that need one, and so that the stream isn't silent for
    /// too long.
    func takeStill(at now: MonotonicTime, rate: inout RateController, statistics: inout CaptureStatistics)
        throws(CaptureError) -> Picture
    {
        quality.activate([])
        let none = PixelRectangle(x: 0, y: 0, width: 0, height: 0)
        return try encode(.change, Self.finestQuantizer, isIDR: false, damage: none, now, &rate, &statistics)
    }

    /// Shows `words` in place of the screen, in an IDR picture, so that no viewer who joins later sees what was there
    /// before.
    func takeSlate(
        _ words: String, at now: MonotonicTime, rate: inout RateController, statistics: inout CaptureStatistics
    ) throws(CaptureError) -> Picture {
        isSlate = true
        isCanvasSent = false
        owed.removeAll(keepingCapacity: true)
        let size = size
        canvas.drawGrey { luma, stride in Slate.draw(words, luma: luma, stride: stride, size: size) }
        quality.activateAll()
        let whole = PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)
        return try encode(.idr, Self.slateQuantizer, isIDR: true, damage: whole, now, &rate, &statistics)
    }

    /// Fine enough for large letters on plain grey, and still a few kilobytes.
    private static let slateQuantizer = 22

    private func owe(_ parts: [PixelRectangle]) {
        owed = owed.isEmpty ? parts : DamagedArea(owed + parts, in: canvas.size).rectangles
    }

    private func encode(
        _ kind: PictureKind, _ wanted: Int, isIDR: Bool, damage: PixelRectangle, motion: PictureMotion? = nil,
        _ captureTime: MonotonicTime, _ rate: inout RateController, _ statistics: inout CaptureStatistics
    ) throws(CaptureError) -> Picture {
        let begin = MonotonicTime.now()
        if let motion, encoder.moves(motion) {
            return try move(motion, wanted, damage: damage, captureTime, begin, &rate, &statistics)
        }
        let time = MediaTime(ticks: MediaTime.ticks(in: captureTime - start))
        var quantizer = wanted
        do throws(X264Error) {
            var activity = activity(for: kind, quantizer)
            if !isIDR, activity.protectsRest, !encoder.usesBands(activity) {
                // Without bands, one slice covers the whole picture, and codes coarse macroblocks that are not due as
                // well.
                if kind == .refinement {
                    // This happens only if there are no bands at all, because the picture is small.
                    quality.activateAll()
                } else {
                    // Make the picture as coarse as they are, up to a point; beyond it, paying for them is better than
                    // mush.
                    quantizer = min(max(quantizer, quality.coarsestOutsideActive), quantizer + Self.mostConcession)
                }
                activity = self.activity(for: kind, quantizer)
            }
            let encoded = try encoder.encode(
                canvas.planes, activity, quantizer: quantizer, isIDR: isIDR, time: time)
            let now = MonotonicTime.now()
            rate.coded(
                kind, macroblocks: quality.activeCount, quantizer: quantizer, byteCount: encoded.byteCount, now: now)
            if encoded.isIDR { quality.activateAll() }
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
        do throws(X264Error) {
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
}

extension PicturePipeline {
    private func activity(for kind: PictureKind, _ quantizer: Int) -> ScreenEncoder.Activity {
        ScreenEncoder.Activity(
            isActive: quality.active, count: quality.activeCount,
            protectsRest: quality.hasCoarserOutsideActive(than: quantizer), prefersBands: kind == .refinement)
    }
}

extension CaptureStatistics {
    fileprivate mutating func add(_ picture: EncodedPicture, _ time: Interval) {
        add(time, to: \.encodeNanoseconds)
        pictures &+= 1
        if picture.isIDR { idrPictures &+= 1 }
    }

    mutating func add(_ time: Interval, to field: WritableKeyPath<CaptureStatistics, UInt64>) {
        self[keyPath: field] &+= UInt64(max(0, time.nanoseconds))
    }
}
