import Glibc
import H264
import MediaTypes
import VideoEncoding

/// Encodes bands of a picture with an x264 encoder that is one band high. Before each band, the matching rows of the
/// whole picture's reference, with a margin, are copied into this encoder's reference.
final class BandEncoder {
    /// The height of a band of changes in macroblock rows: low enough that few unchanged rows are encoded, and high
    /// enough that the overhead of a separate slice is small.
    static let rows = 8

    /// The height of this encoder's bands in macroblock rows.
    let rows: Int

    /// The last band's slice: a NAL unit without its start code.
    private(set) var nalUnit: [UInt8] = []
    /// The editor that reads the band encoder's slices.
    let editing: SliceRewriter

    private let encoder: X264Encoder
    private let width: Int
    private let chroma: ChromaFormat
    private let covered: CoveredRows
    // What viewers see in the band, with new pixels in the macroblocks to encode.
    private var protected: [UInt8] = []

    /// Returns nil if the slice headers of an encoder that is `rows` high would not fit into a stream with
    /// `pictureParameterSet`.
    init?(
        _ configuration: X264Configuration, rows: Int = BandEncoder.rows, pictureParameterSet: [UInt8],
        covered: CoveredRows, onWarning: (@Sendable (String) -> Void)?
    ) throws(VideoEncodingError) {
        self.rows = rows
        var own = configuration
        let columns = (configuration.encodedSize.width + 15) / 16
        width = columns * 16
        own.size = PictureSize(width: width, height: rows * 16)
        // Nothing in a band moves farther than the band is high, except sideways.
        own.maxVector = rows * 16
        chroma = configuration.chroma
        self.covered = covered
        encoder = try X264Encoder(own, onWarning: onWarning)
        guard encoder.pictureParameterSet == pictureParameterSet,
            let sequence = try? SequenceParameterSet(nalUnit: encoder.sequenceParameterSet[...]),
            let picture = try? PictureParameterSet(nalUnit: encoder.pictureParameterSet[...]),
            let editing = SliceRewriter(sequence, picture)
        else { return nil }
        self.editing = editing
        nalUnit.reserveCapacity(1 << 14)
    }

    /// Encodes a grey picture and throws it away: x264 has a reference picture only after its first picture. Needed
    /// unless the first picture is an IDR picture.
    func makeReference() throws(VideoEncodingError) {
        let grey = [UInt8](repeating: 128, count: width * rows * 16)
        try grey.withUnsafeBufferPointer { bytes throws(VideoEncodingError) in
            guard let base = bytes.baseAddress else { return }
            let planes = SourcePlanes(
                luma: base, blueDifference: base, redDifference: base, lumaStride: width, chromaStride: width)
            _ = try encoder.encode(planes, X264Encoder.Request(isIDR: true, qp: 40), time: MediaTime(ticks: 0))
        }
    }

    /// Encodes the band that begins at macroblock row `firstRow` of `pictureRows` into `nalUnit`, and copies the
    /// reconstruction into `reference`, the whole picture as viewers see it. The bands of a picture must follow from
    /// top to bottom, after `removeAll` of the covered rows.
    ///
    /// - Parameters:
    ///   - planes: The whole source picture.
    ///   - skipped: 1 for each macroblock of the band that is to be left unchanged; nil for a band of an IDR picture.
    ///   - protectsSkipped: Whether viewers have some of the whole picture's skipped macroblocks coarser than
    ///     `qp`. If so, x264 gets what viewers see in the skipped macroblocks instead of the source, which it
    ///     would encode again.
    func encode(
        _ planes: SourcePlanes, reference: ReconstructedPicture, firstRow: Int, pictureRows: Int,
        skipped: UnsafeMutablePointer<UInt8>?, protectsSkipped: Bool, qp: Int, time: MediaTime
    ) throws(VideoEncodingError) {
        let margin = ReconstructedPicture.margin
        let top = firstRow * 16
        let height = rows * 16
        if skipped != nil {
            guard let own = encoder.reconstruction else { throw .notEncoded(reason: "a band without a reference") }
            own.copyRows(-margin, count: height + 2 * margin, width: width, from: reference, at: top - margin)
            covered.restore(into: own, top: top)
        }
        let request = X264Encoder.Request(isIDR: skipped == nil, qp: qp, skipped: skipped)
        if let skipped, protectsSkipped {
            protect(planes, reference, top: top, skipped: skipped)
            try protected.withUnsafeBufferPointer { bytes throws(VideoEncodingError) in
                guard let base = bytes.baseAddress else { return }
                try keep(encoder.encode(protectedPlanes(base), request, time: time), request)
            }
        } else {
            try keep(encoder.encode(planes.advanced(rows: top, chroma), request, time: time), request)
        }
        guard let coded = encoder.reconstruction else { return }
        if skipped != nil { covered.keep(before: top + height, of: reference) }
        // At the edge of the picture, the band's margin becomes the picture's margin.
        let above = firstRow == 0 ? margin : 0
        let below = firstRow + rows >= pictureRows ? margin : 0
        reference.copyRows(top - above, count: height + above + below, width: width, from: coded, at: -above)
    }

