import Glibc
import H264
public import MediaTypes

/// Encodes a screen of which mostly little changes: what doesn't change costs next to nothing.
///
/// The library takes about 190 ns for each macroblock of a picture even where it is told that nothing has changed: 1.3 ms at
/// 1920x1080. So a picture is put together of slices. Where little changes, only bands of a few macroblock rows are given to
/// the library, by an encoder as high as one band, and the rest is covered by slices of our own that say "as before". Where
/// much changes, one encoder of the whole picture makes one slice of it. A picture in which nothing changes needs no encoder,
/// and neither does one that is the picture before, moved: `MovedPictureCoder` makes those.
///
/// All share one reference picture, which lies in the whole picture's encoder: a band's surroundings are copied from there
/// into the band encoder's reference before, and its reconstruction is copied back after; what moves, moves in there.
///
/// Not thread-safe: one thread at a time.
public final class ScreenEncoder {
    /// What it was made with.
    public let configuration: X264Configuration
    /// Columns and rows of macroblocks.
    public let columns: Int
    public let rows: Int
    /// The sequence and the picture parameter set, without start codes.
    public var sequenceParameterSet: [UInt8] { whole.sequenceParameterSet }
    public var pictureParameterSet: [UInt8] { whole.pictureParameterSet }

    fileprivate let whole: X264Encoder
    private let band: BandEncoder?
    private let editing: SliceEditing?
    private let moving: MovedPictureCoder?
    private var frameNumber: UInt32 = 0
    // What the library would give its next slice of the whole picture, and what it believes to be its last.
    private var wholeFrameNumber: UInt32 = 0
    private var hasIDR = false
    private var placement = BandPlacement(height: BandEncoder.rows)
    // 1 for each macroblock that is to be skipped.
    private let skipped: UnsafeMutablePointer<UInt8>
    private let list = NALUnitList(capacity: 256)
    private var bytes: [UInt8] = []
    private var ranges: [Range<Int>] = []

    private var choice = BandChoice()
    private var range = SearchRange()

    /// Above this part of the rows (in hundredths) one slice of the whole picture is as cheap.
    private static let mostBandRows = 75
    /// So many bands are always better than the whole.
    private static let fewBands = 2

    /// Opens the encoders. `configuration` must have `quantizerEachPicture`.
    ///
    /// `onWarning` gets the library's warnings and errors, one line each, on the calling thread.
    public init(
        _ configuration: X264Configuration, onWarning: (@Sendable (String) -> Void)? = nil
    ) throws(X264Error) {
        self.configuration = configuration
        whole = try X264Encoder(configuration, onWarning: onWarning)
        columns = (configuration.encodedSize.width + 15) / 16
        rows = (configuration.encodedSize.height + 15) / 16
        skipped = .allocate(capacity: columns * rows)
        skipped.initialize(repeating: 0, count: columns * rows)
        let sets = try? (
            SequenceParameterSet(nalUnit: whole.sequenceParameterSet[...]),
            PictureParameterSet(nalUnit: whole.pictureParameterSet[...])
        )
        editing = sets.flatMap { SliceEditing($0.0, $0.1) }
        // Sub-sample motion needs planes that the library makes for itself; `ultrafast` alone does without.
        let hasBands = configuration.preset == .ultrafast && rows >= 2 * BandEncoder.rows && editing != nil
        band = hasBands ? try BandEncoder(configuration, like: whole, onWarning: onWarning) : nil
        let isUltrafast = configuration.preset == .ultrafast
        let (columns, rows) = (columns, rows)
        moving = isUltrafast ? sets.flatMap { MovedPictureCoder($0.0, $0.1, columns: columns, rows: rows) } : nil
        bytes.reserveCapacity(1 << 16)
        ranges.reserveCapacity(64)
    }

    deinit {
        skipped.deallocate()
    }

    /// Which macroblocks are coded.
    public struct Activity {
        /// For each macroblock, row by row, 0 where it is to stay as viewers have it.
        public var isActive: [UInt8]
        /// How many are to be coded.
        public var count: Int
        /// Whether some of those that stay are coarser than this picture's quantizer: the library would code them again if
        /// it saw how they should look.
        public var protectsRest: Bool
        /// Whether bands are better even where much is coded: nothing moves.
        public var prefersBands: Bool

        /// Macroblocks to code.
        public init(isActive: [UInt8], count: Int, protectsRest: Bool, prefersBands: Bool = false) {
            self.isActive = isActive
            self.count = count
            self.protectsRest = protectsRest
            self.prefersBands = prefersBands
        }
    }

