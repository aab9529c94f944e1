import Glibc
import H264
import MediaTypes

/// Codes single macroblocks of a picture that is moved as one: from where the motion says, from the same place of the picture
/// before, or from their neighbours, whichever is nearest to how they should look.
///
/// Writes what viewers will see into the reference picture. Used from within one call of `MovedPictureCoder`.
final class MacroblockCoder {
    private let width: Int
    private let height: Int
    var planes: SourcePlanes?
    var reference: ReconstructedPicture?
    private var kept: KeptRows?
    private var x = 0
    private var y = 0
    private var quantizer: Int?
    var inter = BlockTransform(quantizer: 26, isPredictedWithin: false)
    var intra = BlockTransform(quantizer: 26, isPredictedWithin: true)
    private var interChroma = BlockTransform(quantizer: 26, isPredictedWithin: false)
    private var intraChroma = BlockTransform(quantizer: 26, isPredictedWithin: true)
    // What it costs to say that it is an intra macroblock, or to say another motion vector.
    private var intraBias = 0
    private var vectorBias = 0
    var residual = MacroblockResidual()
    // The prediction, and what becomes of it: luma, sixteen samples a row, then Cb and Cr, eight a row.
    let block: UnsafeMutablePointer<UInt8>
    private let trial: UnsafeMutablePointer<UInt8>