    /// Changes how far x264 searches for motion; see `X264Encoder`.
    func reconfigure(searchRange samples: Int) throws(VideoEncodingError) {
        try encoder.reconfigure(searchRange: samples)
    }

    private func keep(_ picture: EncodedPicture, _ request: X264Encoder.Request) throws(VideoEncodingError) {
        nalUnit.removeAll(keepingCapacity: true)
        let kind = request.isIDR ? NALUnitType.idrSlice : .nonIDRSlice
        guard let slice = picture.first(where: { $0.nalUnitType == kind }) else {
            throw .notEncoded(reason: "a band without a slice")
        }
        nalUnit.append(contentsOf: slice)
    }

    private func protectedPlanes(_ base: UnsafePointer<UInt8>) -> SourcePlanes {
        let luma = width * rows * 16
        var planes = SourcePlanes(
            luma: base, blueDifference: base + luma, redDifference: base + 2 * luma, lumaStride: width,
            chromaStride: width)
        planes.isInterleaved = chroma == .yuv420
        if planes.isInterleaved { planes.redDifference = planes.blueDifference }
        return planes
    }

    /// Fills `protected` with what viewers see, and then overwrites the macroblocks to encode with the source.
    private func protect(
        _ planes: SourcePlanes, _ reference: ReconstructedPicture, top: Int, skipped: UnsafeMutablePointer<UInt8>
    ) {
        let height = rows * 16
        let lumaCount = width * height
        let count = chroma == .yuv420 ? lumaCount * 3 / 2 : lumaCount * 3
        if protected.count != count { protected = [UInt8](repeating: 0, count: count) }
        protected.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            for index in 0..<reference.planeCount {
                let plane = reference.plane(index)
                for row in 0..<height / plane.lumaRows {
                    memcpy(
                        base + index * lumaCount + row * width,
                        plane.base + (top / plane.lumaRows + row) * plane.stride, width)
                }
            }
            let columns = width / 16
            for macroblock in 0..<columns * rows where skipped[macroblock] == 0 {
                let x = macroblock % columns * 16
                let y = macroblock / columns * 16
                for row in y..<y + 16 {
                    let source = (top + row) * planes.lumaStride + x
                    memcpy(base + row * width + x, planes.luma + source, 16)
                    if chroma == .yuv444 {
                        let source = (top + row) * planes.chromaStride + x
                        memcpy(base + lumaCount + row * width + x, planes.blueDifference + source, 16)
                        memcpy(base + 2 * lumaCount + row * width + x, planes.redDifference + source, 16)
                    }
                }
                if chroma == .yuv444 { continue }
                for row in y / 2..<y / 2 + 8 {
                    let source = (top / 2 + row) * planes.chromaStride + x / 2
                    let target = base + lumaCount + row * width + x
                    for column in 0..<8 {
                        target[2 * column] = planes.blueDifference[source + column]
                        target[2 * column + 1] = planes.redDifference[source + column]
                    }
                }
            }
        }
    }
}

extension SourcePlanes {
    /// The same planes, starting `rows` luma rows further down.
    fileprivate func advanced(rows: Int, _ chroma: ChromaFormat) -> SourcePlanes {
        var planes = self
        let chromaRows = chroma == .yuv420 ? rows / 2 : rows
        planes.luma += rows * lumaStride
        planes.blueDifference += chromaRows * chromaStride
        planes.redDifference += chromaRows * chromaStride
        return planes
    }
}
