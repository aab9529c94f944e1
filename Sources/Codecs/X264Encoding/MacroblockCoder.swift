import Glibc
import H264
import MediaTypes
import VideoEncoding

/// Encodes single macroblocks of a picture that has moved.
///
/// A macroblock is predicted from a place that the motion gives, from the same place in the previous picture, or from
/// its neighbours, whichever is closest to the source. The reconstruction is written into the reference picture. Used
/// only within one call of `GlobalMotionEncoder`.
final class MacroblockCoder {
    private let width: Int
    private let height: Int
    var planes: SourcePlanes?
    var reference: ReconstructedPicture?
    private var kept: ReferenceRowCache?
    private var x = 0
    private var y = 0
    private var second: (x: Int, y: Int)?
    private var qp: Int?
    var inter = BlockTransform(qp: 26, isIntra: false)
    var intra = BlockTransform(qp: 26, isIntra: true)
    private var interChroma = BlockTransform(qp: 26, isIntra: false)
    private var intraChroma = BlockTransform(qp: 26, isIntra: true)
    // The cost of signalling an intra macroblock, and of signalling another motion vector.
    private var intraBias = 0
    private var vectorBias = 0
    var residual = MacroblockResidual()
    // The prediction and then the reconstruction: luma in rows of sixteen samples, then Cb and Cr in rows of eight.
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

    /// Begins a picture. Its pointers are used until its last macroblock.
    func begin(
        _ planes: SourcePlanes, _ reference: ReconstructedPicture, _ kept: ReferenceRowCache, x: Int, y: Int,
        second: (x: Int, y: Int)?, qp: Int, chromaOffset: Int
    ) {
        self.planes = planes
        self.reference = reference
        self.kept = kept
        self.x = x
        self.y = y
        self.second = second
        if self.qp == qp { return }
        self.qp = qp
        let chroma = BlockTransform.chromaQP(qp, offset: chromaOffset)
        inter = BlockTransform(qp: qp, isIntra: false)
        intra = BlockTransform(qp: qp, isIntra: true)
        interChroma = BlockTransform(qp: chroma, isIntra: false)
        intraChroma = BlockTransform(qp: chroma, isIntra: true)
        // A bit is weighted as 2^((QP - 12) / 6) of difference.
        intraBias = 8 << max(0, (qp - 12) / 6)
        vectorBias = 12 << max(0, (qp - 12) / 6)
    }

    /// Whether the macroblock displaced by (`x`, `y`) lies inside the picture, including the extra samples for
    /// half-sample chroma.
    private func reaches(_ column: Int, _ row: Int, _ x: Int, _ y: Int) -> Bool {
        let left = column * 16 + x - (x & 1)
        let top = row * 16 + y - (y & 1)
        return left >= 0 && top >= 0 && left + 16 + 2 * (x & 1) <= width && top + 16 + 2 * (y & 1) <= height
    }

    /// Encodes a macroblock whose luma has moved by whole samples and whose chroma has moved by half samples. The blur
    /// that this causes is corrected with a residual if it is visible.
    ///
    /// Returns whether chroma is close enough to the source that no refinement is needed.
    func codeMoved(
        _ column: Int, _ row: Int, _ x: Int, _ y: Int, _ writer: inout PredictedSliceWriter
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
        writer.inter(Self.vector(x, y), residual)
        store(column, row)
        return difference <= Self.fineChroma
    }

    /// Chroma differences summed over all 128 samples: above the first a residual is coded, up to the second no
    /// refinement is needed.
    private static let visibleChroma = 160
    private static let fineChroma = 32

    /// Encodes a macroblock with the best kind of prediction.
    func code(_ column: Int, _ row: Int, _ writer: inout PredictedSliceWriter) {
        guard let planes else { return }
        // Each half has its own source: often one half has moved and the other has just come into view.
        let upper = nearest(planes, column, row, lines: 0..<8)
        let lower = nearest(planes, column, row, lines: 8..<16)
        predict(column, row, upper.x, upper.y, lines: 0..<8, into: block)
        predict(column, row, lower.x, lower.y, lines: 8..<16, into: block)
        var best = upper.difference + lower.difference
        var mode: PredictedSliceWriter.IntraMode?
        // With a finer quantizer, the largest DC levels don't fit.
        if best > 2 * intraBias, intra.qp >= Self.minIntraQP {
            best += chromaDifference(planes, column, row, block)
            for candidate in [PredictedSliceWriter.IntraMode.dc, .vertical, .horizontal] {
                guard predictIntra(candidate, column, row, into: trial) else { continue }
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
            encodeIntraLuma(planes, column, row)
            codeChroma(column, row, intraChroma)
            writer.intra(mode, residual)
        } else {
            codeLuma(planes, column, row)
            codeChroma(column, row, interChroma)
            writer.inter(upper.vector, lower.vector, residual)
        }
        store(column, row)
    }

    private static let minIntraQP = 12

    private struct Source {
        var x: Int
        var y: Int
        var difference: Int

        var vector: SIMD2<Int16> { MacroblockCoder.vector(x, y) }
    }

    /// The motion vector of a displacement, in quarter samples.
    static func vector(_ x: Int, _ y: Int) -> SIMD2<Int16> { SIMD2(Int16(clamping: x * 4), Int16(clamping: y * 4)) }

    /// Finds the best prediction of half a macroblock in the previous picture: at the motion's displacements, at the
    /// same place, or, if neither is good, above or below it, where the background may be the same.
    private func nearest(_ planes: SourcePlanes, _ column: Int, _ row: Int, lines: Range<Int>) -> Source {
        var best = Source(x: 0, y: 0, difference: difference(planes, column, row, 0, 0, lines))
        if reaches(column, row, x, y) {
            let moved = difference(planes, column, row, x, y, lines)
            if moved <= best.difference { best = Source(x: x, y: y, difference: moved) }
        }
        if let second, best.difference > 0, reaches(column, row, second.x, second.y) {
            let moved = difference(planes, column, row, second.x, second.y, lines)
            if moved < best.difference { best = Source(x: second.x, y: second.y, difference: moved) }
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

    /// The number of rows above and below that are searched.
    static let searchedRows = 40

    // MARK: Predictions

    /// Predicts lines from the previous picture, displaced by (`x`, `y`) luma samples (section 8.4.2.2).
    private func predict(
        _ column: Int, _ row: Int, _ x: Int, _ y: Int, lines: Range<Int>, into target: UnsafeMutablePointer<UInt8>
    ) {
        guard let reference, let kept else { return }
        let left = column * 16 + x
        for line in lines {
            memcpy(target + line * 16, kept.luma(row * 16 + line + y, of: reference) + left, 16)
        }
        // Chroma needs half samples if luma moved by an odd number of samples. Cb and Cr alternate, so the next sample
        // is two bytes on.
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
        // If there is no vertical or horizontal half-sample offset, the same row or column is used twice.
        if upper == lower, across == 0 { return load(upper) }
        let wide = (
            SIMD16<UInt16>(truncatingIfNeeded: load(upper)), SIMD16<UInt16>(truncatingIfNeeded: load(lower)),
            SIMD16<UInt16>(truncatingIfNeeded: load(upper + 2 * across)),
            SIMD16<UInt16>(truncatingIfNeeded: load(lower + 2 * across))
        )
        return SIMD16<UInt8>(truncatingIfNeeded: (wide.0 &+ wide.1 &+ wide.2 &+ wide.3 &+ 2) &>> 2)
    }

    // MARK: Differences

    /// The difference between luma lines of the source and of the previous picture, displaced by (`x`, `y`).
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

    /// Copies `block`, the reconstruction, into the reference picture.
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