    static let blueStart = 256
    static let redStart = 320
    private static let count = 384

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        block = .allocate(capacity: Self.count)
        trial = .allocate(capacity: Self.count)
        block.initialize(repeating: 0, count: Self.count)
        trial.initialize(repeating: 0, count: Self.count)
    }

    deinit {
        block.deallocate()
        trial.deallocate()
    }

    /// Begins a picture; the pointers in it are used until its last macroblock.
    func begin(
        _ planes: SourcePlanes, _ reference: ReconstructedPicture, _ kept: KeptRows, x: Int, y: Int, quantizer: Int,
        chromaOffset: Int
    ) {
        self.planes = planes
        self.reference = reference
        self.kept = kept
        (self.x, self.y) = (x, y)
        if self.quantizer == quantizer { return }
        self.quantizer = quantizer
        let chroma = BlockTransform.chromaQuantizer(quantizer, offset: chromaOffset)
        inter = BlockTransform(quantizer: quantizer, isPredictedWithin: false)
        intra = BlockTransform(quantizer: quantizer, isPredictedWithin: true)
        interChroma = BlockTransform(quantizer: chroma, isPredictedWithin: false)
        intraChroma = BlockTransform(quantizer: chroma, isPredictedWithin: true)
        // A bit is worth 2^((QP - 12) / 6) of difference.
        intraBias = 8 << max(0, (quantizer - 12) / 6)
        vectorBias = 12 << max(0, (quantizer - 12) / 6)
    }

    /// Whether the macroblock `x`, `y` samples from this one lies inside, with what is needed around it for half samples of
    /// chroma, and can still be read while this one is written.
    private func reaches(_ column: Int, _ row: Int, _ x: Int, _ y: Int) -> Bool {
        let left = column * 16 + x - (x & 1)
        let top = row * 16 + y - (y & 1)
        return left >= 0 && top >= 0 && left + 16 + 2 * (x & 1) <= width && top + 16 + 2 * (y & 1) <= height
    }

    /// A macroblock whose luma has moved by whole samples and whose chroma by half ones: what that blurs is added, where
    /// it can be seen. Gives whether chroma is as near to how it should look as it was before.
    func codeMoved(
        _ column: Int, _ row: Int, _ vector: SIMD2<Int16>, _ writer: inout PredictedSliceWriter
    ) -> Bool {
        guard reaches(column, row, x, y), let planes else {
            code(column, row, &writer)
            return false
        }
        predict(column, row, x, y, lines: 0..<16, into: block)
        residual.lumaPattern = 0
        residual.chromaPattern = 0
        var difference = chromaDifference(planes, column, row, block)
        if difference > Self.visibleChroma {
            codeChroma(column, row, interChroma)
            difference = chromaDifference(planes, column, row, block)
        }
        writer.inter(vector, residual)
        store(column, row)
        return difference <= Self.fineChroma
    }

    /// Of all 128 samples together: from when on it is worth coding, and up to when nothing has to be made finer.
    private static let visibleChroma = 160
    private static let fineChroma = 32

    /// A macroblock of any kind.
    func code(_ column: Int, _ row: Int, _ writer: inout PredictedSliceWriter) {
        guard let planes else { return }
        // Each half from where it is most like: often one has moved, and the other has just come into sight.
        let upper = nearest(planes, column, row, lines: 0..<8)
        let lower = nearest(planes, column, row, lines: 8..<16)
        predict(column, row, upper.x, upper.y, lines: 0..<8, into: block)
        predict(column, row, lower.x, lower.y, lines: 8..<16, into: block)
        var best = upper.difference + lower.difference
        var mode: PredictedSliceWriter.IntraMode?
        // Where the quantizer is finer the largest DC levels don't fit.
        if best > 2 * intraBias, intra.quantizer >= Self.finestWithin {
            best += chromaDifference(planes, column, row, block)
            for candidate in [PredictedSliceWriter.IntraMode.dc, .vertical, .horizontal] {
                guard predictWithin(candidate, column, row, into: trial) else { continue }
                let difference =
                    lumaDifference(planes, column, row, trial) + chromaDifference(planes, column, row, trial)
                    + intraBias
                if difference < best {
                    memcpy(block, trial, Self.count)
                    best = difference
                    mode = candidate
                }
            }
        }
        if let mode {
            codeLumaWithin(planes, column, row)
            codeChroma(column, row, intraChroma)
            writer.intra(mode, residual)
        } else {
            codeLuma(planes, column, row)
            codeChroma(column, row, interChroma)
            writer.inter(upper.vector, lower.vector, residual)
        }
        store(column, row)
    }

    private static let finestWithin = 12

    private struct Source {
        var x: Int
        var y: Int
        var difference: Int

        var vector: SIMD2<Int16> { SIMD2(Int16(clamping: x * 4), Int16(clamping: y * 4)) }
    }

    /// From where of the picture before half a macroblock is predicted best: where the motion says, the same place, or, where
    /// neither will do, somewhere above or below that has the same ground.
    private func nearest(_ planes: SourcePlanes, _ column: Int, _ row: Int, lines: Range<Int>) -> Source {
        var best = Source(x: 0, y: 0, difference: difference(planes, column, row, 0, 0, lines))
        if reaches(column, row, x, y) {
            let moved = difference(planes, column, row, x, y, lines)
            if moved <= best.difference { best = Source(x: x, y: y, difference: moved) }
        }
        if best.difference <= intraBias { return best }
        for distance in stride(from: 2, through: Self.searchedRows, by: 2) {
            for y in [-distance, distance] where reaches(column, row, 0, y) {
                let difference = difference(planes, column, row, 0, y, lines) + vectorBias
                if difference < best.difference { best = Source(x: 0, y: y, difference: difference) }
            }
        }
        return best
    }

    /// So many rows above and below are looked at.
    static let searchedRows = 40

    // MARK: Predictions

    /// Lines of the picture before, `x` and `y` luma samples from the macroblock (section 8.4.2.2).
    private func predict(
        _ column: Int, _ row: Int, _ x: Int, _ y: Int, lines: Range<Int>, into target: UnsafeMutablePointer<UInt8>
    ) {
        guard let reference, let kept else { return }
        let left = column * 16 + x
        for line in lines {
            memcpy(target + line * 16, kept.luma(row * 16 + line + y, of: reference) + left, 16)
        }
        // Half samples where luma moved by an odd number of whole ones; interleaved, so the next sample is two bytes on.
        let start = column * 16 + 2 * (x >> 1)
        let (across, down) = (x & 1, y & 1)
        for line in lines.lowerBound / 2..<lines.upperBound / 2 {
            let first = row * 8 + line + y >> 1
            let upper = kept.chroma(first, of: reference) + start
            let lower = down == 0 ? upper : kept.chroma(first + 1, of: reference) + start
            let (blue, red) = (target + Self.blueStart + line * 8, target + Self.redStart + line * 8)
            let means = Self.means(upper, lower, across)
            UnsafeMutableRawPointer(blue).storeBytes(of: means.evenHalf, as: SIMD8<UInt8>.self)
            UnsafeMutableRawPointer(red).storeBytes(of: means.oddHalf, as: SIMD8<UInt8>.self)
        }
    }

    @inline(__always)
    private static func means(
        _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, _ across: Int
    ) -> SIMD16<UInt8> {
        func load(_ row: UnsafePointer<UInt8>) -> SIMD16<UInt8> {
            UnsafeRawPointer(row).loadUnaligned(as: SIMD16<UInt8>.self)
        }
        // Where one row or one column is all there is, it is taken twice.
        if upper == lower, across == 0 { return load(upper) }
        let wide = (
            SIMD16<UInt16>(truncatingIfNeeded: load(upper)), SIMD16<UInt16>(truncatingIfNeeded: load(lower)),
            SIMD16<UInt16>(truncatingIfNeeded: load(upper + 2 * across)),
            SIMD16<UInt16>(truncatingIfNeeded: load(lower + 2 * across))
        )
        return SIMD16<UInt8>(truncatingIfNeeded: (wide.0 &+ wide.1 &+ wide.2 &+ wide.3 &+ 2) &>> 2)
    }

    // MARK: Differences

    /// Of lines of luma from the picture before at `x`, `y` from the macroblock.
    private func difference(
        _ planes: SourcePlanes, _ column: Int, _ row: Int, _ x: Int, _ y: Int, _ lines: Range<Int>
    ) -> Int {
        guard let reference, let kept else { return 0 }
        var sum = SIMD16<UInt16>()
        for line in lines {
            let a = UnsafeRawPointer(planes.luma + (row * 16 + line) * planes.lumaStride + column * 16)
                .loadUnaligned(as: SIMD16<UInt8>.self)
            let b = UnsafeRawPointer(kept.luma(row * 16 + line + y, of: reference) + column * 16 + x)
                .loadUnaligned(as: SIMD16<UInt8>.self)
            sum &+= SIMD16<UInt16>(truncatingIfNeeded: pointwiseMax(a, b) &- pointwiseMin(a, b))
        }
        return Int(sum.wrappedSum())
    }

    private func lumaDifference(
        _ planes: SourcePlanes, _ column: Int, _ row: Int, _ block: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let source = planes.luma + row * 16 * planes.lumaStride + column * 16
        var sum = SIMD16<UInt16>()
        for line in 0..<16 {
            let a = UnsafeRawPointer(source + line * planes.lumaStride).loadUnaligned(as: SIMD16<UInt8>.self)
            let b = UnsafeRawPointer(block + line * 16).loadUnaligned(as: SIMD16<UInt8>.self)
            sum &+= SIMD16<UInt16>(truncatingIfNeeded: pointwiseMax(a, b) &- pointwiseMin(a, b))
        }
        return Int(sum.wrappedSum())
    }

    private func chromaDifference(
        _ planes: SourcePlanes, _ column: Int, _ row: Int, _ block: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var sum = SIMD8<UInt16>()
        let start = row * 8 * planes.chromaStride + column * 8
        for line in 0..<8 {
            let offset = start + line * planes.chromaStride
            sum &+= Self.differences(planes.blueDifference + offset, block + Self.blueStart + line * 8)
            sum &+= Self.differences(planes.redDifference + offset, block + Self.redStart + line * 8)
        }
        return Int(sum.wrappedSum())
    }

    @inline(__always)
    private static func differences(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>) -> SIMD8<UInt16> {
        let a = UnsafeRawPointer(a).loadUnaligned(as: SIMD8<UInt8>.self)
        let b = UnsafeRawPointer(b).loadUnaligned(as: SIMD8<UInt8>.self)
        return SIMD8<UInt16>(truncatingIfNeeded: pointwiseMax(a, b) &- pointwiseMin(a, b))
    }

    /// What `block` holds is what viewers will see.
    private func store(_ column: Int, _ row: Int) {
        guard let reference else { return }
        let (luma, chroma) = (reference.plane(0), reference.plane(1))
        for line in 0..<16 {
            memcpy(luma.base + (row * 16 + line) * luma.stride + column * 16, block + line * 16, 16)
        }
        for line in 0..<8 {
            let target = chroma.base + (row * 8 + line) * chroma.stride + column * 16
            let blue = UnsafeRawPointer(block + Self.blueStart + line * 8).loadUnaligned(as: SIMD8<UInt8>.self)
            let red = UnsafeRawPointer(block + Self.redStart + line * 8).loadUnaligned(as: SIMD8<UInt8>.self)
            var both = SIMD16<UInt8>()
            (both.evenHalf, both.oddHalf) = (blue, red)
            UnsafeMutableRawPointer(target).storeBytes(of: both, as: SIMD16<UInt8>.self)
        }
    }
}
