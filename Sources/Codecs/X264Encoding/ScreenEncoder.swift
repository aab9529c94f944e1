import Glibc
import H264
public import MediaTypes
public import VideoEncoding

/// Encodes a screen, most of which usually doesn't change. Unchanged parts cost almost nothing.
///
/// x264 takes about 190 ns for each macroblock of a picture even if it is told that nothing has changed: 1.55 ms at
/// 1920x1080. To avoid this, a picture is assembled from slices. If little changes, only bands of a few macroblock rows
/// are encoded by x264, with an encoder that is one band high, and the rest is covered by skipped slices that
/// `SliceRewriter` writes. If much changes, one encoder for the whole picture encodes it as one slice, or a large one
/// as strips, which take less memory (`StripEncoder`). A picture without changes needs no encoder, and neither does one
/// that is the previous picture moved: `GlobalMotionEncoder` writes that.
///
/// All of them share one reference picture, which belongs to what encodes whole pictures. Before a band is encoded, its
/// surroundings are copied from there into the band encoder's reference, and afterwards its reconstruction is copied
/// back. `GlobalMotionEncoder` moves samples within it, and `KeptPictures` replaces it when the screen shows again what
/// it showed before.
///
/// Not thread-safe: use it from one thread at a time.
public final class ScreenEncoder: PictureEncoder {
    private let columns: Int
    private let rows: Int

    // One of these encodes whole pictures.
    private let whole: X264Encoder?
    private let strips: StripEncoder?
    private let sequenceParameterSet: [UInt8]
    private let pictureParameterSet: [UInt8]
    private let band: BandEncoder?
    private let covered: CoveredRows
    private let editing: SliceRewriter?
    private let moving: GlobalMotionEncoder?
    private let kept: KeptPictures
    // The switch before the next picture: the place in which the previous one is kept, and the one to go on from.
    private var pendingSwitch: (kept: Int?, recalled: Int?)?
    private var frameNumber: UInt32 = 0
    // The frame number of the whole picture's encoder, which isn't aware of pictures that were encoded in other ways.
    private var wholeFrameNumber: UInt32 = 0
    private var hasIDR = false
    private var idrPictureID: UInt32 = 0
    // 1 for each macroblock to skip.
    private let skipped: UnsafeMutablePointer<UInt8>
    private var assembly = SliceAssembly()
    private var bandUse: BandUse
    private var range = SearchRange()
    private var searched = SearchRange.far

    /// Opens the encoders. `configuration` must use `qpEachPicture`.
    ///
    /// `onWarning` receives x264's warnings and errors, one line each, on the calling thread.
    ///
    /// - Throws: ``VideoEncodingError`` if libx264 refuses the configuration.
    public init(
        _ configuration: X264Configuration, onWarning: (@Sendable (String) -> Void)? = nil
    ) throws(VideoEncodingError) {
        var own = configuration
        own.referenceFrames = 1 + KeptPictures.count(configuration)
        // The parameter sets of strips are those of the whole.
        let first = try X264Encoder(own, onWarning: onWarning)
        sequenceParameterSet = first.sequenceParameterSet
        pictureParameterSet = first.pictureParameterSet
        columns = (configuration.encodedSize.width + 15) / 16
        rows = (configuration.encodedSize.height + 15) / 16
        bandUse = BandUse(columns: columns, rows: rows)
        skipped = .allocate(capacity: columns * rows)
        skipped.initialize(repeating: 0, count: columns * rows)
        let sets = try? (
            SequenceParameterSet(nalUnit: sequenceParameterSet[...]),
            PictureParameterSet(nalUnit: pictureParameterSet[...])
        )
        editing = sets.flatMap { SliceRewriter($0.0, $0.1) }
        kept = KeptPictures(first.configuration)
        covered = CoveredRows(width: columns * 16)
        let hasBands = rows >= 2 * BandEncoder.rows && editing != nil
        band =
            hasBands
            ? try BandEncoder(
                configuration, pictureParameterSet: pictureParameterSet, covered: covered, onWarning: onWarning) : nil
        strips =
            hasBands && columns * rows > configuration.maxMacroblocksAtOnce
            ? try StripEncoder(
                configuration, rows: rows, pictureParameterSet: pictureParameterSet, covered: covered,
                onWarning: onWarning) : nil
        whole = strips == nil ? first : nil
        let (columns, rows) = (columns, rows)
        moving = sets.flatMap { GlobalMotionEncoder($0.0, $0.1, columns: columns, rows: rows) }
        try band?.makeReference()
    }

