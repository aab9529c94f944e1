/// Writes P slices macroblock by macroblock in CAVLC (ITU-T H.264 section 7.3.5).
///
/// A macroblock is copied from the previous picture with one motion vector, or with one for each half, with or without
/// a residual; or it is Intra_16x16. This is enough for a picture most of which has moved as a whole.
///
/// The writer knows nothing of samples: the caller decides on vectors, prediction and residual. It serves 4:2:0 streams
/// that `SliceRewriter` can edit, with one reference picture and no weighted prediction. It reuses its memory for every
/// slice.
public struct PredictedSliceWriter {
    /// The Intra16x16PredMode of a macroblock (tables 8-4 and 8-5). Chroma always uses intra_chroma_pred_mode 0.
    public enum IntraMode: Int, Sendable {
        case vertical = 0
        case horizontal = 1
        case dc = 2
    }

    /// chroma_qp_index_offset of the stream.
    public let chromaQPIndexOffset: Int

    private let sequence: SequenceParameterSet
    private let picture: PictureParameterSet
    private let columns: Int
    private var writer = BitWriter(reserving: 1 << 16)
    private var skipRun: UInt32 = 0
    private var column = 0
    private var isFirstRow = true
    // The macroblocks of the row above, replaced from left to right by those of this row.
    private var above: [MotionNeighbour]
    // The upper and lower halves of the macroblock to the left.
    private var left = MotionNeighbour.unavailable
    private var leftBelow = MotionNeighbour.unavailable
    private var aboveLeft = MotionNeighbour.unavailable
    // Numbers of coefficients in the bottom blocks of each macroblock above and in the rightmost blocks of the
    // macroblock to the left: four for luma, and two each for Cb and Cr.
    private var totalCoeffAbove: [SIMD4<UInt8>]
    private var chromaTotalCoeffAbove: [SIMD4<UInt8>]
    private var totalCoeffLeft = SIMD4<UInt8>()
    private var chromaTotalCoeffLeft = SIMD4<UInt8>()

    /// Creates a writer for pictures with `columns` columns of macroblocks; nil if it can't write for this kind of
    /// stream.
    public init?(_ sequence: SequenceParameterSet, _ picture: PictureParameterSet, columns: Int) {
        guard SliceRewriter.supports(sequence, picture), picture.defaultReferences0 == 1,
            !picture.usesWeightedPrediction,
            sequence.chromaFormatIDC == 1, !picture.hasConstrainedIntraPrediction, columns > 0
        else { return nil }
        self.sequence = sequence
        self.picture = picture
        self.columns = columns
        chromaQPIndexOffset = picture.chromaQPIndexOffset
        above = Array(repeating: .unavailable, count: columns)
        totalCoeffAbove = Array(repeating: SIMD4(), count: columns)
        chromaTotalCoeffAbove = Array(repeating: SIMD4(), count: columns)
    }

    /// Begins the slice of a whole picture. All its macroblocks must follow, from left to right and from top to bottom.
    public mutating func begin(frameNumber: UInt32, qp: Int) {
        writer.removeAll()
        writer.predictedSliceHeader(
            sequence, picture, firstMacroblock: 0, frameNumber: frameNumber, qp: max(0, min(51, qp)))
        skipRun = 0
        column = 0
        isFirstRow = true
        left = .unavailable
        leftBelow = .unavailable
        aboveLeft = .unavailable
        for index in 0..<columns { above[index] = .unavailable }
    }

    // The neighbour C of section 6.4.12: above to the right, or D, above to the left, where C isn't available. A is
    // `left`, and B is `above` in this column.
    private var neighbourC: MotionNeighbour {
        if isFirstRow { return .unavailable }
        return column + 1 < columns ? above[column + 1] : aboveLeft
    }

    /// Copies a macroblock from the previous picture, displaced by `vector` (in quarter samples), without a residual.
    public mutating func copy(_ vector: SIMD2<Int16>) {
        let above = above[column]
        let neighbourC = neighbourC
        if MotionNeighbour.skipped(left, above, neighbourC) == vector {
            skipRun += 1
        } else {
            beginInter(vector, MotionNeighbour.predictedVector(left, above, neighbourC))
            // coded_block_pattern 0 of an inter macroblock.
            writer.unsignedExpGolomb(0)
        }
        advance(.inter(vector), .inter(vector), SIMD4(), SIMD4(), SIMD4(), SIMD4())
    }