    /// Whether there are pictures of bands at all: not of screens that are only a few bands high.
    public var hasBands: Bool { band != nil }

    /// Whether a picture of this activity is made of bands. Where not, and `protectsRest` holds, the quantizer must not be
    /// finer than that of the rest.
    public func usesBands(_ activity: borrowing Activity) -> Bool {
        guard band != nil, hasIDR, activity.isActive.count >= columns * rows else { return false }
        if activity.count == 0 { return true }
        guard place(activity) else { return false }
        if activity.prefersBands || placement.starts.count <= Self.fewBands { return true }
        return choice.usesBands && isWorthBands
    }

    /// Whether the bands that were just placed leave enough of the picture out.
    private var isWorthBands: Bool { placement.starts.count * BandEncoder.rows * 100 <= rows * Self.mostBandRows }

    /// How far away what moves may have been, in samples; 0 where nothing can be made by moving at all.
    public var farthestMotion: Int { moving?.farthest ?? 0 }

    /// Whether a picture with this motion can be made by moving; where not, it is made as if nothing were known of it.
    public func moves(_ motion: borrowing PictureMotion) -> Bool {
        guard let moving, hasIDR, motion.states.count == columns * rows else { return false }
        return moving.reaches(motion)
    }

    /// Encodes a P picture of what `motion` says of each macroblock, and says in it where chroma came out coarser. As `encode`
    /// in all else.
    public func encode(
        _ planes: SourcePlanes, _ motion: inout PictureMotion, quantizer: Int
    ) throws(X264Error) -> EncodedPicture {
        guard moves(motion), !planes.isInterleaved, let moving, let editing, let reference = whole.reconstruction else {
            throw .notEncoded(reason: "a picture that can't be made by moving")
        }
        frameNumber = editing.frameNumber(after: frameNumber)
        bytes.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
        moving.encode(
            planes, reference: reference, motion: &motion, quantizer: quantizer, frameNumber: frameNumber, to: &bytes)
        ranges.append(0..<bytes.count)
        return try collect(quantizer: quantizer)
    }

    /// Encodes one picture; the planes must cover whole macroblocks (`columns` and `rows` of them) and are only read during
    /// the call. The first picture is an IDR picture, and so is one that `isIDR` asks for; those are coded as a whole.
    ///
    /// What comes back is valid until the next call.
    public func encode(
        _ planes: SourcePlanes, _ activity: borrowing Activity, quantizer: Int, isIDR: Bool, time: MediaTime
    ) throws(X264Error) -> EncodedPicture {
        if isIDR || !hasIDR || activity.isActive.count < columns * rows {
            return try encodeWhole(planes, nil, quantizer: quantizer, isIDR: isIDR || !hasIDR, time: time)
        }
        guard usesBands(activity), let band, let editing, let reference = whole.reconstruction else {
            markSkipped(activity.isActive)
            let picture = try encodeWhole(planes, skipped, quantizer: quantizer, isIDR: false, time: time)
            learn(activity, picture)
            if range.coded(macroblocks: activity.count, byteCount: picture.byteCount) {
                try whole.reconfigure(searchRange: range.samples)
            }
            return picture
        }
        if activity.count > 0 { markSkipped(activity.isActive) }
        frameNumber = editing.frameNumber(after: frameNumber)
        bytes.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
        var next = 0
        if activity.count > 0 {
            band.beginPicture()
            for start in placement.starts {
                appendSkipped(from: next, to: start, editing)
                let begin = bytes.count
                try band.encode(
                    planes, reference: reference, firstRow: start, pictureRows: rows,
                    skipped: skipped + start * columns,
                    protectsSkipped: activity.protectsRest, quantizer: quantizer, time: time)
                do {
                    try editing.appendMoved(
                        band.nalUnit, from: band.editing, firstMacroblock: start * columns, frameNumber: frameNumber,
                        to: &bytes)
                } catch {
                    throw .notEncoded(reason: "\(error)")
                }
                ranges.append(begin..<bytes.count)
                next = start + BandEncoder.rows
            }
        }
        appendSkipped(from: next, to: rows, editing)
        let picture = try collect(quantizer: quantizer)
        learn(activity, picture)
        return picture
    }

