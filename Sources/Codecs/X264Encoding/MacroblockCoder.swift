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
    private var planes: SourcePlanes?
    private var reference: ReconstructedPicture?
    private var kept: KeptRows?
    private var x = 0
    private var y = 0
    private var quantizer: Int?
    private var inter = BlockTransform(quantizer: 26, isPredictedWithin: false)
    private var intra = BlockTransform(quantizer: 26, isPredictedWithin: true)
    private var interChroma = BlockTransform(quantizer: 26, isPredictedWithin: false)
    private var intraChroma = BlockTransform(quantizer: 26, isPredictedWithin: true)
    // What it costs to say that it is an intra macroblock, or to say another motion vector.
    private var intraBias = 0
    private var vectorBias = 0
    private var residual = MacroblockResidual()
    // The prediction, and what becomes of it: luma, sixteen samples a row, then Cb and Cr, eight a row.
    private let block: UnsafeMutablePointer<UInt8>
    private let trial: UnsafeMutablePointer<UInt8>

    private static let blueStart = 256
    private static let redStart = 320
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

    /// The neighbours in this picture (sections 8.3.3 and 8.3.4); false where the mode needs one that there isn't.
    private func predictWithin(
        _ mode: PredictedSliceWriter.IntraMode, _ column: Int, _ row: Int, into target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard let reference else { return false }
        let luma = reference.plane(0)
        let corner = luma.base + row * 16 * luma.stride + column * 16
        let above = corner - luma.stride
        let (hasLeft, hasAbove) = (column > 0, row > 0)
        switch mode {
        case .vertical:
            if !hasAbove { return false }
            for line in 0..<16 { memcpy(target + line * 16, above, 16) }
        case .horizontal:
            if !hasLeft { return false }
            for line in 0..<16 { memset(target + line * 16, Int32(corner[line * luma.stride - 1]), 16) }
        case .dc:
            var sum = 0
            if hasAbove { for index in 0..<16 { sum += Int(above[index]) } }
            if hasLeft { for line in 0..<16 { sum += Int(corner[line * luma.stride - 1]) } }
            let mean = hasAbove && hasLeft ? (sum + 16) >> 5 : hasAbove || hasLeft ? (sum + 8) >> 4 : 128
            memset(target, Int32(mean), 256)
        }
        predictChromaWithin(column, row, into: target)
        return true
    }

    private func predictChromaWithin(_ column: Int, _ row: Int, into target: UnsafeMutablePointer<UInt8>) {
        guard let reference else { return }
        let plane = reference.plane(1)
        let corner = plane.base + row * 8 * plane.stride + column * 16
        let (hasLeft, hasAbove) = (column > 0, row > 0)
        for component in 0..<2 {
            let start = target + (component == 0 ? Self.blueStart : Self.redStart)
            for index in 0..<4 {
                let (across, down) = (index & 1, index >> 1)
                var (aboveSum, leftSum) = (0, 0)
                for step in 0..<4 {
                    if hasAbove { aboveSum += Int(corner[2 * (across * 4 + step) + component - plane.stride]) }
                    if hasLeft { leftSum += Int(corner[(down * 4 + step) * plane.stride + component - 2]) }
                }
                // The block on the right takes the samples above it, the one below those on its left, where there are some.
                let mean: Int =
                    switch (hasAbove, hasLeft) {
                    case (true, true) where across == 1 && down == 0: (aboveSum + 2) >> 2
                    case (true, true) where across == 0 && down == 1: (leftSum + 2) >> 2
                    case (true, true): (aboveSum + leftSum + 4) >> 3
                    case (true, false): (aboveSum + 2) >> 2
                    case (false, true): (leftSum + 2) >> 2
                    case (false, false): 128
                    }
                for line in 0..<4 { memset(start + (down * 4 + line) * 8 + across * 4, Int32(mean), 4) }
            }
        }
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

    // MARK: Residuals

    private func codeLuma(_ planes: SourcePlanes, _ column: Int, _ row: Int) {
        residual.lumaPattern = 0
        let source = planes.luma + row * 16 * planes.lumaStride + column * 16
        for index in 0..<16 {
            let (across, down) = MacroblockResidual.position(ofLuma: index)
            let own = block + down * 64 + across * 4
            let difference = Self.difference(
                source + down * 4 * planes.lumaStride + across * 4, planes.lumaStride, own, 16)
            let levels = inter.levels(ofDifference: difference)
            residual.luma[index] = levels
            if levels == SIMD16() { continue }
            residual.lumaPattern |= 1 << (index / 4)
            Self.add(inter.difference(ofLevels: levels), to: own, 16)
        }
    }

    private func codeLumaWithin(_ planes: SourcePlanes, _ column: Int, _ row: Int) {
        let source = planes.luma + row * 16 * planes.lumaStride + column * 16
        var dc = SIMD16<Int32>()
        var hasLevels = false
        for index in 0..<16 {
            let (across, down) = MacroblockResidual.position(ofLuma: index)
            let coefficients = BlockTransform.coefficients(
                Self.difference(
                    source + down * 4 * planes.lumaStride + across * 4, planes.lumaStride,
                    block + down * 64 + across * 4, 16))
            dc[down * 4 + across] = coefficients[0]
            var levels = intra.levels(coefficients)
            levels[0] = 0
            residual.luma[index] = levels
            if levels != SIMD16() { hasLevels = true }
        }
        let second = BlockTransform.secondTransform(dc)
        var dcLevels = SIMD16<Int16>()
        for index in 0..<16 { dcLevels[index] = intra.level(ofDC: second[index] / 2) }
        residual.lumaDC = BlockTransform.zigzag(dcLevels)
        residual.lumaPattern = hasLevels ? 15 : 0
        let scaledDC = intra.scaledLumaDC(residual.lumaDC)
        for index in 0..<16 {
            let (across, down) = MacroblockResidual.position(ofLuma: index)
            var coefficients = hasLevels ? intra.scaled(residual.luma[index]) : SIMD16()
            coefficients[0] = scaledDC[down * 4 + across]
            Self.add(BlockTransform.residual(coefficients), to: block + down * 64 + across * 4, 16)
        }
    }

    private func codeChroma(_ column: Int, _ row: Int, _ transform: BlockTransform) {
        guard let planes else { return }
        var (hasDC, hasAC) = (false, false)
        for component in 0..<2 {
            let source = component == 0 ? planes.blueDifference : planes.redDifference
            let corner = source + row * 8 * planes.chromaStride + column * 8
            let own = block + (component == 0 ? Self.blueStart : Self.redStart)
            var dc = SIMD4<Int32>()
            for index in 0..<4 {
                let (across, down) = (index & 1, index >> 1)
                let coefficients = BlockTransform.coefficients(
                    Self.difference(
                        corner + down * 4 * planes.chromaStride + across * 4, planes.chromaStride,
                        own + down * 32 + across * 4, 8))
                dc[index] = coefficients[0]
                var levels = transform.levels(coefficients)
                levels[0] = 0
                residual.chroma[component * 4 + index] = levels
                if levels != SIMD16() { hasAC = true }
            }
            let second = BlockTransform.secondTransform(dc)
            var levels = SIMD4<Int16>()
            for index in 0..<4 { levels[index] = transform.level(ofDC: second[index]) }
            residual.chromaDC[component] = levels
            if levels != SIMD4() { hasDC = true }
        }
        residual.chromaPattern = hasAC ? 2 : hasDC ? 1 : 0
        if residual.chromaPattern == 0 { return }
        for component in 0..<2 {
            let own = block + (component == 0 ? Self.blueStart : Self.redStart)
            let dc = transform.scaledChromaDC(residual.chromaDC[component])
            for index in 0..<4 {
                var coefficients = hasAC ? transform.scaled(residual.chroma[component * 4 + index]) : SIMD16()
                coefficients[0] = dc[index]
                Self.add(BlockTransform.residual(coefficients), to: own + (index >> 1) * 32 + (index & 1) * 4, 8)
            }
        }
    }

    @inline(__always)
    private static func difference(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ block: UnsafeMutablePointer<UInt8>, _ width: Int
    ) -> SIMD16<Int32> {
        SIMD16<Int32>(truncatingIfNeeded: load(source, stride))
            &- SIMD16<Int32>(truncatingIfNeeded: load(UnsafePointer(block), width))
    }

    @inline(__always)
    private static func load(_ block: UnsafePointer<UInt8>, _ stride: Int) -> SIMD16<UInt8> {
        func row(_ index: Int) -> SIMD4<UInt8> {
            UnsafeRawPointer(block + index * stride).loadUnaligned(as: SIMD4<UInt8>.self)
        }
        return SIMD16(
            lowHalf: SIMD8(lowHalf: row(0), highHalf: row(1)), highHalf: SIMD8(lowHalf: row(2), highHalf: row(3)))
    }

    @inline(__always)
    private static func add(_ residual: SIMD16<Int32>, to block: UnsafeMutablePointer<UInt8>, _ stride: Int) {
        let sum = SIMD16<Int32>(truncatingIfNeeded: load(UnsafePointer(block), stride)) &+ residual
        let clipped = sum.clamped(lowerBound: SIMD16(repeating: 0), upperBound: SIMD16(repeating: 255))
        let bytes = SIMD16<UInt8>(truncatingIfNeeded: clipped)
        let rows = (bytes.lowHalf.lowHalf, bytes.lowHalf.highHalf, bytes.highHalf.lowHalf, bytes.highHalf.highHalf)
        let raw = UnsafeMutableRawPointer(block)
        raw.storeBytes(of: rows.0, as: SIMD4<UInt8>.self)
        (raw + stride).storeBytes(of: rows.1, as: SIMD4<UInt8>.self)
        (raw + 2 * stride).storeBytes(of: rows.2, as: SIMD4<UInt8>.self)
        (raw + 3 * stride).storeBytes(of: rows.3, as: SIMD4<UInt8>.self)
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