    /// Copies a macroblock from the previous picture, displaced by `vector`, and adds a residual.
    public mutating func inter(_ vector: SIMD2<Int16>, _ residual: borrowing MacroblockResidual) {
        let pattern = residual.lumaPattern | residual.chromaPattern << 4
        if pattern == 0 { return copy(vector) }
        beginInter(vector, MotionNeighbour.predictedVector(left, above[column], neighbourC))
        writer.unsignedExpGolomb(UInt32(Self.codeNumForInterCBP[pattern]))
        // mb_qp_delta
        writer.signedExpGolomb(0)
        write(residual, isIntra: false, .inter(vector), .inter(vector))
    }

    /// Copies a macroblock with separate vectors for its upper and lower halves, and adds a residual.
    public mutating func inter(
        _ upper: SIMD2<Int16>, _ lower: SIMD2<Int16>, _ residual: borrowing MacroblockResidual
    ) {
        if upper == lower { return inter(upper, residual) }
        endSkipRun()
        // mb_type P_L0_L0_16x8. The upper half is predicted from the macroblock above, the lower half from the one to
        // the left (section 8.4.1.3).
        writer.unsignedExpGolomb(1)
        let above = above[column]
        writeMVD(upper, above.isInter ? above.vector : MotionNeighbour.predictedVector(left, above, neighbourC))
        writeMVD(
            lower,
            leftBelow.isInter ? leftBelow.vector : MotionNeighbour.predictedVector(leftBelow, .inter(upper), left))
        let pattern = residual.lumaPattern | residual.chromaPattern << 4
        writer.unsignedExpGolomb(UInt32(Self.codeNumForInterCBP[pattern]))
        if pattern != 0 { writer.signedExpGolomb(0) }
        write(residual, isIntra: false, .inter(upper), .inter(lower))
    }

    /// Writes an Intra_16x16 macroblock; `mode` must not need neighbours that don't exist.
    public mutating func intra(_ mode: IntraMode, _ residual: borrowing MacroblockResidual) {
        endSkipRun()
        // mb_type: after the five types of P slices, and after I_NxN (table 7-11).
        let type = 5 + 1 + mode.rawValue + 4 * residual.chromaPattern + (residual.lumaPattern == 0 ? 0 : 12)
        writer.unsignedExpGolomb(UInt32(type))
        // intra_chroma_pred_mode DC, mb_qp_delta 0.
        writer.unsignedExpGolomb(0)
        writer.signedExpGolomb(0)
        write(residual, isIntra: true, .intra, .intra)
    }

    /// Ends the slice, and appends its NAL unit to `target`.
    public mutating func end(to target: inout [UInt8]) {
        // mb_skip_run precedes every macroblock that is not skipped. After the last one it is written only if it isn't
        // 0.
        if skipRun > 0 { endSkipRun() }
        writer.trailingBits()
        writer.append(header: SliceRewriter.header, to: &target)
    }

    private mutating func endSkipRun() {
        writer.unsignedExpGolomb(skipRun)
        skipRun = 0
    }

    private mutating func beginInter(_ vector: SIMD2<Int16>, _ predicted: SIMD2<Int16>) {
        endSkipRun()
        // mb_type P_L0_16x16; with one reference picture there is no ref_idx.
        writer.unsignedExpGolomb(0)
        writeMVD(vector, predicted)
    }

    /// mvd_l0
    private mutating func writeMVD(_ vector: SIMD2<Int16>, _ predicted: SIMD2<Int16>) {
        writer.signedExpGolomb(Int32(vector.x) - Int32(predicted.x))
        writer.signedExpGolomb(Int32(vector.y) - Int32(predicted.y))
    }