    deinit {
        skipped.deallocate()
    }

    /// The previous picture as viewers see it; nil before the first.
    var reference: ReconstructedPicture? { hasIDR ? whole?.reconstruction ?? strips?.reference : nil }

    /// False for a screen that is only a few bands high.
    public var hasBands: Bool { band != nil }

    public func usesBands(_ mask: borrowing CodingMask) -> Bool {
        guard band != nil, hasIDR, mask.isSelected.count >= columns * rows else { return false }
        return bandUse.suits(mask)
    }

    public var maxVector: Int { moving?.farthest ?? 0 }

    public func canEncode(_ motion: borrowing GlobalMotion) -> Bool {
        guard let moving, hasIDR, pendingSwitch == nil, motion.states.count == columns * rows else { return false }
        return moving.reaches(motion)
    }

    public var keptPictures: Int { editing == nil ? 0 : kept.count }

    public func switchReference(keeping place: Int?, recalling recalled: Int?) throws(VideoEncodingError) {
        guard hasIDR, pendingSwitch == nil, keptPictures > 0, let reference else {
            throw .notEncoded(reason: "a switch of the reference without a picture before it")
        }
        try kept.switchReference(keeping: place, recalling: recalled, reference)
        pendingSwitch = (place, recalled)
    }

    /// Begins a P picture in the stream that decoders get.
    private func beginPicture(_ editing: SliceRewriter) {
        frameNumber = editing.frameNumber(after: frameNumber)
        editing.references = kept.next(keeping: pendingSwitch?.kept, recalling: pendingSwitch?.recalled)
        pendingSwitch = nil
        assembly.removeAll()
    }

    /// The result is a P picture of one slice. Throws ``VideoEncodingError`` if `canEncode` is false for `motion`.
    public func encode(
        _ planes: SourcePlanes, _ motion: inout GlobalMotion, qp: Int
    ) throws(VideoEncodingError) -> EncodedPicture {
        guard canEncode(motion), !planes.isInterleaved, let moving, let editing, let reference else {
            throw .notEncoded(reason: "a picture that can't be made by moving")
        }
        beginPicture(editing)
        moving.encode(
            planes, reference: reference, motion: &motion, qp: qp, frameNumber: frameNumber,
            to: &assembly.bytes)
        assembly.endSlice()
        return try assembly.picture()
    }

    /// A key frame is an IDR picture. Throws ``VideoEncodingError`` if libx264 gives no picture.
    public func encode(
        _ planes: SourcePlanes, _ mask: borrowing CodingMask, qp: Int, isRandomAccess: Bool,
        time: MediaTime
    ) throws(VideoEncodingError) -> EncodedPicture {
        if isRandomAccess || !hasIDR || mask.isSelected.count < columns * rows {
            return try encodeWhole(planes, nil, qp: qp, isIDR: isRandomAccess || !hasIDR, time: time)
        }
        guard usesBands(mask), let band, let editing, let reference else {
            markSkipped(mask.isSelected)
            let isText = SearchRange.isText(planes, mask.isSelected, columns: columns, rows: rows)
            try search(isText ? SearchRange.ofText : range.samples)
            let picture = try encodeWhole(planes, skipped, qp: qp, isIDR: false, time: time)
            if band != nil { bandUse.coded(mask, byteCount: picture.byteCount) }
            if !isText {
                range.coded(macroblocks: mask.count, byteCount: picture.byteCount, qp: qp)
            }
            return picture
        }
        if mask.count > 0 { markSkipped(mask.isSelected) }
        beginPicture(editing)
        var next = 0
        if mask.count > 0 {
            covered.removeAll()
            for start in bandUse.starts {
                appendSkipped(from: next, to: start, editing)
                try band.encode(
                    planes, reference: reference, firstRow: start, pictureRows: rows,
                    skipped: skipped + start * columns,
                    protectsSkipped: mask.protectsRest, qp: qp, time: time)
                try append(band.nalUnit, from: band.editing, firstRow: start, editing)
                next = start + BandEncoder.rows
            }
        }
        appendSkipped(from: next, to: rows, editing)
        let picture = try assembly.picture()
        bandUse.coded(mask, byteCount: picture.byteCount)
        return picture
    }

    private func search(_ samples: Int) throws(VideoEncodingError) {
        if samples == searched { return }
        searched = samples
        try whole?.reconfigure(searchRange: samples)
        try strips?.reconfigure(searchRange: samples)
    }

