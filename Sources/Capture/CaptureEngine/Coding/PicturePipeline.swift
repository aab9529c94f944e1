import CaptureLink
import Clocks
import MediaTypes
import RateControl
import VideoEncoding

/// Grabs the screen, converts it and encodes it, for one size of the screen and one chroma format.
///
/// If the size or the format changes, a new pipeline is needed.
final class PicturePipeline {
    let coder: PictureCoder
    private let account: PictureAccount
    private let screen: any ScreenSource
    private let canvas: PictureCanvas
    private let hasBars: Bool
    private let reader: ScreenReader
    private var search: MotionSearch
    private var memory: PictureMemory
    private var content = CanvasContent.nothing
    /// Changed parts of the picture that viewers don't have yet, and that the display won't report again.
    private var owed = DamagedArea()
    /// The quantizer of the last change.
    private var lastQP = 28
    /// The number of pixels that had changed in the last picture that showed a change.
    private(set) var damagedPixels = 0

    /// The content of the canvas. Everything is read after `nothing` and `slate`, otherwise only the owed area. Only a
    /// picture after `sent` can be compared with the previous one.
    private enum CanvasContent {
        case nothing
        /// Words instead of the screen.
        case slate
        /// The screen, partly newer than viewers were sent: the screen refused to hand out the rest of its pixels, or a
        /// picture left out a video.
        case ahead
        /// The screen as viewers were last sent it.
        case sent
    }

    init(
        _ screen: any ScreenSource, configuration: CaptureConfiguration, chroma: ChromaFormat, account: PictureAccount,
        onWarning: @escaping @Sendable (String) -> Void
    ) throws(CaptureError) {
        self.screen = screen
        self.account = account
        let size = configuration.scale?.size(of: screen.size) ?? screen.size
        let content = Self.content(of: screen, configuration)
        hasBars = content.size != size
        canvas = PictureCanvas(size, chroma: chroma)
        reader = ScreenReader(screen, into: canvas, at: content)
        coder = try PictureCoder(canvas, configuration, account: account, onWarning: onWarning)
        let grid = coder.quality.grid
        search = MotionSearch(columns: grid.columns, rows: grid.rows, reach: coder.encoder.maxVector)
        memory = PictureMemory(columns: grid.columns, rows: grid.rows, places: coder.encoder.keptPictures)
    }

    /// The part of the pictures that shows the screen.
    static func content(of screen: any ScreenSource, _ configuration: CaptureConfiguration) -> PixelRectangle {
        configuration.scale?.content(of: screen.size) ?? screen.size.whole
    }

    /// The size of the pictures.
    var size: PictureSize { canvas.size }

    /// Whether something has changed that viewers don't have yet.
    var owesChanges: Bool { !owed.isEmpty }

    /// The time at which a part of the picture may be refined; nil if no part needs refinement.
    var refinementDue: MonotonicTime? { content == .slate ? nil : coder.refinementDue }

    /// Reads and encodes the changes. `isForced` demands a picture even if nothing has changed. `captureTime` is the
    /// time now, at which the picture fell due; the schedule counts from it.
    func takePicture(
        at captureTime: MonotonicTime, isForced: Bool, isKeyFrame: Bool
    ) throws(CaptureError) -> PictureCoder.Outcome {
        let area =
            switch content {
            case .nothing, .slate: try screen.fullDamage()
            case .ahead, .sent: try screen.fetchDamage()
            }
        if !area.isEmpty { owe(reader.affected(by: area)) }
        if owed.isEmpty && !isForced { return .nothing }
        if isKeyFrame { coder.quality.selectAll() } else { coder.quality.select(owed.rectangles) }
        if !isKeyFrame, content == .sent, coder.separateFromVideo(owed.rectangles, at: captureTime) {
            return try takeBesideVideo(at: captureTime)
        }
        let kind = isKeyFrame ? PictureKind.keyFrame : .change
        if coder.quality.selectedCount > 0 {
            let start = account.rate.start(kind, now: captureTime)
            if start > captureTime { return .later(start) }
        }
        return try takeOwed(kind, isForced: isForced, at: captureTime)
    }

    /// Reads the owed area, compares it with the previous picture, and encodes it unless nothing has changed.
    private func takeOwed(
        _ kind: PictureKind, isForced: Bool, at captureTime: MonotonicTime
    ) throws(CaptureError) -> PictureCoder.Outcome {
        if content == .slate, hasBars { canvas.drawBlack() }
        let isSmall = coder.quality.selectedCount < MotionSearch.minMacroblocks
        let isComparable = kind != .keyFrame && content == .sent
        let compares = isComparable && canvas.chroma == .yuv420 && !isSmall
        if compares { canvas.keepPicture(before: owed.rectangles) } else { canvas.changed(owed.rectangles) }
        let kept = isComparable && !isForced && (compares || isSmall) ? owed : DamagedArea()
        if !compares { canvas.keepSamples(of: kept.rectangles) }
        // If the screen refuses its pixels half-way, the next picture starts from there.
        if content == .sent { content = .ahead }
        guard try readOwed(isKeyFrame: kind == .keyFrame, since: captureTime) else { return .nothing }
        if !kept.isEmpty, owed == kept, canvas.isUnchanged(in: kept.rectangles, sincePrevious: compares) {
            content = .sent
            owed = DamagedArea()
            account.rate.cancel()
            return .unchanged
        }
        let motion = compares ? try findMotion(at: captureTime) : nil
        let decision = coder.decide(kind, motion, at: captureTime)
        lastQP = decision.qp
        content = .sent
        damagedPixels = owed.rectangles.reduce(0) { $0 + $1.width * $1.height }
        let damage = owed.bounds
        owed = DamagedArea()
        let picture = try coder.encode(decision, damage: damage, motion: motion, at: captureTime)
        forgetMemory(after: picture)
        return .picture(picture)
    }