    private mutating func write(
        _ residual: borrowing MacroblockResidual, isIntra: Bool, _ upper: MotionNeighbour, _ lower: MotionNeighbour
    ) {
        var totalCoeff = SIMD16<UInt8>()
        let hasLeft = left.kind != .unavailable
        let hasAbove = !isFirstRow
        let totalCoeffAbove = totalCoeffAbove[column]
        let chromaTotalCoeffAbove = chromaTotalCoeffAbove[column]
        func neighbours(_ column: Int, _ row: Int) -> Int {
            let leftCount = column > 0 ? Int(totalCoeff[row * 4 + column - 1]) : Int(totalCoeffLeft[row])
            let aboveCount = row > 0 ? Int(totalCoeff[row * 4 + column - 4]) : Int(totalCoeffAbove[column])
            return Self.nC(leftCount, column > 0 || hasLeft, aboveCount, row > 0 || hasAbove)
        }
        if isIntra { writer.residualBlock(residual.lumaDC, .whole, neighbours: neighbours(0, 0)) }
        for index in 0..<16 where residual.lumaPattern >> (index / 4) & 1 == 1 {
            let (column, row) = MacroblockResidual.position(ofLuma: index)
            let count = writer.residualBlock(
                residual.luma[index], isIntra ? .withoutDC : .whole, neighbours: neighbours(column, row))
            totalCoeff[row * 4 + column] = UInt8(truncatingIfNeeded: count)
        }
        // Cb's four blocks row by row, then Cr's.
        var chroma = SIMD8<UInt8>()
        if residual.chromaPattern > 0 {
            for component in 0..<2 {
                let dc = residual.chromaDC[component]
                let levels = SIMD16<Int16>(lowHalf: SIMD8(lowHalf: dc, highHalf: SIMD4()), highHalf: SIMD8())
                writer.residualBlock(levels, .chromaDC, neighbours: -1)
            }
        }
        if residual.chromaPattern == 2 {
            for index in 0..<8 {
                let (component, column, row) = (index >> 2, index & 1, index >> 1 & 1)
                let leftCount = column > 0 ? Int(chroma[index - 1]) : Int(chromaTotalCoeffLeft[2 * component + row])
                let aboveCount = row > 0 ? Int(chroma[index - 2]) : Int(chromaTotalCoeffAbove[2 * component + column])
                let near = Self.nC(leftCount, column > 0 || hasLeft, aboveCount, row > 0 || hasAbove)
                let count = writer.residualBlock(residual.chroma[index], .withoutDC, neighbours: near)
                chroma[index] = UInt8(truncatingIfNeeded: count)
            }
        }
        advance(
            upper, lower, SIMD4(totalCoeff[12], totalCoeff[13], totalCoeff[14], totalCoeff[15]),
            SIMD4(totalCoeff[3], totalCoeff[7], totalCoeff[11], totalCoeff[15]),
            SIMD4(chroma[2], chroma[3], chroma[6], chroma[7]), SIMD4(chroma[1], chroma[3], chroma[5], chroma[7]))
    }

    /// nC (section 9.2.1).
    private static func nC(_ left: Int, _ hasLeft: Bool, _ above: Int, _ hasAbove: Bool) -> Int {
        hasLeft && hasAbove ? (left + above + 1) >> 1 : hasLeft ? left : hasAbove ? above : 0
    }

    private mutating func advance(
        _ upper: MotionNeighbour, _ lower: MotionNeighbour, _ totalCoeffBelow: SIMD4<UInt8>,
        _ totalCoeffRight: SIMD4<UInt8>,
        _ chromaTotalCoeffBelow: SIMD4<UInt8>,
        _ chromaTotalCoeffRight: SIMD4<UInt8>
    ) {
        aboveLeft = above[column]
        above[column] = lower
        left = upper
        leftBelow = lower
        totalCoeffAbove[column] = totalCoeffBelow
        chromaTotalCoeffAbove[column] = chromaTotalCoeffBelow
        totalCoeffLeft = totalCoeffRight
        chromaTotalCoeffLeft = chromaTotalCoeffRight
        column += 1
        if column == columns {
            column = 0
            isFirstRow = false
            left = .unavailable
            leftBelow = .unavailable
            aboveLeft = .unavailable
        }
    }

    /// The codeNum of coded_block_pattern for inter macroblocks (table 9-4), indexed by the pattern.
    private static let codeNumForInterCBP: [UInt8] = {
        let order = [
            0, 16, 1, 2, 4, 8, 32, 3, 5, 10, 12, 15, 47, 7, 11, 13, 14, 6, 9, 31, 35, 37, 42, 44, 33, 34, 36, 40, 39,
            43,
            45, 46, 17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41,
        ]
        var codes = [UInt8](repeating: 0, count: 48)
        for (code, pattern) in order.enumerated() { codes[pattern] = UInt8(code) }
        return codes
    }()
}
