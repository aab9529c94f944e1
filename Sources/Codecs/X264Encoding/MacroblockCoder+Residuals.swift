import H264
import MediaTypes
import VideoEncoding

/// Quantizes residuals, and reconstructs what viewers see.
extension MacroblockCoder {
    func codeLuma(_ planes: SourcePlanes, _ column: Int, _ row: Int) {
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

    func encodeIntraLuma(_ planes: SourcePlanes, _ column: Int, _ row: Int) {
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

    func codeChroma(_ column: Int, _ row: Int, _ transform: BlockTransform) {
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
}