    /// Takes up what a picture cost that could have been made either way.
    private func learn(_ activity: borrowing Activity, _ picture: EncodedPicture) {
        guard band != nil, activity.count > 0, !activity.prefersBands, placement.starts.count > Self.fewBands,
            isWorthBands
        else { return }
        choice.coded(macroblocks: activity.count, byteCount: picture.byteCount)
    }

    private func place(_ activity: borrowing Activity) -> Bool {
        activity.isActive.withUnsafeBufferPointer { active in
            placement.cover(rows: rows) { row in
                guard let base = active.baseAddress else { return false }
                return memchr(base + row * columns, 1, columns) != nil
            }
        }
    }

    private func markSkipped(_ isActive: borrowing [UInt8]) {
        for index in 0..<columns * rows { skipped[index] = 1 &- min(1, isActive[index]) }
    }

    private func appendSkipped(from start: Int, to end: Int, _ editing: SliceEditing) {
        if end <= start { return }
        let begin = bytes.count
        editing.appendSkipped(
            firstMacroblock: start * columns, count: (end - start) * columns, frameNumber: frameNumber, to: &bytes)
        ranges.append(begin..<bytes.count)
    }

    private func encodeWhole(
        _ planes: SourcePlanes, _ skipped: UnsafeMutablePointer<UInt8>?, quantizer: Int, isIDR: Bool, time: MediaTime
    ) throws(X264Error) -> EncodedPicture {
        let request = X264Encoder.Request(isIDR: isIDR, quantizer: quantizer, skipped: skipped)
        let picture = try whole.encode(planes, request, time: time)
        if picture.isIDR {
            hasIDR = true
            frameNumber = 0
            wholeFrameNumber = 0
            return picture
        }
        guard let editing else { return picture }
        frameNumber = editing.frameNumber(after: frameNumber)
        wholeFrameNumber = editing.frameNumber(after: wholeFrameNumber)
        return frameNumber == wholeFrameNumber ? picture : try renumber(picture, editing)
    }

    /// The same picture with our own frame number, as pictures of bands came between.
    private func renumber(_ picture: EncodedPicture, _ editing: SliceEditing) throws(X264Error) -> EncodedPicture {
        bytes.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
        for unit in picture {
            let prefix = Array(unit.bytes.prefix(SliceEditing.prefixCount))
            if let edited = editing.prefix(prefix, withFrameNumber: frameNumber) {
                // In the library's own buffer, which is ours until the next call.
                let target = UnsafeMutableBufferPointer(mutating: unit.bytes)
                for (index, byte) in edited.enumerated() { target[index] = byte }
                continue
            }
            let begin = bytes.count
            do {
                try editing.appendMoved(
                    Array(unit.bytes), from: editing, firstMacroblock: 0, frameNumber: frameNumber, to: &bytes)
            } catch {
                throw .notEncoded(reason: "\(error)")
            }
            ranges.append(begin..<bytes.count)
        }
        // A picture of the whole has one slice: it was edited in one way or in the other.
        return ranges.isEmpty ? picture : try collect(quantizer: picture.quantizer)
    }

    private func collect(quantizer: Int) throws(X264Error) -> EncodedPicture {
        list.removeAll()
        let isWhole = bytes.withUnsafeBufferPointer { all in
            // The array isn't touched before the next call, and its storage stays where it is until then.
            ranges.allSatisfy { range in
                let unit = UnsafeBufferPointer(rebasing: all[range])
                return list.append(EncodedNALUnit(type: (unit.first ?? 0) & 0x1F, bytes: unit))
            }
        }
        guard isWhole else { throw .notEncoded(reason: "\(ranges.count) slices in a picture") }
        return EncodedPicture(units: list.all, isIDR: false, quantizer: quantizer)
    }
}

extension ScreenEncoder {
    /// The last picture as viewers have it, planar and without margins, `width` by `height`: for tests.
    func reconstructedPicture(width: Int, height: Int) -> [UInt8] {
        guard let picture = whole.reconstruction else { return [] }
        var bytes: [UInt8] = []
        for index in 0..<picture.planeCount {
            let plane = picture.plane(index)
            let isInterleaved = plane.lumaRows == 2
            for first in 0..<(isInterleaved ? 2 : 1) {
                for row in 0..<height / plane.lumaRows {
                    for column in 0..<(isInterleaved ? width / 2 : width) {
                        bytes.append(plane.base[row * plane.stride + (isInterleaved ? 2 * column + first : column)])
                    }
                }
            }
        }
        return bytes
    }
}