    private func markSkipped(_ isSelected: borrowing [UInt8]) {
        for index in 0..<columns * rows { skipped[index] = 1 &- min(1, isSelected[index]) }
    }

    private func appendSkipped(from start: Int, to end: Int, _ editing: SliceRewriter) {
        if end <= start { return }
        editing.appendSkipped(
            firstMacroblock: start * columns, count: (end - start) * columns, frameNumber: frameNumber,
            to: &assembly.bytes)
        assembly.endSlice()
    }

    /// Appends one of x264's slices, moved to macroblock row `firstRow` and with this encoder's frame number.
    private func append(
        _ nalUnit: [UInt8], from origin: SliceRewriter, firstRow: Int, isIDR: Bool = false, _ editing: SliceRewriter
    ) throws(VideoEncodingError) {
        do {
            try editing.appendRelocated(
                nalUnit, from: origin, firstMacroblock: firstRow * columns, frameNumber: frameNumber,
                idrPictureID: isIDR ? idrPictureID : nil, to: &assembly.bytes)
        } catch {
            throw .notEncoded(reason: "\(error)")
        }
        assembly.endSlice()
    }

    private func encodeWhole(
        _ planes: SourcePlanes, _ skipped: UnsafeMutablePointer<UInt8>?, qp: Int, isIDR: Bool, time: MediaTime
    ) throws(VideoEncodingError) -> EncodedPicture {
        if let strips, let editing {
            return try encode(planes, skipped, in: strips, editing, qp: qp, isIDR: isIDR, time: time)
        }
        guard let whole else { throw .notEncoded(reason: "no encoder") }
        let request = X264Encoder.Request(isIDR: isIDR, qp: qp, skipped: skipped)
        let picture = try whole.encode(planes, request, time: time)
        if picture.isRandomAccess {
            beginIDRPicture()
            return picture
        }
        guard let editing else { return picture }
        beginPicture(editing)
        wholeFrameNumber = editing.frameNumber(after: wholeFrameNumber)
        let isRight = frameNumber == wholeFrameNumber && editing.references == SliceReferences()
        return isRight ? picture : try renumber(picture, editing)
    }

    /// Begins an IDR picture in the stream that decoders get.
    private func beginIDRPicture() {
        hasIDR = true
        kept.clear()
        pendingSwitch = nil
        frameNumber = 0
        wholeFrameNumber = 0
        assembly.removeAll()
    }

    private func encode(
        _ planes: SourcePlanes, _ skipped: UnsafeMutablePointer<UInt8>?, in strips: StripEncoder,
        _ editing: SliceRewriter, qp: Int, isIDR: Bool, time: MediaTime
    ) throws(VideoEncodingError) -> EncodedPicture {
        if isIDR {
            beginIDRPicture()
            // Two IDR pictures in a row must differ in it (section 7.4.3).
            idrPictureID ^= 1
            assembly.append(sequenceParameterSet)
            assembly.append(pictureParameterSet)
        } else {
            beginPicture(editing)
        }
        try strips.encode(planes, skipped: isIDR ? nil : skipped, columns: columns, qp: qp, time: time) {
            first, rows, encoder throws(VideoEncodingError) in
            if let encoder {
                try append(encoder.nalUnit, from: encoder.editing, firstRow: first, isIDR: isIDR, editing)
            } else {
                appendSkipped(from: first, to: first + rows, editing)
            }
        }
        return try assembly.picture(isIDR: isIDR)
    }

    /// The picture with this encoder's frame number, which differs from x264's after pictures in bands or by moving,
    /// and with what it refers to.
    private func renumber(_ picture: EncodedPicture, _ editing: SliceRewriter) throws(VideoEncodingError)
        -> EncodedPicture
    {
        for unit in picture {
            let prefix = Array(unit.prefix(SliceRewriter.prefixCount))
            if let edited = editing.prefix(prefix, withFrameNumber: frameNumber) {
                // This writes into x264's own buffer, which is ours until the next call.
                let target = UnsafeMutableBufferPointer(mutating: unit)
                for (index, byte) in edited.enumerated() { target[index] = byte }
                continue
            }
            try append(Array(unit), from: editing, firstRow: 0, editing)
        }
        // A whole picture has one slice, so it was edited either in place or by copying.
        return assembly.isEmpty ? picture : try assembly.picture()
    }
}