    /// Forgets the kept pictures if `picture` is a key frame, which clears viewers' memory as well.
    private func forgetMemory(after picture: PictureCoder.Picture) {
        if picture.encoded.isRandomAccess { memory.removeAll() }
    }

    /// Takes a picture of the changes beside a video. The video is still owed, and its picture follows at once, because
    /// the canvas no longer holds the picture that viewers have.
    private func takeBesideVideo(at captureTime: MonotonicTime) throws(CaptureError) -> PictureCoder.Outcome {
        let start = account.rate.start(.change, now: captureTime)
        if start > captureTime { return .later(start) }
        let beside = DamagedArea(owed.rectangles.filter { coder.quality.count(in: $0).selected > 0 }, in: canvas.size)
        canvas.changed(beside.rectangles)
        content = .ahead
        guard try read(beside, since: captureTime) else { return .nothing }
        damagedPixels = beside.rectangles.reduce(0) { $0 + $1.width * $1.height }
        owed = DamagedArea(owed.rectangles.filter { coder.quality.count(in: $0).unselected > 0 }, in: canvas.size)
        let decision = coder.decide(.change, nil, isApart: true, at: captureTime)
        let picture = try coder.encode(decision, damage: beside.bounds, isApart: true, at: captureTime)
        forgetMemory(after: picture)
        return .picture(picture)
    }

    /// Reads the owed area into the canvas, and areas that are painted meanwhile: without them, the picture would be
    /// torn. Returns false if the screen refused to hand out pixels.
    private func readOwed(isKeyFrame: Bool, since begin: MonotonicTime) throws(CaptureError) -> Bool {
        var begin = begin
        for look in 1... {
            guard try read(owed, since: begin) else { return false }
            if !screen.hasPendingDamage || look == Self.maxLooks { break }
            begin = .now()
            let more = reader.affected(by: try screen.fetchDamage())
            // The painted area is outside the captured one.
            if more.isEmpty { break }
            let before = owed.rectangles
            owe(more)
            if !isKeyFrame { coder.quality.select(owed.rectangles) }
            canvas.changed(owed.rectangles.filter { !before.contains($0) })
        }
        return true
    }

    /// A program that paints without a pause would keep the picture from being coded.
    private static let maxLooks = 3

    /// Reads `area` into the canvas; returns false if the screen refused to hand out pixels.
    private func read(_ area: DamagedArea, since begin: MonotonicTime) throws(CaptureError) -> Bool {
        var converting = Interval.zero
        if try !reader.read(area, converting: &converting) { return false }
        account.count(converting, in: \.convertNanoseconds)
        account.count(MonotonicTime.now() - begin - converting, in: \.grabNanoseconds)
        return true
    }

    /// Compares the area that was read with the previous picture, or with an earlier one if the screen has returned to
    /// it; nil if there is none.
    private func findMotion(at now: MonotonicTime) throws(CaptureError) -> GlobalMotion? {
        guard let previous = canvas.previous else { return nil }
        let begin = MonotonicTime.now()
        defer { account.count(MonotonicTime.now() - begin, in: \.encodeNanoseconds) }
        var motion = search.find(
            in: canvas.planes, from: previous, area: owed.bounds, selection: coder.quality.selection
        ) { [lastQP, account] left, changed in
            account.rate.expectedBytes(macroblocks: left, qp: lastQP, isMoved: true)
                < account.rate.expectedBytes(macroblocks: changed, qp: lastQP, isMoved: false)
        }
        if let change = memory.referenceSwitch(to: canvas.planes, from: previous, motion, coder.quality.qps, at: now),
            let recalled = try coder.switchReference(change, at: now)
        {
            return recalled
        }
        coder.sharpen(&motion, at: now)
        return motion
    }

    /// Encodes a picture in which nothing changes, for players that need one, and so that the stream isn't silent for
    /// too long.
    func takeStill(at now: MonotonicTime) throws(CaptureError) -> PictureCoder.Picture {
        coder.quality.select([])
        let decision = account.rate.given(.change, macroblocks: 0, qp: PictureCoder.minQP)
        return try coder.encode(decision, at: now)
    }

    /// Shows `words` instead of the screen, in a key frame, so that viewers who join later don't see the earlier
    /// screen.
    func takeSlate(_ words: String, at now: MonotonicTime) throws(CaptureError) -> PictureCoder.Picture {
        content = .slate
        owed = DamagedArea()
        let size = size
        canvas.drawGrey { luma, stride in Slate.draw(words, luma: luma, stride: stride, size: size) }
        coder.quality.selectAll()
        let decision = account.rate.given(
            .keyFrame, macroblocks: coder.quality.selectedCount, qp: Self.slateQP)
        let picture = try coder.encode(decision, damage: size.whole, at: now)
        forgetMemory(after: picture)
        return picture
    }

    /// Fine enough for large letters on plain grey, while the picture still takes only a few kilobytes.
    private static let slateQP = 22

    private func owe(_ area: DamagedArea) {
        let all = owed.isEmpty ? area : DamagedArea(owed.rectangles + area.rectangles, in: canvas.size)
        // What is written is sent: otherwise it would look unchanged when the screen reports it.
        owed = reader.written(by: all)
    }
}
